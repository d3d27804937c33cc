package registry

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

const (
	// maxAge bounds the ages in a checkpoint; what is older is as good as this.
	maxAge = 30 * 24 * time.Hour
	// maxVersion bounds versions, so that they can go on growing.
	maxVersion = int64(1) << 62

	neverRestored = math.MinInt64
)

// Restore goes on where the engine stopped that made the checkpoint. It must be
// called on a new engine whose policies are set, before anything else, and leaves
// it unusable if it returns an error.
//
// What is shown is what was shown, with a version above all versions before. Time
// away does not count: the change log, fences and leases are as old as they were.
// Every lease gets one interval of grace on top, because the last heartbeat may
// have met nobody, and nothing expires for as long as clients may back off after
// the absence.
func (e *Engine) Restore(now time.Time, cp *Checkpoint) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := cp.validate(); err != nil {
		return fmt.Errorf("restoring the registry: %w", err)
	}
	e.epoch = now.Add(-maxAge - time.Hour) // moments before the start are positive, too
	t := e.mono(now)
	e.lastReq.Store(t)
	e.clock = cp.Clock
	e.credit = t + creditFor(int64(max(0, now.Sub(time.UnixMilli(cp.SavedMS)))))
	for name, rest := range cp.Credits {
		e.partition(name).credit = t + int64(bounded(rest))
	}
	for _, o := range cp.Overrides {
		e.setOverrideRecord(o.Key, &override{status: o.Status, at: o.At, podUID: o.PodUID, own: o.Own})
	}
	slices.SortFunc(cp.Tombstones, func(a, b SavedTombstone) int { return cmp.Compare(b.Age, a.Age) })
	for _, b := range cp.Tombstones {
		buried := tombstone{b.Key, b.Stamp, t - int64(bounded(b.Age)), b.Dirty}
		e.tombstones[b.Key] = buried
		e.tombQueue.push(buried)
	}
	for i := range cp.Fences {
		e.fence.restore(t, &cp.Fences[i])
	}
	for i := range cp.Instances {
		if err := e.restoreInstance(t, &cp.Instances[i]); err != nil {
			return fmt.Errorf("restoring the registry: %w", err)
		}
	}
	for _, p := range e.partitions {
		e.judge(p, t)
	}
	e.show(now, cp)
	return nil
}

func (cp *Checkpoint) validate() error {
	if cp.Version < 0 || cp.Version > maxVersion || cp.Clock.MS < 0 || cp.Clock.MS > maxVersion {
		return fmt.Errorf("version %d of moment %d is out of range", cp.Version, cp.Clock.MS)
	}
	for i := range cp.Instances {
		if err := cp.Instances[i].Record.validate(); err != nil {
			return err
		}
	}
	for i := range cp.Deletions {
		if err := cp.Deletions[i].Record.validate(); err != nil {
			return err
		}
	}
	return nil
}

func (r *Record) validate() error {
	if r == nil {
		return errors.New("an instance without a record")
	}
	ports := []int{r.Port.Number, r.SecurePort.Number}
	if r.App == "" || r.ID == "" || r.App != strings.ToUpper(r.App) || slices.Min(ports) < 0 || slices.Max(ports) > math.MaxUint16 ||
		r.RenewalInterval < 0 || r.RenewalInterval > 0 && r.RenewalInterval < time.Second || r.LeaseDuration < 0 {
		return fmt.Errorf("the record of %q cannot be one that was registered", r.Key())
	}
	return nil
}

// bounded is an age that can be reckoned with.
func bounded(d time.Duration) time.Duration { return min(maxAge, max(0, d)) }

// restoreInstance brings back one instance with its lease, but shows it to nobody.
func (e *Engine) restoreInstance(t int64, s *SavedInstance) error {
	key := s.Record.Key()
	shard := e.shard(key)
	if shard.m[key] != nil {
		return fmt.Errorf("%s is there twice", key)
	}
	n := &entry{
		key: key, version: Version{Epoch: s.Epoch, Dirty: s.Record.Dirty, Hash: contentHash(s.Record)}, clientStamp: s.ClientAt,
		binding: s.Binding, registered: s.RegisteredMS, serviceUp: s.ServiceUpMS, dueIndex: -1,
		heardFrom: t, // all were cut off until now
		kept:      s.Kept,
	}
	n.setFlag(flagKept, s.Kept)
	shard.m[key] = n
	e.count++
	e.setRecord(n, s.Record)
	n.dirty.Store(s.Record.Dirty)
	n.client.Store(uint32(cmp.Or(s.Client, Up)))
	part := e.partition(s.Binding.Partition)
	part.count(n, 1)
	n.part.Store(part)
	e.setLease(n, s.Record, part.policy)
	if uid := s.Binding.PodUID; uid != "" {
		addMember(e.pods, uid, n)
	}
	e.joinNode(s.Binding.Node, n)
	n.setFlag(flagAwaited, s.Binding.awaited())
	n.setFlag(flagContested, s.Binding.Contested)
	if s.Kept {
		n.lease.renewed.Store(t)
		n.lease.renewedMS.Store(s.RenewedMS)
		return nil
	}
	n.restoreLease(t, s)
	part.protect(n)
	if s.Marked {
		e.mark(n)
	}
	e.rearm(n)
	return nil
}

