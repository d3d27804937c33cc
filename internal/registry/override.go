package registry

import "time"

const (
	// maxOverrides bounds the overrides of instances that have no record any more;
	// those that have one are bounded by the instances.
	maxOverrides = 50_000
	// maxMetadata bounds what PutMetadata can make of a record.
	maxMetadata = 1000
)

// override is a status set by an operator or a script. It is kept apart from the
// record, so that it survives the record's eviction.
type override struct {
	status Status
	at     Stamp
	podUID string
	own    bool // set from the pod's own address
}

// overrideOf returns the override in force for the entry. One that was set on
// another pod with the same id is not; while the entry is bound to no pod, it is.
func (e *Engine) overrideOf(n *entry) *override {
	o := e.overrides[n.key]
	if o == nil || o.status == None || o.podUID != n.binding.PodUID && n.binding.PodUID != "" {
		return nil
	}
	return o
}

// setOverrideRecord stores an override, or drops it if o is nil.
func (e *Engine) setOverrideRecord(key Key, o *override) {
	e.revision.Add(1)
	if old := e.overrides[key]; old != nil {
		dropMember(e.overridden, old.podUID, key)
	}
	if o == nil {
		delete(e.overrides, key)
		return
	}
	e.overrides[key] = o
	if o.podUID != "" {
		addMember(e.overridden, o.podUID, key)
	}
}

// SetOverride pins an instance to a status until it is cleared, the client
// cancels, or its pod ends. A DOWN, STARTING or OUT_OF_SERVICE that the client
// reports afterwards still wins.
func (e *Engine) SetOverride(now time.Time, c Caller, key Key, s Status) Outcome {
	return e.change(now, c, key, func(n *entry) {
		if len(e.overrides) >= maxOverrides && e.overrides[key] == nil {
			e.forgetOrphanOverride()
		}
		e.setOverrideRecord(key, &override{
			status: s, at: e.stamp(now), podUID: n.binding.PodUID,
			own: c.PodUID != "" && c.PodUID == n.binding.PodUID,
		})
	})
}

// ClearOverride ends the override. What the client reported last shows at once.
func (e *Engine) ClearOverride(now time.Time, c Caller, key Key) Outcome {
	return e.change(now, c, key, func(*entry) { e.endOverride(now, key) })
}

// endOverride leaves a stamped "none", so that a replica that still has the
// override learns that it ended.
func (e *Engine) endOverride(now time.Time, key Key) {
	if o := e.overrides[key]; o != nil {
		e.setOverrideRecord(key, &override{at: e.stamp(now), podUID: o.podUID})
	}
}

// EndOwnOverride ends an override that was set from the pod's own address: what
// a preStop script asked for does not outlive the container it stopped.
func (e *Engine) EndOwnOverride(now time.Time, key Key) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if o := e.overrides[key]; o == nil || !o.own {
		return
	}
	e.endOverride(now, key)
	if n := e.entry(key); n != nil {
		e.publish(now, n)
	}
}

// PutMetadata merges entries into the record's metadata. As in the reference
// server the client's timestamp stays, so its next registration replaces them.
func (e *Engine) PutMetadata(now time.Time, c Caller, key Key, pairs []Pair) Outcome {
	return e.change(now, c, key, func(n *entry) {
		rec := *n.rec
		rec.Metadata = mergePairs(rec.Metadata, pairs)
		if len(rec.Metadata) > maxMetadata {
			return
		}
		if h := contentHash(&rec); h != n.version.Hash {
			e.setRecord(n, &rec)
			n.version = Version{Epoch: e.stamp(now), Dirty: rec.Dirty, Hash: h}
		}
	})
}

// change runs one operator's request against an existing record.
func (e *Engine) change(now time.Time, c Caller, key Key, apply func(*entry)) Outcome {
	if e.fence.blocks(e.mono(now), c, key) {
		return Fenced
	}
	e.Touch(now)
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.entry(key)
	if n == nil {
		return NotFound
	}
	apply(n)
	e.publish(now, n)
	return Done
}

// forgetOrphanOverride drops the oldest override that has no record.
func (e *Engine) forgetOrphanOverride() {
	var oldest Key
	var at *override
	for key, o := range e.overrides {
		if e.entry(key) == nil && (at == nil || at.at.after(o.at)) {
			oldest, at = key, o
		}
	}
	if at != nil {
		e.setOverrideRecord(oldest, nil)
	}
}

func mergePairs(old, pairs []Pair) []Pair {
	out := append([]Pair(nil), old...)
next:
	for _, p := range pairs {
		for i := range out {
			if out[i].Key == p.Key {
				out[i].Value = p.Value
				continue next
			}
		}
		out = append(out, p)
	}
	return out
}
