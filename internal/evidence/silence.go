package evidence

import (
	"net/netip"
	"time"
)

// Silence is what is known of a node that is not heard any more, as of the last
// moment at which the view was fresh. The zero value is a node that is heard.
type Silence struct {
	// Quiet is for how long the node's Lease has not changed; of a node whose Lease
	// was never seen to change, for how long the control plane has not heard it.
	Quiet time.Duration
	// Leased says that the node's Lease was seen to change, Lasts is its duration.
	Leased bool
	Lasts  time.Duration
	// Frozen says that most nodes of the zone or of the cluster are quiet too, Alive
	// that a probe of the node or of a pod on it was answered or refused.
	Frozen, Alive bool
	// At is when a second witness agreed that the node is silent, for one instance;
	// zero while none has. By names the witness, Detail is what it saw.
	At         time.Time
	By, Detail string
}

// Reach is what came of an attempt to connect.
type Reach uint8

// The outcomes of an attempt to connect.
const (
	// Unsure says nothing about the other side: the attempt failed on the way.
	Unsure Reach = iota
	// Answered means that the connection was accepted.
	Answered
	// Refused means that it was reset: the process may be gone, the host is not.
	Refused
	// Unanswered means that nothing came back in time.
	Unanswered
)

// String returns a stable name for metrics.
func (r Reach) String() string {
	return [...]string{"unsure", "answered", "refused", "unanswered"}[r]
}

// Probe is the question whether anybody answers at an address, which comes from a
// Pod or Node object.
type Probe struct {
	Addr netip.AddrPort
	// Asked is when the question was put; it tells the answers of two questions apart.
	Asked time.Time
}

// Probed is the answer.
type Probed struct {
	Probe
	Reach Reach
	// Local is our own end of a connection that was accepted.
	Local netip.Addr
}
