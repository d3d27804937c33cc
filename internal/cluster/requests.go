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
		c.refuse(now, in, old)
		return registry.Done
	}
	return c.admit(now, in, old, p, why)
}

// admit stores a registration and what is in force for its pod.
func (c *Cluster) admit(now time.Time, in, old *instance, p *pod, why string) registry.Outcome {
	if old != nil {
		in.turnedAway = old.turnedAway
	}
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
	if r.Contested || r.Outcome == registry.Fenced { // maybe only because the engine was not told which pod it is
		c.mu.RLock()
		caller, turnedAway := c.caller(src), c.isTurnedAway(src, key)
		c.mu.RUnlock()
		switch {
		case turnedAway:
			return registry.Fenced
		case r.Contested, caller.PodUID != "":
			r = c.reg.Renew(now, caller, key, beat)
		}
	}
	if (r.Awaited || r.Changed) && c.heard(now, src, key, beat, r.Changed) {
		return registry.NotFound
	}
	return r.Outcome
}

// heard tells the verdicts of an application of a sign of life, and whether it
// changed what is shown. It may also tell which pod an instance belongs to. It reports
// whether whoever sent it has to register: a record that is hidden is of no use to
// anybody but the one who sent it.
func (c *Cluster) heard(now time.Time, src netip.Addr, key registry.Key, beat registry.Beat, changed bool) (unknown bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.follow(now)
	switch in := c.insts[key]; {
	case in == nil:
	case in.isHidden():
		unknown = src != in.source
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
	return unknown
}

// Cancel removes an instance at its own request.
func (c *Cluster) Cancel(now time.Time, src netip.Addr, key registry.Key) registry.Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.follow(now)
	c.noteWord(now, src)
	if c.isTurnedAway(src, key) || c.endsAnothers(src, key) {
		return registry.Fenced
	}
	outcome := c.reg.Cancel(now, c.caller(src), key)
	in := c.insts[key]
	if outcome != registry.Fenced && (in != nil || !c.reg.FencedID(key)) { // the dead may have had the sender's address
		c.noteCancel(key.App, c.sender(src), in)
	}
	if outcome == registry.Done && in != nil {
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
	if c.isTurnedAway(src, key) {
		return registry.Fenced
	}
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
	if c.isTurnedAway(src, key) {
		return registry.Fenced
	}
	outcome := c.reg.ClearOverride(now, c.caller(src), key)
	c.settle(now, key.App)
	return outcome
}

// PutMetadata merges metadata into a record.
func (c *Cluster) PutMetadata(now time.Time, src netip.Addr, key registry.Key, pairs []registry.Pair) registry.Outcome {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.isTurnedAway(src, key) {
		return registry.Fenced
	}
	return c.reg.PutMetadata(now, c.caller(src), key, pairs)
}

// caller says which pod a source address belongs to.
func (c *Cluster) caller(src netip.Addr) registry.Caller {
	caller := registry.Caller{Addr: src, Known: true}
	if p := c.sender(src); p != nil && p.rank() < ended {
		caller.PodUID = p.UID
	}
	return caller
}
