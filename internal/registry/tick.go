package registry

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

const (
	// pause is the gap between two ticks that counts as a pause of the process.
	// Ticks come every second.
	pause = int64(5 * time.Second)
	// aloneHold is how long a lease alone on its node is held before it is marked.
	aloneHold = int64(300 * time.Second)
	scanEvery = int64(10 * time.Second)
)

// Ticked is what the passing of time did.
type Ticked struct {
	Evicted     []Evicted
	Transitions []Transition
}

// Evicted is an instance whose lease expired.
type Evicted struct {
	Key       Key
	Partition string
}

// Tick lets time pass: late leases stop counting, expired ones are evicted or
// held, old changes and fences are forgotten. It is to be called once a second
// and costs O(leases that need a look).
func (e *Engine) Tick(now time.Time) Ticked {
	t := e.mono(now)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.earnCredit(t)
	e.scans = 1
	for len(e.due) > 0 && e.due[0].dueAt <= t {
		e.look(t, heap.Pop(&e.due).(*entry))
	}
	var r Ticked
	for name, p := range e.partitions {
		p.sampleBeats(t)
		p.age(t)
		r.Evicted = append(r.Evicted, e.expire(now, p)...)
		if p.spent(t) {
			delete(e.partitions, name)
		}
	}
	e.forget(now)
	e.fence.sweep(t)
	r.Transitions, e.happened = e.happened, nil
	return r
}

// earnCredit notices that the process was paused, or that nobody at all was heard
// for longer than chance allows. Neither says anything about the leases.
func (e *Engine) earnCredit(t int64) {
	if e.lastTick >= 0 && t-e.lastTick > pause {
		e.credit = max(e.credit, t+creditFor(t-e.lastTick))
	}
	e.lastTick = t
	gap := t - e.lastReq.Load()
	if shortest := e.shortestInterval(); shortest > 0 && gap > 2*shortest && e.dueSince(t) {
		e.credit = max(e.credit, t+creditFor(gap))
	}
}

// Disturbed reports whether clients may still be backing off after a disturbance
// that concerned all of them, so that silence says nothing about any: nothing
// expires for that reason.
func (e *Engine) Disturbed(now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.mono(now) < e.credit
}

func (e *Engine) shortestInterval() int64 {
	var shortest int64
	for d := range e.intervals {
		if shortest == 0 || int64(d) < shortest {
			shortest = int64(d)
		}
	}
	return shortest
}

// dueSince reports whether at least two leases fell due since the last request.
func (e *Engine) dueSince(t int64) bool {
	found, last := 0, e.lastReq.Load()
	e.each(func(n *entry) bool {
		if n.kept {
			return true
		}
		if due := n.lease.renewed.Load() + int64(n.interval); due > last && due <= t {
			found++
		}
		return found < 2
	})
	return found >= 2
}

func (e *Engine) each(visit func(*entry) bool) {
	for i := range e.shards {
		for _, n := range e.shards[i].m { // the engine's mutex keeps writers away
			if !visit(n) {
				return
			}
		}
	}
}

// look examines one lease whose moment has come.
//
// A flag is always set before the last renewal is read again: a heartbeat stores
// its time before it reads the flags, so one of the two sees the other.
func (e *Engine) look(t int64, n *entry) {
	n.dueIndex = -1
	p := n.part.Load()
	if !n.has(flagLate) && t-n.lease.renewed.Load() > n.lateAfter() {
		n.setFlag(flagLate, true)
		if t-n.lease.renewed.Load() > n.lateAfter() {
			if n.counted {
				p.received -= rate(n.interval)
			}
		} else {
			n.setFlag(flagLate, false)
		}
	}
	if t-n.lease.renewed.Load() > int64(n.duration) {
		n.setFlag(flagOverdue, true)
		p.overdue[n] = struct{}{}
	}
	e.rearm(n)
	e.judge(p, t)
}

// rearm schedules the next look: when the lease would become late, or overdue.
func (e *Engine) rearm(n *entry) {
	if n.kept {
		return
	}
	last := n.lease.renewed.Load()
	next := int64(-1)
	if !n.has(flagLate) {
		next = last + n.lateAfter() + 1
	}
	if !n.has(flagOverdue) {
		if over := last + int64(n.duration) + 1; next < 0 || over < next {
			next = over
		}
	}
	if next >= 0 {
		e.due.schedule(n, next)
	}
}

// revive clears what silence had brought upon a lease that has just been renewed.
func (e *Engine) revive(now time.Time, n *entry) {
	p := n.part.Load()
	if n.has(flagLate) {
		n.setFlag(flagLate, false)
		n.heardFrom = n.lease.renewed.Load()
		if n.counted {
			p.received += rate(n.interval)
		}
	}
	n.setFlag(flagOverdue, false)
	delete(p.overdue, n)
	e.unmark(n)
	n.expiredAt = 0
	e.rearm(n)
	e.judge(p, e.mono(now))
}

// expire evicts, holds or spares the overdue leases of a partition, those that
// have been silent for longest first.
func (e *Engine) expire(now time.Time, p *partition) []Evicted {
	if len(p.overdue) == 0 {
		return nil
	}
	t := e.mono(now)
	overdue := make([]*entry, 0, len(p.overdue))
	for n := range p.overdue {
		overdue = append(overdue, n)
	}
	slices.SortFunc(overdue, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.lease.renewed.Load(), b.lease.renewed.Load()), a.key.compare(b.key))
	})
	var evicted []Evicted
	for _, n := range overdue {
		last := n.lease.renewed.Load()
		end := last + int64(n.duration+e.grace(n))
		switch {
		case t-last <= int64(n.duration):
			e.revive(now, n)
			e.publish(now, n)
		case t <= end || t < e.credit || t < p.credit:
		case p.holds(t, n, end):
			e.hold(now, n, end)
		case p.mayEvict():
			if e.evict(now, n, p, last) {
				evicted = append(evicted, Evicted{n.key, p.name})
			}
		}
	}
	return evicted
}

