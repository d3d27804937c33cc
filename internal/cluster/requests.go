package cluster

import (
	"net/netip"
	"time"

	"github.com/kureka/kureka/internal/registry"
)

// Register binds a registration to its pod and stores it with the verdict that
// is in force for that pod. src is invalid when the sender is unknown.
func (c *Cluster) Register(now time.Time, src netip.Addr, rec *registry.Record) registry.Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	in := c.newInstance(now, src, rec)
	p, why := c.bindingOf(in)
	if old := c.insts[in.key]; old != nil && old.pod == p {
		in.container, in.baseline = old.container, old.baseline
	}
	c.attach(in, p, why)
	if p != nil {
		c.decide(now, in)
		if in.decided.Class == proof {
			c.reg.Prove(now, proofOf(p))
			c.discard(in)
			return registry.Fenced
		}
	}
	outcome := c.reg.Register(now, c.caller(src), rec, c.binding(in))
	if outcome != registry.Done {
		c.discard(in)
		return outcome
	}
	if old := c.insts[in.key]; old != nil {
		c.untrack(now, old)
	}
	c.track(in)
	c.apply(now, in)
	c.settle(now, in.key.App)
	return outcome
}

func (c *Cluster) newInstance(now time.Time, src netip.Addr, rec *registry.Record) *instance {
	in := &instance{key: rec.Key(), source: src, rec: rec, registration: now, request: now}
	if ip, err := netip.ParseAddr(rec.IPAddr); err == nil {
		in.ip = ip.Unmap()
	}
	return in
}

// Renew records a heartbeat. It takes no lock of this package unless a verdict
// or the fence is concerned.
func (c *Cluster) Renew(now time.Time, src netip.Addr, key registry.Key, beat registry.Beat) registry.Outcome {
	r := c.reg.Renew(now, registry.Caller{Addr: src}, key, beat)
	if r.Outcome == registry.Fenced { // maybe only because the engine was not told which pod it is
		c.mu.RLock()
		caller := c.caller(src)
		c.mu.RUnlock()
		if caller.PodUID != "" {
			r = c.reg.Renew(now, caller, key, beat)
		}
	}
	switch {
	case r.Out:
		c.heard(now, key)
	case r.Outcome == registry.NotFound && c.ghost(src):
		return registry.Done
	}
	return r.Outcome
}

// heard tells the verdict on an instance of a sign of life.
func (c *Cluster) heard(now time.Time, key registry.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	in := c.insts[key]
	if in == nil || in.pod == nil {
		return
	}
	in.request = now
	c.evaluate(now, in.pod)
}

// Cancel removes an instance at its own request.
func (c *Cluster) Cancel(now time.Time, src netip.Addr, key registry.Key) registry.Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	outcome := c.reg.Cancel(now, c.caller(src), key)
	if in := c.insts[key]; outcome == registry.Done && in != nil {
		c.untrack(now, in)
	}
	c.settle(now, key.App)
	return outcome
}

// SetOverride pins an instance to a status.
func (c *Cluster) SetOverride(now time.Time, src netip.Addr, key registry.Key, s registry.Status) registry.Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	outcome := c.reg.SetOverride(now, c.caller(src), key, s)
	c.settle(now, key.App)
	return outcome
}

// ClearOverride ends an override.
func (c *Cluster) ClearOverride(now time.Time, src netip.Addr, key registry.Key) registry.Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	outcome := c.reg.ClearOverride(now, c.caller(src), key)
	c.settle(now, key.App)
	return outcome
}

// PutMetadata merges metadata into a record.
func (c *Cluster) PutMetadata(now time.Time, src netip.Addr, key registry.Key, pairs []registry.Pair) registry.Outcome {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.reg.PutMetadata(now, c.caller(src), key, pairs)
}

// caller says which pod a source address belongs to.
func (c *Cluster) caller(src netip.Addr) registry.Caller {
	caller := registry.Caller{Addr: src}
	if p := c.owners[netip.AddrPortFrom(src, 0)]; src.IsValid() && p != nil {
		caller.PodUID = p.UID
	}
	return caller
}

// ghost reports whether a source is a pod address that no pod owns: a pod that
// the watch has not shown yet, or the process of one that is gone.
func (c *Cluster) ghost(src netip.Addr) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.unowned(src)
}

func (c *Cluster) unowned(a netip.Addr) bool {
	if !a.IsValid() || !c.fresh || !c.opts.AllNamespaces || c.owners[netip.AddrPortFrom(a, 0)] != nil {
		return false
	}
	if _, isNode := c.nodeIPs[a]; isNode {
		return false
	}
	for _, n := range c.nodes {
		for _, r := range n.PodCIDRs {
			if r.Contains(a) {
				return true
			}
		}
	}
	return false
}
