package policy

import (
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/internal/verdict"
)

// builtIn returns the policy of a cluster where nobody decided anything. What the
// engine knows has the engine's value.
func builtIn() *v1alpha1.Policy {
	d := verdict.DefaultPolicy()
	auto := intstr.FromString("Auto")
	return &v1alpha1.Policy{
		Mode: v1alpha1.Enforce,
		SelfPreservation: &v1alpha1.SelfPreservation{
			Mode:                    v1alpha1.Enabled,
			RenewalThresholdPercent: new(int32(d.RenewalThresholdPercent)),
			MaxHoldSeconds:          inSeconds(d.MaxHold),
		},
		Leases: &v1alpha1.Leases{
			DefaultDurationSeconds:        inSeconds(d.DefaultDuration),
			DefaultRenewalIntervalSeconds: inSeconds(d.DefaultInterval),
			Bounds:                        &v1alpha1.LeaseBounds{},
			ReadyGraceSeconds:             inSeconds(d.ReadyGrace),
			MaxEvictionPercent:            new(int32(d.MaxEvictionPercent)),
		},
		Pods: &v1alpha1.Pods{
			NotReady:             v1alpha1.Action(d.NotReady),
			ReadinessHoldSeconds: new(int32(0)),
			Disruption:           v1alpha1.Action(d.Disruption),
			ContainerDown:        v1alpha1.Action(d.ContainerDown),
			HostName:             v1alpha1.KeepHostName,
		},
		Nodes: &v1alpha1.ClusterNodes{
			Nodes: v1alpha1.Nodes{
				HardNotice:    v1alpha1.Action(d.HardNotice),
				PlannedNotice: v1alpha1.Action(d.PlannedNotice),
				Cordon:        v1alpha1.Action(d.Cordon),
				Unreachable:   &v1alpha1.Unreachable{Action: v1alpha1.Action(d.Unreachable), AfterSeconds: inSeconds(d.UnreachableAfter)},
			},
			MaxUnreachablePercent: new(int32(d.MaxUnreachablePercent)),
		},
		Breaker:              &v1alpha1.Breaker{MinInServicePercent: new(int32(d.MinInServicePercent))},
		AppsAcrossNamespaces: v1alpha1.WarnOfNamespaces,
		Drain: &v1alpha1.Drain{
			Mode:                     v1alpha1.DrainDisabled,
			Seconds:                  &auto,
			MaxSeconds:               new(int32(90)),
			LoadBalancerCacheSeconds: new(int32(35)),
			OnExistingHook:           v1alpha1.KeepHook,
		},
		ReadinessGate: &v1alpha1.ReadinessGate{MaxWaitSeconds: new(int32(300))},
	}
}

func inSeconds(d time.Duration) *int32 { return new(int32(d / time.Second)) }

// withGroups returns a copy of a policy in which every group of fields is there,
// so that each field can be reached.
func withGroups(p *v1alpha1.Policy) *v1alpha1.Policy {
	p = p.DeepCopy()
	ensure(&p.SelfPreservation)
	ensure(&p.Leases)
	ensure(&p.Leases.Bounds)
	ensure(&p.Pods)
	ensure(&p.Nodes)
	ensure(&p.Nodes.Unreachable)
	ensure(&p.Breaker)
	ensure(&p.Drain)
	ensure(&p.ReadinessGate)
	return p
}

func ensure[T any](group **T) {
	if *group == nil {
		*group = new(T)
	}
}

// ofNamespace returns the policy of a namespace in the form that the cluster's
// has. What a namespace cannot set is unset.
func ofNamespace(s *v1alpha1.RegistryPolicySpec) *v1alpha1.Policy {
	p := &v1alpha1.Policy{
		Mode: s.Mode, SelfPreservation: s.SelfPreservation, Leases: s.Leases, Pods: s.Pods, Drain: s.Drain,
		ReadinessGate: s.ReadinessGate,
	}
	if s.Nodes != nil {
		p.Nodes = &v1alpha1.ClusterNodes{Nodes: *s.Nodes}
	}
	return p
}