// grace is the extra time of a lease whose pod the cluster reports Ready. Real
// deaths of pods arrive as proofs; what is left is mostly slow clients.
func (e *Engine) grace(n *entry) time.Duration {
	if e.fresh && n.binding.PodReady {
		return n.part.Load().policy.ReadyGrace
	}
	return 0
}

func (p *partition) holds(t int64, n *entry, end int64) bool {
	if !p.engaged || !n.counted {
		return false
	}
	return p.policy.MaxHold == 0 || t-end <= int64(p.policy.MaxHold)
}

// evict removes a lease that was last renewed at last, unless a heartbeat has
// slipped in since.
func (e *Engine) evict(now time.Time, n *entry, p *partition, last int64) bool {
	n.setFlag(flagGone, true)
	if n.lease.renewed.Load() != last {
		n.setFlag(flagGone, false)
		e.revive(now, n)
		return false
	}
	p.evictions = append(p.evictions, eviction{at: e.mono(now), members: p.members})
	e.remove(now, n, EndExpired)
	return true
}

// hold keeps an expired lease. If everything says that it is the process and not
// the network that is silent, the instance is shown out of service meanwhile: a
// mark, not a verdict, so the lease stays protected and expected. A view that is not
// fresh says nothing.
func (e *Engine) hold(now time.Time, n *entry, end int64) {
	n.expiredAt = end
	if !e.fresh || n.marked || n.view == nil || n.view.Status != Up || !e.processIsSilent(e.mono(now), n, end) {
		return
	}
	if !e.appCount(n.key.App).allows(n.part.Load().policy.MinInServicePercent) {
		return
	}
	e.mark(n)
	e.publish(now, n)
}

func (e *Engine) mark(n *entry) {
	c := e.appCount(n.key.App)
	if c.marked == nil {
		c.marked = map[*entry]struct{}{}
	}
	n.marked = true
	c.marked[n] = struct{}{}
}

func (e *Engine) unmark(n *entry) {
	if n.marked {
		n.marked = false
		delete(e.appCount(n.key.App).marked, n)
	}
}

// keepFloor takes marks back when others have left an application with too few in
// service for a lease's policy. The ids decide which, so that the choice does not
// wander. It is asked after every change, so it sorts only when something is short.
func (e *Engine) keepFloor(now time.Time, app string) {
	c := e.apps[app]
	if c == nil || len(c.marked) == 0 {
		return
	}
	short := func(n *entry) bool { return c.up < c.floor(n.part.Load().policy.MinInServicePercent) }
	var would []*entry // be in service without the mark
	for n := range c.marked {
		if short(n) && !n.binding.Verdict.OutOfService && e.asLeft(n) == Up {
			would = append(would, n)
		}
	}
	slices.SortFunc(would, func(a, b *entry) int { return a.key.compare(b.key) })
	for _, n := range would {
		if !short(n) {
			continue // what came back before it suffices for its policy
		}
		e.unmark(n)
		e.display(now, n)
	}
}

func (e *Engine) processIsSilent(t int64, n *entry, end int64) bool {
	node := e.nodes[n.binding.Node]
	if n.binding.Node == "" || node == nil || !node.fresh {
		return false
	}
	for other := range node.members {
		if other != n && other.speaksAgainst(t, n, end) {
			return true
		}
	}
	if len(node.members) > 1 || t-end < aloneHold || t < node.scanAt || e.scans == 0 {
		return false
	}
	node.scanAt = t + scanEvery
	e.scans--
	return e.halfSpeakAgainst(t, n, end)
}

// speaksAgainst reports whether this lease, renewed since the silent one expired,
// says that it is the silent one's process that fails. The network says the same as
// long as both were cut off: then clients come back one after the other, and the
// silent one may still pause for as long as any client does.
func (n *entry) speaksAgainst(t int64, silent *entry, end int64) bool {
	if n.lease.renewed.Load() <= end {
		return false
	}
	away := n.heardFrom - silent.lease.renewed.Load()
	return away <= 0 || t >= n.heardFrom+creditFor(away)
}

// halfSpeakAgainst reports whether at least half of all other leases do.
func (e *Engine) halfSpeakAgainst(t int64, silent *entry, end int64) bool {
	others, against := 0, 0
	e.each(func(o *entry) bool {
		if o == silent || o.kept {
			return true
		}
		others++
		if o.speaksAgainst(t, silent, end) {
			against++
		}
		return true
	})
	return others > 0 && 2*against >= others
}

// forget drops changes that every client has had time to fetch, and tombstones.
func (e *Engine) forget(now time.Time) {
	limit := e.mono(now) - int64(ChangeRetention)
	snap, changed := e.begin(), false
	for e.log.len() > maxChanges || e.log.len() > 0 && e.log.peek().at < limit {
		old := e.log.peek()
		e.log.pop()
		if current := snap.changes.get(old.key); current != nil && current.version == old.version {
			snap.changes = snap.changes.drop(old.key)
			changed = true
		}
	}
	if changed {
		snap.Version = e.nextVersion(snap, now)
		e.snap.Store(snap)
	}
	for e.tombQueue.len() > maxTombstones || e.tombQueue.len() > 0 && e.tombQueue.peek().at < e.mono(now)-int64(tombstoneRetention) {
		old := e.tombQueue.peek()
		e.tombQueue.pop()
		if e.tombstones[old.key] == old {
			delete(e.tombstones, old.key)
		}
	}
}
