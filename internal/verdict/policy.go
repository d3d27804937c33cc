package verdict

import (
	"reflect"
	"time"

	"github.com/kureka/kureka/internal/evidence"
)

// Action is what a kind of evidence does to an instance.
type Action string

// Actions upon evidence.
const (
	// OutOfService takes the instance out of service while the evidence lasts.
	OutOfService Action = "OutOfService"
	// Ignore shows the evidence and does nothing.
	Ignore Action = "Ignore"
)

// Policy is what one namespace has decided, complete: every field has a value.
type Policy struct {
	// Observe computes, shows and counts verdicts; only leases act.
	Observe bool

	SelfPreservation        bool
	RenewalThresholdPercent int           // 1 to 100
	MaxHold                 time.Duration // zero: no limit

	DefaultDuration, DefaultInterval time.Duration
	// Bounds of what clients may ask for; zero: no bound.
	MinDuration, MaxDuration time.Duration
	MinInterval, MaxInterval time.Duration
	ReadyGrace               time.Duration
	MaxEvictionPercent       int // 0 to 100, but at least one lease

	NotReady, Disruption, ContainerDown Action
	// ReadinessHold is how long a pod must be unready before NotReady acts.
	ReadinessHold time.Duration
	// HostNamePodIP shows the pod's address where a client registers the pod's name.
	HostNamePodIP                     bool
	HardNotice, PlannedNotice, Cordon Action
	// Unreachable is what a silent node does, once its Lease has not changed for
	// UnreachableAfter and a second witness agrees. Where MaxUnreachablePercent of a
	// zone or of the cluster are silent at once, none counts.
	Unreachable           Action
	UnreachableAfter      time.Duration
	MaxUnreachablePercent int // 1 to 100
	// AdditionalTaints announce the end of a node besides those that are known.
	AdditionalTaints []AdditionalTaint

	// MinInServicePercent of an application's live instances stay in service,
	// rounded down, but at least one.
	MinInServicePercent int // 0 to 100
	// AcrossNamespaces is what happens to an application that pods of several
	// namespaces register. It is the same for the whole cluster.
	AcrossNamespaces AcrossNamespaces
}

// AcrossNamespaces is a way to treat an application of several namespaces.
type AcrossNamespaces string

// Ways to treat an application of several namespaces.
const (
	// Merge lists all of its instances.
	Merge AcrossNamespaces = "Merge"
	// Warn lists them as well, and tells.
	Warn AcrossNamespaces = "Warn"
	// FirstNamespaceOnly lists those of the namespace that came first.
	FirstNamespaceOnly AcrossNamespaces = "FirstNamespaceOnly"
)

// AdditionalTaint is a taint that announces the end of a node here.
type AdditionalTaint struct {
	Key string
	// Value and Effect narrow it; empty means any.
	Value, Effect string
	Hard          bool
}

// DefaultPolicy returns the built-in policy.
func DefaultPolicy() Policy {
	return Policy{
		SelfPreservation:        true,
		RenewalThresholdPercent: 85,
		DefaultDuration:         90 * time.Second,
		DefaultInterval:         30 * time.Second,
		MaxDuration:             24 * time.Hour,
		ReadyGrace:              90 * time.Second,
		MaxEvictionPercent:      15,
		NotReady:                Ignore,
		Disruption:              OutOfService,
		ContainerDown:           OutOfService,
		HardNotice:              OutOfService,
		PlannedNotice:           OutOfService,
		Cordon:                  Ignore,
		Unreachable:             OutOfService,
		UnreachableAfter:        20 * time.Second,
		MaxUnreachablePercent:   55,
		MinInServicePercent:     50,
		AcrossNamespaces:        Warn,
	}
}

// Equal reports whether two policies decide alike.
func (p Policy) Equal(o Policy) bool { return reflect.DeepEqual(p, o) }

// ignores reports whether the policy lets a check do nothing. An instance without
// a client has nothing but readiness to go by.
func (in *Input) ignores(c Check) bool {
	p, action := in.Policy, OutOfService
	switch {
	case c.Reason == reasonCordoned:
		action = p.Cordon
	case c.Reason == reasonDisrupted:
		action = p.Disruption
	case c.Reason == ReasonContainerDown || c.Reason == reasonContainerRestarted:
		action = p.ContainerDown
	case c.Class == HardNotice:
		action = p.HardNotice
	case c.Class == PlannedNotice:
		action = p.PlannedNotice
	case c.Class == Inferred:
		action = p.Unreachable
	case c.Class == Observed && in.Kept == nil:
		action = p.NotReady
	}
	return action == Ignore
}

func (t AdditionalTaint) matches(n *evidence.Node) bool {
	for _, have := range n.Taints {
		if have.Key == t.Key && (t.Value == "" || t.Value == have.Value) && (t.Effect == "" || t.Effect == have.Effect) {
			return true
		}
	}
	return false
}
