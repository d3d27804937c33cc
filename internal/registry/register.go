package registry

import (
	"net/netip"
	"time"
)

// Register stores what a client says about itself. A direct registration always
// replaces the record whole, whatever its timestamps say: the client that sends
// it is the authority, and only merges between replicas compare versions.
// A copy that a peer sends is compared: one that is no newer only renews the lease.
// The engine keeps rec; the caller must not change it afterwards.
func (e *Engine) Register(now time.Time, c Caller, rec *Record, b Binding) Outcome {
	if e.fence.blocksRegistration(e.mono(now), rec) {
		return Fenced
	}
	e.Touch(now)
	hash := contentHash(rec)
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.entry(rec.Key())
	if rec.From != "" && e.stale(n, rec) {
		if n != nil {
			e.renewed(now, n)
		}
		return Stale
	}
	if n == nil && (e.count >= e.opts.MaxInstances || e.bytes >= e.opts.MaxBytes) {
		return Full
	}
	if n == nil {
		n = e.insert(now, rec.Key(), false)
	}
	e.handOver(now, n)
	if c.PodUID != "" {
		e.fence.freeKey(n.key) // somebody living registers the id
	}
	e.keepRecord(now, n, rec, hash)
	n.clientStamp = e.stamp(now)
	n.client.Store(uint32(reported(rec)))
	e.setLease(n, rec, e.partition(b.Partition).policy)
	e.renewed(now, n)
	e.bind(now, n, b)
	e.publish(now, n)
	e.registered.add(Moment{Key: n.key, AtMS: now.UnixMilli()})
	return Done
}

// reported is the status a record claims; the reference server takes a missing
// one for UP.
func reported(r *Record) Status {
	if r.Status == None {
		return Up
	}
	return r.Status
}

func (e *Engine) insert(now time.Time, key Key, kept bool) *entry {
	n := &entry{key: key, registered: now.UnixMilli(), heardFrom: e.mono(now), dueIndex: -1, restored: neverRestored, kept: kept}
	n.setFlag(flagKept, kept)
	part := e.partition("")
	part.count(n, 1)
	n.part.Store(part)
	s := e.shard(key)
	s.mu.Lock()
	s.m[key] = n
	s.mu.Unlock()
	e.count++
	return n
}

// keepRecord takes the new record unless it says exactly what the old one said,
// so that a repeated registration does not show as a change.
func (e *Engine) keepRecord(now time.Time, n *entry, rec *Record, hash uint64) {
	same := n.rec != nil && n.version.Hash == hash
	n.version = Version{Epoch: e.stamp(now), Dirty: rec.Dirty, Hash: hash}
	if !same {
		e.setRecord(n, rec)
	}
	n.dirty.Store(rec.Dirty)
}

// setRecord keeps count of the memory that records take.
func (e *Engine) setRecord(n *entry, rec *Record) {
	if n.rec != nil {
		e.bytes -= n.rec.size()
	}
	if rec != nil {
		e.bytes += rec.size()
	}
	n.rec, n.shown = rec, nil
	n.dress()
}

// setLease takes the lease's numbers from the record, or the policy's for those
// it lacks, within the policy's bounds.
func (e *Engine) setLease(n *entry, rec *Record, p Policy) {
	interval, duration := rec.RenewalInterval, rec.LeaseDuration
	if interval <= 0 {
		interval = p.DefaultInterval
	}
	if duration <= 0 {
		duration = p.DefaultDuration
	}
	duration = max(p.MinDuration, min(duration, p.MaxDuration))
	interval = max(p.MinInterval, min(interval, p.MaxDuration))
	if p.MaxInterval > 0 {
		interval = min(interval, p.MaxInterval)
	}
	declared := rec.RenewalInterval
	if declared <= 0 {
		declared = interval
	}
	if n.declared.Swap(int64(declared)) != int64(declared) {
		n.lease.rhythm.forget()
	}
	// The client does not learn of the bounds, so its lease must outlast its rhythm.
	if rec.LeaseDuration > duration {
		duration = min(rec.LeaseDuration, max(duration, withJitter(declared)))
	}
	n.slowest.Store(int64(max(duration, declared)))
	if n.interval == interval && n.duration == duration {
		return
	}
	e.uncount(n)
	e.forgetInterval(n)
	n.interval, n.duration = interval, duration
	if !n.kept {
		e.intervals[interval]++
	}
}

func (e *Engine) forgetInterval(n *entry) {
	if n.interval == 0 || n.kept {
		return
	}
	if e.intervals[n.interval]--; e.intervals[n.interval] == 0 {
		delete(e.intervals, n.interval)
	}
}

// renewed makes the lease fresh, under the engine's mutex.
func (e *Engine) renewed(now time.Time, n *entry) {
	n.lease.renewed.Store(e.mono(now))
	n.lease.renewedMS.Store(now.UnixMilli())
	e.revive(now, n)
}