// restoreLease makes the lease as old as it was, less one interval. One that was
// marked stays overdue, or the mark would go with nothing heard.
func (n *entry) restoreLease(t int64, s *SavedInstance) {
	silence := bounded(s.Silence)
	counts := max(0, silence-n.interval)
	if s.Marked {
		counts = max(counts, n.duration+1)
	}
	n.restored, n.grace = t-int64(counts), int64(silence-counts)
	n.lease.renewed.Store(n.restored)
	n.lease.renewedMS.Store(s.RenewedMS)
	n.lease.rhythm.restore(s.Gaps)
	n.setFlag(flagLate, int64(counts) > n.lateAfter())
	n.setFlag(flagOverdue, counts > n.duration)
}

// show builds the snapshot and the change log at once: one by one would take a
// hundred times as long.
func (e *Engine) show(now time.Time, cp *Checkpoint) {
	t := e.mono(now)
	snap := &Snapshot{}
	all, changes := make([]item, 0, len(cp.Instances)), make([]item, 0, len(cp.Instances)+len(cp.Deletions))
	for i := range cp.Instances {
		s := &cp.Instances[i]
		if !s.Shown || s.Binding.Unlisted {
			continue
		}
		n := e.entry(s.Record.Key())
		view := e.build(now, n)
		view.Action, view.UpdatedMS, view.version, view.changed = s.Action, s.UpdatedMS, s.Version, t-int64(bounded(s.Age))
		n.view = view
		snap.Counts.add(view.Status, 1)
		e.appCount(n.key.App).move(nil, view)
		all = append(all, listItem(view))
		if s.Action != Deleted && s.Age <= ChangeRetention { // as long as the log keeps it
			changes = append(changes, changeItem(view))
		}
	}
	for i := range cp.Deletions {
		gone := cp.Deletions[i].instance(t)
		changes = append(changes, changeItem(gone))
	}
	slices.SortFunc(changes, func(a, b item) int { return cmp.Compare(a.inst.changed, b.inst.changed) })
	for _, c := range changes {
		e.log.push(logged{c.key, c.inst.version, c.inst.changed})
	}
	snap.byKey, snap.changes = grow(all), grow(changes)
	snap.byID, snap.byVIP, snap.bySecure = growIndexes(all)
	snap.Version = e.nextVersion(&Snapshot{Version: cp.Version}, now)
	e.snap.Store(snap)
}

func (d *SavedDeletion) instance(t int64) *Instance {
	gone := &Instance{
		Record: d.Record, Status: Up, Client: d.Client, Override: d.Override, Action: Deleted, Interval: d.Interval, Duration: d.Duration,
		Partition: d.Binding.Partition, PodUID: d.Binding.PodUID, Node: d.Binding.Node, Verdict: d.Binding.Verdict,
		RegisteredMS: d.RegisteredMS, UpdatedMS: d.UpdatedMS, ServiceUpMS: d.ServiceUpMS, EvictedMS: d.EvictedMS,
		version: d.Version, changed: t - int64(bounded(d.Age)), lease: &lease{},
	}
	gone.lease.renewedMS.Store(d.RenewedMS)
	return gone
}

// growIndexes builds the indexes by id and by vip names.
func growIndexes(all []item) (byID, byVIP, bySecure tree) {
	ids, vips, secure := make([]item, 0, len(all)), make([]item, 0, len(all)), make([]item, 0, len(all))
	for _, it := range all {
		ids = append(ids, idItem(it.inst))
		vips = slices.AppendSeq(vips, nameItems(it.inst.VIP, it.inst))
		secure = slices.AppendSeq(secure, nameItems(it.inst.SecureVIP, it.inst))
	}
	return grow(ids), grow(vips), grow(secure)
}

// restore brings a fence back for as long as it still stood.
func (f *fence) restore(t int64, s *SavedFence) {
	f.add(t-int64(bounded(s.Age)), Proof{UID: s.UID, Addrs: s.Addrs}, s.Keys)
	f.byUID[s.UID].until.Store(t + min(int64(FenceRetention), int64(bounded(s.Rest))))
}
