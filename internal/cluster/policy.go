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
// force when the call returns. It must not be called concurrently with itself.
func (c *Cluster) SetPolicies(now time.Time, fallback verdict.Policy, namespaces map[string]verdict.Policy) {
	if !c.adopt(fallback, namespaces) {
		return
	}
	c.tellPolicies(now, fallback, namespaces) // without our lock: it may take a second
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.follow(now)
	c.evaluateEveryPod(now)
	for _, in := range c.insts {
		if in.pod == nil {
			c.rebind(now, in) // whether it is hidden may depend on the policy
		} else if in.rec.HostName != in.rec.IPAddr {
			c.reg.Rebind(now, in.key, c.binding(in)) // the host name that is shown may
		}
		c.evaluateUnbound(now, in)
	}
	for app := range c.spreads {
		c.contested[app] = struct{}{}
	}
}

// adopt takes policies over and reports whether they are others than before.
func (c *Cluster) adopt(fallback verdict.Policy, namespaces map[string]verdict.Policy) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fallback.Equal(fallback) && maps.EqualFunc(c.policies, namespaces, (*verdict.Policy).Equal) {
		return false
	}
	c.fallback, c.policies = fallback, pointers(namespaces)
	c.changed()
	return true
}

// tellPolicies tells the registry its part of the policies.
func (c *Cluster) tellPolicies(now time.Time, fallback verdict.Policy, namespaces map[string]verdict.Policy) {
	own := make(map[string]registry.Policy, len(namespaces))
	for name, p := range namespaces {
		own[name] = numbers(p, fallback)
	}
	c.reg.SetPolicies(now, numbers(fallback, fallback), own)
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
		return p
	}
	return &c.fallback
}

// pointers keeps policies so that one can be handed out without a copy.
func pointers(policies map[string]verdict.Policy) map[string]*verdict.Policy {
	out := make(map[string]*verdict.Policy, len(policies))
	for name, p := range policies {
		out[name] = &p
	}
	return out
}