// bind gives the entry its place in the cluster and the verdict in force there.
func (e *Engine) bind(now time.Time, n *entry, b Binding) {
	old := n.binding
	if old.PodUID != b.PodUID {
		dropMember(e.pods, old.PodUID, n)
		if o := e.overrides[n.key]; o != nil && o.podUID == "" && b.PodUID != "" {
			e.setOverrideRecord(n.key, &override{status: o.status, at: o.at, podUID: b.PodUID, own: o.own}) // set before the pod was known
		}
	}
	if b.PodUID != "" {
		addMember(e.pods, b.PodUID, n)
		e.fence.freeKey(n.key) // the id has a living owner
	}
	if old.Node != b.Node {
		e.leaveNode(old.Node, n)
	}
	e.joinNode(b.Node, n)
	e.uncount(n)
	n.binding = b
	part := e.partition(b.Partition)
	if prev := n.part.Swap(part); prev != part {
		e.setLease(n, n.rec, part.policy)
		delete(prev.overdue, n)
		prev.count(n, -1)
		part.count(n, 1)
		e.judge(prev, e.mono(now))
	}
	n.setFlag(flagAwaited, b.awaited())
	n.setFlag(flagContested, b.Contested)
	n.dress()
	e.recount(now, n)
}

// Rebind changes what is known about an instance's pod.
func (e *Engine) Rebind(now time.Time, key Key, b Binding) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.entry(key)
	if n == nil || n.binding == b {
		return
	}
	e.bind(now, n, b)
	e.publish(now, n)
}

// SetVerdict puts the cluster's conclusion about an instance in force.
// It reports whether anything changed.
func (e *Engine) SetVerdict(now time.Time, key Key, v Verdict) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.entry(key)
	if n == nil || n.binding.Verdict == v {
		return false
	}
	e.uncount(n)
	n.binding.Verdict = v
	n.setFlag(flagAwaited, n.binding.awaited())
	e.recount(now, n)
	e.publish(now, n)
	return true
}

// Cancel removes an instance at its own request, and with it its override.
func (e *Engine) Cancel(now time.Time, c Caller, key Key) Outcome {
	if e.fence.blocks(e.mono(now), c, key) {
		return Fenced
	}
	e.Touch(now)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.setOverrideRecord(key, nil)
	n := e.entry(key)
	if n == nil {
		return NotFound
	}
	e.bury(now, n)
	e.remove(now, n, EndCancelled)
	return Done
}

// Remove takes an instance off the registry because its address now belongs to
// somebody else. This proves nothing about a pod, so nothing is fenced and the
// override stays.
func (e *Engine) Remove(now time.Time, key Key) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.entry(key)
	if n == nil {
		return
	}
	e.bury(now, n)
	e.remove(now, n, EndRemoved)
}

// Proof says that a pod is certainly gone.
type Proof struct {
	UID string
	// Addrs are the pod's addresses that nobody alive owns; with a port for pods on
	// the host network, which share their address with others, and port 0 for all
	// other pods.
	Addrs []netip.AddrPort
}

// Prove removes every instance bound to the dead pod, ends their overrides and
// fences the pod.
func (e *Engine) Prove(now time.Time, p Proof) {
	e.mu.Lock()
	defer e.mu.Unlock()
	keys := make([]Key, 0, len(e.pods[p.UID]))
	for n := range e.pods[p.UID] {
		keys = append(keys, n.key)
	}
	for key := range e.overridden[p.UID] {
		e.setOverrideRecord(key, nil)
		if n := e.entry(key); n != nil && n.binding.PodUID != p.UID {
			e.publish(now, n) // an id that several pods use
		}
	}
	for _, key := range keys {
		n := e.entry(key)
		e.bury(now, n)
		e.remove(now, n, EndProven)
	}
	e.fence.add(e.mono(now), p, keys)
	e.revision.Add(1)
}

// remove drops the entry itself; whether it is buried is the caller's business.
func (e *Engine) remove(now time.Time, n *entry, reason string) {
	e.ended.add(Moment{Key: n.key, AtMS: now.UnixMilli(), Reason: reason})
	n.setFlag(flagGone, true)
	s := e.shard(n.key)
	s.mu.Lock()
	delete(s.m, n.key)
	s.mu.Unlock()
	e.count--
	e.due.remove(n)
	e.unmark(n)
	e.uncount(n)
	e.forgetInterval(n)
	part := n.part.Load()
	delete(part.overdue, n)
	part.count(n, -1)
	dropMember(e.pods, n.binding.PodUID, n)
	e.leaveNode(n.binding.Node, n)
	if e.withdraw(now, n) {
		e.keepFloor(now, n.key.App)
	}
	e.setRecord(n, nil)
	e.judge(part, e.mono(now))
}

func addMember[V comparable](m map[string]map[V]struct{}, name string, n V) {
	if m[name] == nil {
		m[name] = map[V]struct{}{}
	}
	m[name][n] = struct{}{}
}

func dropMember[V comparable](m map[string]map[V]struct{}, name string, n V) {
	delete(m[name], n)
	if len(m[name]) == 0 {
		delete(m, name)
	}
}
