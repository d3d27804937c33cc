package policy

import (
	"time"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/internal/verdict"
)

// forEngine translates a complete policy. A bound that nobody set keeps the
// engine's own limit.
func forEngine(p *v1alpha1.Policy) verdict.Policy {
	d := verdict.DefaultPolicy()
	bounds := p.Leases.Bounds
	return verdict.Policy{
		Observe:                 p.Mode == v1alpha1.Observe,
		SelfPreservation:        p.SelfPreservation.Mode == v1alpha1.Enabled,
		RenewalThresholdPercent: int(*p.SelfPreservation.RenewalThresholdPercent),
		MaxHold:                 seconds(p.SelfPreservation.MaxHoldSeconds, d.MaxHold),
		DefaultDuration:         seconds(p.Leases.DefaultDurationSeconds, d.DefaultDuration),
		DefaultInterval:         seconds(p.Leases.DefaultRenewalIntervalSeconds, d.DefaultInterval),
		MinDuration:             seconds(bounds.MinDurationSeconds, d.MinDuration),
		MaxDuration:             seconds(bounds.MaxDurationSeconds, d.MaxDuration),
		MinInterval:             seconds(bounds.MinRenewalIntervalSeconds, d.MinInterval),
		MaxInterval:             seconds(bounds.MaxRenewalIntervalSeconds, d.MaxInterval),
		ReadyGrace:              seconds(p.Leases.ReadyGraceSeconds, d.ReadyGrace),
		MaxEvictionPercent:      int(*p.Leases.MaxEvictionPercent),
		NotReady:                verdict.Action(p.Pods.NotReady),
		ReadinessHold:           seconds(p.Pods.ReadinessHoldSeconds, d.ReadinessHold),
		HostNamePodIP:           p.Pods.HostName == v1alpha1.RewriteToPodIP,
		Disruption:              verdict.Action(p.Pods.Disruption),
		ContainerDown:           verdict.Action(p.Pods.ContainerDown),
		HardNotice:              verdict.Action(p.Nodes.HardNotice),
		PlannedNotice:           verdict.Action(p.Nodes.PlannedNotice),
		Cordon:                  verdict.Action(p.Nodes.Cordon),
		Unreachable:             verdict.Action(p.Nodes.Unreachable.Action),
		UnreachableAfter:        seconds(p.Nodes.Unreachable.AfterSeconds, d.UnreachableAfter),
		MaxUnreachablePercent:   int(*p.Nodes.MaxUnreachablePercent),
		AdditionalTaints:        additionalTaints(p.Nodes.AdditionalTerminationTaints),
		MinInServicePercent:     int(*p.Breaker.MinInServicePercent),
		AcrossNamespaces:        verdict.AcrossNamespaces(p.AppsAcrossNamespaces),
	}
}

func seconds(n *int32, otherwise time.Duration) time.Duration {
	if n == nil {
		return otherwise
	}
	return time.Duration(*n) * time.Second
}

func additionalTaints(list []v1alpha1.TerminationTaint) []verdict.AdditionalTaint {
	if len(list) == 0 {
		return nil // as in the built-in policy, which is compared with this
	}
	out := make([]verdict.AdditionalTaint, 0, len(list))
	for _, t := range list {
		out = append(out, verdict.AdditionalTaint{
			Key: t.Key, Value: t.Value, Effect: string(t.Effect), Hard: t.Notice == v1alpha1.HardNotice,
		})
	}
	return out
}
