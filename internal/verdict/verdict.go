package verdict

import (
	"time"

	"github.com/kureka/kureka/internal/evidence"
)

// Class says how strong a kind of evidence is, and with it what may be done.
type Class uint8

// The classes, the strongest first.
const (
	// None is the class of the verdict that nothing is wrong.
	None Class = iota
	// Proof removes the instance, self-preservation or not.
	Proof
	// Ending takes the instance out of service: its own end has begun.
	Ending
	// Asked takes it out of service because somebody asked for that. Like an ending,
	// it leaves no floor.
	Asked
	// HardNotice takes it out of service unless it is the last one in service of
	// its application: its node is about to go.
	HardNotice
	// PlannedNotice takes it out of service as far as the application's floor
	// allows: its node is to be drained, which honours disruption budgets and may
	// take long.
	PlannedNotice
	// Observed is what the kubelet sees of the pod from outside, such as a failed
	// readiness probe. It acts like a planned notice, if the policy says so.
	Observed
	// Inferred is a conclusion from silence that a second witness confirmed. It acts
	// like a planned notice, and a sign of life ends it.
	Inferred
	// Hint does nothing. It is shown to people.
	Hint
)

var classNames = [...]string{"none", "proof", "ending", "asked", "hard-notice", "planned-notice", "observed", "inferred", "hint"}

// String returns a stable name for metrics and explanations.
func (c Class) String() string { return classNames[c] }

// HasFloor reports whether the class speaks of something else than the instance's
// own end, so that the application's floor limits what it does.
func (c Class) HasFloor() bool { return c >= HardNotice && c <= Inferred }

// Verdict is what follows from the evidence about one instance.
type Verdict struct {
	Class Class
	// Reason is the name of the check that decided, for example PodDeleting.
	Reason string
	// Witness is who saw it: "pod", "node", "endpointslice".
	Witness string
	// Confirmed is the second witness of an inference: "heartbeat" or "prober". Empty
	// for other classes.
	Confirmed string
	// Detail is what exactly was seen, for people.
	Detail string
	// NextCheck is when the verdict may change without any new evidence; zero when
	// it cannot.
	NextCheck time.Time
}

// Input is everything the rules look at for one instance of one pod.
type Input struct {
	Now time.Time
	// Policy is the namespace's; nil means the built-in one.
	Policy *Policy
	Pod    *evidence.Pod
	// Gone is set once the pod's object is gone.
	Gone *evidence.Gone
	// Node is the pod's node; nil while nothing is known about it.
	Node *evidence.Node
	// SliceTerminating says that an EndpointSlice shows the pod as terminating
	// while pods cannot be read.
	SliceTerminating bool
	// Life is the incarnation of the instance's container; nil when the instance
	// has no container of its own or there is no instance yet.
	Life *Life
	// Silence is what is known of the silence of the pod's node.
	Silence evidence.Silence
	// Rebooted is the boot of its node, as Node.Booted tells it, that the instance was
	// concluded not to have outlived; zero if there is none.
	Rebooted time.Time
	// NotReadySince is since when the pod has not been ready, by our clock; zero if
	// nobody knows.
	NotReadySince time.Time
	// Kept is set for an instance that is kept for a pod without a client.
	Kept *Kept
	// Seen is when the instance's client was last heard, Interval its rhythm.
	Seen     time.Time
	Interval time.Duration
}

// Kept is what is known of an instance that has no client.
type Kept struct {
	// NeedsNoReadiness says that readiness takes nothing away: its Service publishes
	// pods that are not ready, or it was not ready yet, which its status says.
	NeedsNoReadiness bool
	// LeftService is since when its Service, which has other pods, does not name the
	// pod; zero while that is not so.
	LeftService time.Time
}

// Life is an instance's container compared with the one that registered it.
type Life struct {
	Container evidence.Container
	// Baseline is the id of the incarnation that the instance belongs to.
	Baseline string
	// Changed is when another id was first seen, by our clock.
	Changed time.Time
	// Request and Registration are when the instance's client last sent anything
	// and last registered, by our clock.
	Request, Registration time.Time
}

// Answer is what one check says.
type Answer struct {
	Check string
	Class Class
	Fires bool
	// Ignored says that the policy lets the check do nothing.
	Ignored bool
	Detail  string
	// Waits is what an inference that does not fire waits for, although its first
	// witness has spoken.
	Waits string
}

func (in *Input) complete() {
	if in.Policy == nil {
		p := DefaultPolicy()
		in.Policy = &p
	}
}

// Decide returns the verdict of the first check that fires and does more than hint.
func Decide(in Input) Verdict {
	in.complete()
	var next time.Time
	for _, c := range checks {
		if c.Class == Hint || in.ignores(c) {
			continue
		}
		detail, until, fires := c.ask(in)
		if next.IsZero() || !until.IsZero() && until.Before(next) {
			next = until
		}
		if fires {
			v := Verdict{Class: c.Class, Reason: c.Reason, Witness: c.Witness, Detail: detail, NextCheck: next}
			if i, ok := inferences[c.Reason]; ok {
				v.Confirmed = i.second(in)
			}
			return v
		}
	}
	return Verdict{NextCheck: next}
}

// Explain returns what every check says, in the order of deciding.
func Explain(in Input) []Answer {
	in.complete()
	out := make([]Answer, 0, len(checks))
	for _, c := range checks {
		a := Answer{Check: c.Reason, Class: c.Class, Ignored: in.ignores(c)}
		if a.Detail, _, a.Fires = c.ask(in); !a.Fires {
			a.Detail = "" // it would tell of something that is not so
			if i, ok := inferences[c.Reason]; ok {
				a.Waits = i.waits(in)
			}
		}
		out = append(out, a)
	}
	return out
}

// Checks returns the list of checks in the order of deciding.
func Checks() []Check { return append([]Check(nil), checks...) }
