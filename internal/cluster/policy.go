package cluster

import (
	"maps"
	"time"

	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/internal/verdict"
)

// SetPolicies puts policies in force from now on: for the named namespaces their
// own, everywhere else and outside pods the fallback. The share of an application
// that stays in service is always the fallback's. What follows from an edit is in
// force when the call returns.
func (c *Cluster) SetPolicies(now time.Time, fallback verdict.Policy, namespaces map[string]verdict.Policy) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fallback.Equal(fallback) && maps.EqualFunc(c.policies, namespaces, verdict.Policy.Equal) {
		return
	}
	c.fallback, c.policies = fallback, maps.Clone(namespaces)
	own := make(map[string]registry.Policy, len(namespaces))
	for name, p := range namespaces {
		own[name] = numbers(p, fallback)
	}
	c.reg.SetPolicies(now, numbers(fallback, fallback), own)
	c.evaluateEveryPod(now)
	for _, in := range c.insts {
		if in.pod == nil {
			c.rebind(now, in) // whether it is hidden may depend on the policy
		}
		c.evaluateUnbound(now, in)
	}
}

// numbers is the part of a policy that the registry works with.
func numbers(p, fallback verdict.Policy) registry.Policy {
	return registry.Policy{
		SelfPreservation:        p.SelfPreservation,
		RenewalThresholdPercent: p.RenewalThresholdPercent,
		MaxHold:                 p.MaxHold,
		DefaultDuration:         p.DefaultDuration,
		DefaultInterval:         p.DefaultInterval,
		MinDuration:             p.MinDuration,
		MaxDuration:             p.MaxDuration,
		MinInterval:             p.MinInterval,
		MaxInterval:             p.MaxInterval,
		ReadyGrace:              p.ReadyGrace,
		MaxEvictionPercent:      p.MaxEvictionPercent,
		MinInServicePercent:     fallback.MinInServicePercent,
	}
}

func (c *Cluster) policyOf(namespace string) *verdict.Policy {
	if p, own := c.policies[namespace]; own {
		return &p
	}
	return &c.fallback
}

// observes reports whether verdicts about a pod are only shown.
func (c *Cluster) observes(p *pod) bool {
	if p == nil {
		return c.fallback.Observe
	}
	return c.policyOf(p.Namespace).Observe
}

// notePassing tells of a proof that does not act. The pod's instances are left to
// their leases.
func (c *Cluster) notePassing(now time.Time, p *pod, v verdict.Verdict) {
	for in := range p.insts {
		ch := change(now, in, v)
		ch.Effect = Noted
		c.discard(in)
		in.unbound, in.byAddress = UnboundObserved, false
		in.decided = verdict.Verdict{}
		c.track(in)
		c.reg.Rebind(now, in.key, c.binding(in))
		c.report(ch)
	}
	p.proven = false
	c.reg.FreeUID(p.UID)
	if p.gone != nil {
		c.forgetPod(now, p)
	}
}

// noteObserved tells once of a verdict that does not act.
func (c *Cluster) noteObserved(now time.Time, in *instance) {
	if !c.observes(in.pod) || in.noted == in.decided.Reason {
		return
	}
	in.noted = in.decided.Reason
	if in.noted == "" {
		return
	}
	ch := change(now, in, in.decided)
	ch.Effect = Noted
	c.report(ch)
}
