package evidence

import (
	"net/netip"
	"time"
)

// Condition status values as the API server writes them.
const (
	True    = "True"
	False   = "False"
	Unknown = "Unknown"
)

// Node is what is known about one node.
type Node struct {
	Name string
	// Version grows with every write of the object; zero if it is not known.
	Version uint64
	// Missing says that the node's object is gone, confirmed by a live read.
	Missing bool
	// Deleting says that the node has a deletion timestamp, which only one with
	// finalizers shows.
	Deleting   bool
	Addresses  []netip.Addr
	PodCIDRs   []netip.Prefix
	Taints     []Taint
	Conditions []Condition
	// Annotations holds only those that some check asks about.
	Annotations map[string]string
	// Zone is the node's topology zone, empty if it has none.
	Zone string
	// KubeletPort is where the kubelet listens on the node's addresses, zero if the
	// node does not say.
	KubeletPort uint16
	// BootID is another one after every boot. Booted is when it was first seen to be
	// another one, by our clock; zero if it never was.
	BootID string
	Booted time.Time
	// ClockAhead is how far the node's clock ran ahead of ours when they were Compared,
	// by its Lease; the delay of the watch makes it too small, never too large. Compared
	// is zero if they never were.
	ClockAhead time.Duration
	Compared   time.Time `json:",omitzero"`
}

// Moment returns when, by our clock, the node's showed a time. Compared is monotonic, so
// that it does not matter whether our wall clock was set since. Of a node that is not
// known, nil, and of one that was never compared, both are taken to show the same.
func (n *Node) Moment(now, theirs time.Time) time.Time {
	if n == nil {
		return now.Add(theirs.Sub(now))
	}
	at := n.Compared
	if at.IsZero() {
		at = now
	}
	return at.Add(theirs.Sub(at) - n.ClockAhead)
}

// Taint is one taint of a node.
type Taint struct{ Key, Value, Effect string }

// Condition is one condition of a node.
type Condition struct{ Type, Status, Reason, Message string }

// Taint returns the node's taint with the key.
func (n *Node) Taint(key string) (Taint, bool) {
	for _, t := range n.Taints {
		if t.Key == key {
			return t, true
		}
	}
	return Taint{}, false
}

// Condition returns the node's condition of the type; its Status is empty when
// there is none.
func (n *Node) Condition(kind string) Condition {
	for _, c := range n.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return Condition{Type: kind}
}
