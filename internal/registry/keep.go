package registry

import "time"

// Keep lists an instance of a pod that sends no heartbeats, or shows what changed
// about it. Such an instance has no lease: it neither expires nor counts in
// renewals, and a heartbeat for it is answered NotFound, so that a client who has
// the id registers. It leaves by Remove, Cancel or Prove, or when a client
// registers its id. The caller says in rec.Status what the pod's own word is.
//
// It returns Full like Register. An id that a client keeps is left alone.
func (e *Engine) Keep(now time.Time, rec *Record, b Binding) Outcome {
	hash := contentHash(rec)
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.entry(rec.Key())
	switch {
	case n != nil && !n.kept:
		return Done
	case n == nil && (e.count >= e.opts.MaxInstances || e.bytes >= e.opts.MaxBytes):
		return Full
	case n == nil:
		n = e.insert(now, rec.Key(), true)
		n.lease.renewed.Store(e.mono(now))
		n.lease.renewedMS.Store(now.UnixMilli())
		e.registered.add(Moment{Key: n.key, AtMS: now.UnixMilli()})
	}
	e.keepRecord(now, n, rec, hash)
	if status := reported(rec); Status(n.client.Load()) != status {
		n.client.Store(uint32(status))
		n.clientStamp = e.stamp(now)
	}
	e.setLease(n, rec, e.partition(b.Partition).policy)
	e.bind(now, n, b)
	e.publish(now, n)
	return Done
}

// handOver makes an instance that was kept for its pod one that its client keeps.
func (e *Engine) handOver(now time.Time, n *entry) {
	if !n.kept {
		return
	}
	part := n.part.Load()
	part.count(n, -1)
	n.kept, n.heardFrom = false, e.mono(now)
	n.setFlag(flagKept, false)
	part.count(n, 1)
	n.interval, n.duration = 0, 0 // so that they are counted from now on
}

// count keeps the number of the partition's instances.
func (p *partition) count(n *entry, by int) {
	if n.kept {
		p.kept += by
	} else {
		p.members += by
	}
}

// leased returns an entry that a client keeps, nil if there is none.
func (e *Engine) leased(key Key) *entry {
	if n := e.entry(key); n != nil && !n.has(flagKept) {
		return n
	}
	return nil
}
