package kubelet

import (
	"time"

	"github.com/go-logr/logr"
)

// AddressAnnotation on a pod asks for a certain address, even one in use, so that
// the reuse of an address can be staged.
const AddressAnnotation = "rig.kureka.dev/pod-ip"

// Options describe a node.
type Options struct {
	// Name of the Node.
	Name string
	// Zone label of the Node; empty means none.
	Zone string
	// Labels are added to the Node's own.
	Labels map[string]string
	// NodeIP is the Node's InternalIP and the address of host-network pods.
	NodeIP string
	// Port is where the kubelet listens on NodeIP, as the Node says; zero means
	// nowhere. It accepts connections and says nothing.
	Port int
	// Vanish makes an address answer nothing any more until restore is called, as
	// netns.BlackHole does. It is used for the node's addresses and its pods' while the
	// power is off; without it the machine refuses connections, as one would that lives.
	Vanish func(addr string) (restore func() error, err error)
	// PodCIDR is the IPv4 prefix pods get their addresses from, in turn.
	PodCIDR string
	// LeaseDuration is 40 s and RenewInterval a quarter of it unless set.
	LeaseDuration time.Duration
	RenewInterval time.Duration
	// Runtime runs the containers.
	Runtime Runtime
	// Timings are those of RealTimings unless set.
	Timings Timings
	// Logger says what the API server refused; the zero value drops it.
	Logger logr.Logger
}

// Timings are the delays of a kubelet.
type Timings struct {
	// NodeStatus is the interval in which the Node's own conditions are checked.
	NodeStatus time.Duration
	// Reassert is the interval in which pod status written by others is put right;
	// zero means never.
	Reassert time.Duration
	// Probe is the interval in which Prober is asked.
	Probe time.Duration
	// ExitNotice passes between the end of a process and anybody noticing.
	ExitNotice time.Duration
	// Cleanup passes between the terminal status and the removal of the object.
	Cleanup time.Duration
	// Restart is how long it takes to make a container again.
	Restart time.Duration
	// Backoff precedes the second restart of a container and doubles up to 300 s.
	Backoff time.Duration
	// MinimumGrace is granted between Terminate and Kill, whatever the grace period.
	MinimumGrace time.Duration
	// Retry is the pause after a request that the API server did not answer.
	Retry time.Duration
}

// RealTimings are those seen on a real kubelet.
func RealTimings() Timings {
	return Timings{
		NodeStatus:   10 * time.Second,
		Reassert:     10 * time.Second,
		Probe:        time.Second,
		ExitNotice:   700 * time.Millisecond,
		Cleanup:      600 * time.Millisecond,
		Restart:      900 * time.Millisecond,
		Backoff:      10 * time.Second,
		MinimumGrace: 2 * time.Second,
		Retry:        time.Second,
	}
}

// FastTimings keep the order of events and take a tenth of the time. They go with
// a control plane with compressed timers.
func FastTimings() Timings {
	return Timings{
		NodeStatus:   500 * time.Millisecond,
		Reassert:     500 * time.Millisecond,
		Probe:        50 * time.Millisecond,
		ExitNotice:   50 * time.Millisecond,
		Cleanup:      50 * time.Millisecond,
		Restart:      50 * time.Millisecond,
		Backoff:      500 * time.Millisecond,
		MinimumGrace: 200 * time.Millisecond,
		Retry:        100 * time.Millisecond,
	}
}

func (o Options) withDefaults() Options {
	if o.LeaseDuration == 0 {
		o.LeaseDuration = 40 * time.Second
	}
	if o.RenewInterval == 0 {
		o.RenewInterval = o.LeaseDuration / 4
	}
	if o.Timings == (Timings{}) {
		o.Timings = RealTimings()
	}
	return o
}
