package cluster

import (
	"net/netip"
	"slices"
	"time"

	"github.com/kureka/kureka/internal/registry"
)

// Register binds a registration to its pod and stores it with the verdict that
// is in force for that pod. src is invalid when the sender is unknown.
func (c *Cluster) Register(now time.Time, src netip.Addr, rec *registry.Record) registry.Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.follow(now)
	c.noteWord(now, src)
	in, old := newInstance(now, src, rec), c.insts[rec.Key()]
	if rec.From != "" && old != nil {
		in.pod = old.pod
	}
	p, why := c.candidate(in)
	if p != nil && p.proven {
		c.reg.Prove(now, c.proofOf(p)) // its fence may have ended in the meantime
		return registry.Fenced
	}
	if c.intrudes(in, old, p, why) {
		old.refused = in
		return registry.Done
	}
	return c.admit(now, in, old, p, why)
}

// admit stores a registration and what is in force for its pod.
func (c *Cluster) admit(now time.Time, in, old *instance, p *pod, why string) registry.Outcome {
	c.place(now, in, old, p, why)
	outcome := c.reg.Register(now, c.caller(in.source), in.rec, c.binding(in))
	if outcome != registry.Done {
		c.discard(in)
		return outcome
	}
	if old != nil {
		c.keepFinding(in, old)
		c.discard(old)
	}
	c.placed(now, in, old)
	c.settle(now, in.key.App)
	return outcome
}

// intrudes reports whether somebody dead, dying or not yet seen is about to
// replace the record of a living pod, or somebody of a namespace that has to stay back.
func (c *Cluster) intrudes(in, old *instance, p *pod, why string) bool {
	return old != nil && slices.ContainsFunc(livingOf(old.users), func(user *pod) bool {
		switch {
		case user == p || c.observes(user):
			return false
		case p != nil:
			return !p.alive() || p.Namespace != user.Namespace && c.comesSecond(in.key.App, p)
		}
		return why == UnboundPodNotSeen || c.isGhost(in)
	})
}

func newInstance(now time.Time, src netip.Addr, rec *registry.Record) *instance {
	in := &instance{key: rec.Key(), source: src, rec: rec, registration: now, request: now, said: now}
	if ip, err := netip.ParseAddr(rec.IPAddr); err == nil {
		in.ip = ip.Unmap()
	}
	return in
}

// Renew records a heartbeat. It takes no lock of this package unless a verdict,
// the fence or a change of what is shown is concerned.
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
	if r.Awaited || r.Changed {
		c.heard(now, src, key, beat, r.Changed)
	}
	return r.Outcome
}

// heard tells the verdicts of an application of a sign of life, and whether it
// changed what is shown. It may also tell which pod an instance belongs to.
func (c *Cluster) heard(now time.Time, src netip.Addr, key registry.Key, beat registry.Beat, changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch in := c.insts[key]; {
	case in == nil:
	case c.repeats(in, src, beat):
		in.said, in.request = now, now
		c.rebind(now, in)
	case in.pod != nil:
		in.request = now
		before := in.decided.Reason
		if c.decide(now, in); in.decided.Reason != before {
			c.evaluate(now, in.pod)
		}
	}
	if changed {
		c.settle(now, key.App)
	}
}

// Cancel removes an instance at its own request.
func (c *Cluster) Cancel(now time.Time, src netip.Addr, key registry.Key) registry.Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.follow(now)
	c.noteWord(now, src)
	outcome := c.reg.Cancel(now, c.caller(src), key)
	if outcome != registry.Fenced {
		c.noteCancel(key.App, c.sender(src), c.insts[key])
	}
	if in := c.insts[key]; outcome == registry.Done && in != nil {
		c.untrack(now, in)
		if again := in.refused; again != nil && again.source != src {
			c.succeed(now, in)
		}
	}
	c.settle(now, key.App)
	return outcome
}

// SetOverride pins an instance to a status.
func (c *Cluster) SetOverride(now time.Time, src netip.Addr, key registry.Key, s registry.Status) registry.Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noteWord(now, src)
	caller := c.caller(src)
	if in := c.insts[key]; in != nil && in.pod != nil && in.pod.Has(src) {
		caller.PodUID = in.pod.UID // also on the host network, where an address names no pod
	}
	outcome := c.reg.SetOverride(now, caller, key, s)
	c.settle(now, key.App)
	return outcome
}

// ClearOverride ends an override.
func (c *Cluster) ClearOverride(now time.Time, src netip.Addr, key registry.Key) registry.Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noteWord(now, src)
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
	if p := c.sender(src); p != nil && p.rank() < ended {
		caller.PodUID = p.UID
	}
	return caller
}
