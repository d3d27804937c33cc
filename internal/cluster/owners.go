package cluster

import (
	"cmp"
	"net/netip"
	"time"
)

// reown computes who owns an address from the current claims, never from the
// order of events: the pod whose end has not begun, then the youngest, then the
// one with the higher UID.
func (c *Cluster) reown(now time.Time, a netip.AddrPort) {
	var owner *pod
	for p := range c.claims[a] {
		if p.gone == nil && (owner == nil || owner.yields(p)) {
			owner = p
		}
	}
	prev := c.owners[a]
	if owner == nil {
		delete(c.owners, a)
		return
	}
	c.owners[a] = owner
	if !owner.proven {
		c.reg.FreeAddr(a)
	}
	if prev == owner {
		return
	}
	if prev != nil {
		c.cancelAt(now, prev, a, ReasonAddressReused)
	}
	for in := range c.byIP[a.Addr()] {
		if in.pod == nil || in.pod == prev {
			c.rebind(now, in)
		}
	}
}

func (p *pod) yields(o *pod) bool {
	if p.Deleting != o.Deleting {
		return p.Deleting
	}
	return cmp.Or(p.Created.Compare(o.Created), cmp.Compare(p.UID, o.UID)) < 0
}

// cancelAt removes the records bound to p whose address is a. The address has
// another owner; about p it proves nothing.
func (c *Cluster) cancelAt(now time.Time, p *pod, a netip.AddrPort, reason string) {
	for in := range p.insts {
		if in.ip != a.Addr() || a.Port() != 0 && int(a.Port()) != in.rec.Port.Number && int(a.Port()) != in.rec.SecurePort.Number {
			continue
		}
		ch := c.change(now, in, in.decided)
		ch.Reason = reason
		c.reg.Remove(now, in.key)
		c.untrack(now, in)
		c.opts.Observer(ch)
		c.settle(now, in.key.App)
	}
}

// rebind looks again for the pod of a registration, now that more is known.
func (c *Cluster) rebind(now time.Time, in *instance) {
	p, why := c.bindingOf(in)
	if p == nil && in.pod == nil && why == in.unbound {
		return
	}
	drop(c.noticed, in.key.App, in)
	c.attach(in, p, why)
	if p != nil {
		p.insts[in] = struct{}{}
		c.decide(now, in)
	}
	c.reg.Rebind(now, in.key, c.binding(in))
	if p != nil {
		c.evaluate(now, p)
	}
}
