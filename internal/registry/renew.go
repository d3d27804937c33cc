package registry

import "time"

// Renew records a heartbeat. The usual heartbeat, which finds its record as the
// client left it, takes no lock beyond a map access, allocates nothing and
// changes nothing that readers see.
//
// Every heartbeat that finds a record renews and counts, also one answered
// Newer. Without a timestamp it never changes the record. With an equal one and
// another status it heals the status: the reference server compares timestamps
// only, so an instance whose two registrations crossed stayed STARTING for ever.
// With a newer one it heals and asks for the record; with an older one it only
// renews. A contested lease is left alone until it is known who sends.
func (e *Engine) Renew(now time.Time, c Caller, key Key, b Beat) Renewal {
	t := e.mono(now)
	if e.fence.active() && e.fence.blocksSource(t, c) {
		return Renewal{Outcome: Fenced}
	}
	n := e.leased(key)
	if n == nil {
		if e.fence.active() && e.fence.blocksOrphan(t, c, key) {
			return Renewal{Outcome: Fenced}
		}
		e.lastReq.Store(t)
		return Renewal{Outcome: NotFound}
	}
	e.lastReq.Store(t)
	if !c.Known && n.has(flagContested) {
		return Renewal{Contested: true}
	}
	n.lease.rhythm.beat(time.Duration(t-n.lease.renewed.Swap(t)), time.Duration(n.declared.Load()))
	n.lease.renewedMS.Store(now.UnixMilli())
	n.part.Load().beats.Add(1)
	flags := n.flags.Load()
	if n.isAsLeft(b) && flags&^(flagAwaited|flagContested) == 0 {
		return Renewal{Awaited: flags&flagAwaited != 0}
	}
	return e.renewSlow(now, key, b)
}

// isAsLeft reports whether a heartbeat says nothing new.
func (n *entry) isAsLeft(b Beat) bool {
	dirty := n.dirty.Load()
	return !b.HasDirty || b.Dirty < dirty || b.Dirty == dirty && (b.Status == None || b.Status == Status(n.client.Load()))
}

// renewSlow handles the heartbeat that changes something.
func (e *Engine) renewSlow(now time.Time, key Key, b Beat) Renewal {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.leased(key)
	if n == nil {
		return Renewal{Outcome: NotFound}
	}
	e.renewed(now, n)
	r := Renewal{Awaited: n.has(flagAwaited)}
	dirty := n.dirty.Load()
	if b.HasDirty && b.Dirty >= dirty {
		if b.Status != None && b.Status != Status(n.client.Load()) {
			n.client.Store(uint32(b.Status))
			n.clientStamp = e.stamp(now)
		}
		if b.Dirty > dirty {
			r.Outcome = Newer
		}
	}
	r.Changed = e.publish(now, n)
	return r
}
