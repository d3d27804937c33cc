package registry

import (
	"net/netip"
	"time"
)

// Checkpoint is everything an engine has to remember so that its successor can
// go on where it stopped. It is a value without any tie to the engine; records
// are shared, because they are immutable. The names of its fields are those of
// the snapshot file and must not change.
//
// Moments of the engine's own time are kept as ages: the time between a
// checkpoint and its restoration does not exist for the engine.
type Checkpoint struct {
	SavedMS int64 // Unix ms
	// Version is the snapshot's, Clock the last stamp.
	Version    int64
	Clock      Stamp
	Instances  []SavedInstance
	Deletions  []SavedDeletion
	Overrides  []SavedOverride
	Tombstones []SavedTombstone
	Fences     []SavedFence
	// Credits is for how long nothing expires, by partition.
	Credits map[string]time.Duration
}

// SavedInstance is one registration with its lease.
type SavedInstance struct {
	Record   *Record `json:",omitzero"`
	Epoch    Stamp   `json:",omitzero"` // of the registration
	Client   Status  `json:",omitzero"`
	ClientAt Stamp   `json:",omitzero"`
	Binding  Binding `json:",omitzero"`
	Kept     bool    `json:",omitzero"`  // for its pod, without heartbeats
	Marked   bool    `json:",omitempty"` // shown out of service, because its lease is held and its process silent

	RegisteredMS, ServiceUpMS, RenewedMS int64 `json:",omitzero"` // Unix ms
	// Silence is the time since the last renewal, Gaps are those between the last
	// four, the newest first; zero where there were fewer.
	Silence time.Duration    `json:",omitzero"`
	Gaps    [3]time.Duration `json:",omitzero"`

	// What is shown, if the instance is listed: its newest change, the version that
	// showed it first, and how long ago that was.
	Shown     bool          `json:",omitzero"`
	Action    Action        `json:",omitzero"`
	UpdatedMS int64         `json:",omitzero"`
	Version   int64         `json:",omitzero"`
	Age       time.Duration `json:",omitzero"`
}

// SavedDeletion is an entry of the change log about an instance that is gone.
type SavedDeletion struct {
	Record                                          *Record       `json:",omitzero"` // without metadata
	Client, Override                                Status        `json:",omitzero"`
	Binding                                         Binding       `json:",omitzero"` // as it was shown
	Interval, Duration                              int           `json:",omitzero"` // seconds
	RegisteredMS, UpdatedMS, ServiceUpMS, EvictedMS int64         `json:",omitzero"`
	RenewedMS                                       int64         `json:",omitzero"`
	Version                                         int64         `json:",omitzero"`
	Age                                             time.Duration `json:",omitzero"`
}

// SavedOverride is an override, or the memory that there was one.
type SavedOverride struct {
	Key    Key    `json:",omitzero"`
	Status Status `json:",omitzero"`
	At     Stamp  `json:",omitzero"`
	PodUID string `json:",omitempty"`
	Own    bool   `json:",omitempty"`
}

// SavedTombstone is the memory of a cancel.
type SavedTombstone struct {
	Key   Key
	Stamp Stamp
	Age   time.Duration
	Dirty int64 `json:",omitzero"` // of the record that was removed
}

// SavedFence is a fenced pod with what nobody alive has taken since.
type SavedFence struct {
	UID   string           `json:",omitzero"`
	Addrs []netip.AddrPort `json:",omitzero"`
	Keys  []Key            `json:",omitzero"`
	// Age is the time since the proof, Rest how long the fence still stands.
	Age, Rest time.Duration `json:",omitzero"`
}

// Revision grows with every change that is worth a new checkpoint. Heartbeats
// that change nothing but ages do not count.
func (e *Engine) Revision() uint64 { return e.revision.Load() }

// Checkpoint returns what the engine remembers now. It holds up writers, but
// neither readers nor usual heartbeats, for less than a millisecond per 1,000
// instances.
func (e *Engine) Checkpoint(now time.Time) *Checkpoint {
	cp, snap := e.remember(now)
	cp.Deletions = snap.deletions(e.mono(now)) // it is immutable, so nobody has to wait
	return cp
}

// remember returns the checkpoint without deletions, and the snapshot of the same
// moment, which has them.
func (e *Engine) remember(now time.Time) (*Checkpoint, *Snapshot) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t, snap := e.mono(now), e.snap.Load()
	cp := &Checkpoint{
		SavedMS: now.UnixMilli(), Version: snap.Version, Clock: e.clock, Credits: e.credits(t),
		Instances:  make([]SavedInstance, 0, e.count),
		Overrides:  make([]SavedOverride, 0, len(e.overrides)),
		Tombstones: make([]SavedTombstone, 0, len(e.tombstones)),
	}
	e.each(func(n *entry) bool {
		cp.Instances = append(cp.Instances, n.saved(t))
		return true
	})
	for key, o := range e.overrides {
		cp.Overrides = append(cp.Overrides, SavedOverride{key, o.status, o.at, o.podUID, o.own})
	}
	for _, b := range e.tombQueue.items[e.tombQueue.head:] {
		if e.tombstones[b.key] == b {
			cp.Tombstones = append(cp.Tombstones, SavedTombstone{b.key, b.stamp, time.Duration(t - b.at), b.dirty})
		}
	}
	cp.Fences = e.fence.saved(t)
	return cp, snap
}

func (n *entry) saved(t int64) SavedInstance {
	renewed := n.lease.renewed.Load()
	if renewed == n.restored {
		renewed -= n.grace // not heard since the start: what was added then is no sign of life
	}
	s := SavedInstance{
		Record: n.rec, Epoch: n.version.Epoch, Client: Status(n.client.Load()), ClientAt: n.clientStamp,
		Binding: n.binding, Kept: n.kept, Marked: n.marked,
		RegisteredMS: n.registered, ServiceUpMS: n.serviceUp, RenewedMS: n.lease.renewedMS.Load(),
		Silence: time.Duration(max(0, t-renewed)), Gaps: n.lease.rhythm.saved(),
	}
	if v := n.view; v != nil {
		s.Shown, s.Action, s.UpdatedMS, s.Version, s.Age = true, v.Action, v.UpdatedMS, v.version, time.Duration(t-v.changed)
	}
	return s
}

func (s *Snapshot) deletions(t int64) []SavedDeletion {
	var out []SavedDeletion
	for change := range s.Changes() {
		if change.Action != Deleted {
			continue
		}
		out = append(out, SavedDeletion{
			Record: change.Record, Client: change.Client, Override: change.Override,
			Binding:  Binding{Partition: change.Partition, PodUID: change.PodUID, Node: change.Node, Verdict: change.Verdict},
			Interval: change.Interval, Duration: change.Duration,
			RegisteredMS: change.RegisteredMS, UpdatedMS: change.UpdatedMS, ServiceUpMS: change.ServiceUpMS, EvictedMS: change.EvictedMS,
			RenewedMS: change.LastRenewalMS(), Version: change.version, Age: time.Duration(t - change.changed),
		})
	}
	return out
}

func (e *Engine) credits(t int64) map[string]time.Duration {
	out := map[string]time.Duration{}
	for name, p := range e.partitions {
		if p.credit > t {
			out[name] = time.Duration(p.credit - t)
		}
	}
	return out
}

func (f *fence) saved(t int64) []SavedFence {
	f.mu.RLock()
	defer f.mu.RUnlock()
	out := make([]SavedFence, 0, len(f.byUID))
	for _, x := range f.byUID {
		s := SavedFence{UID: x.uid, Age: time.Duration(t - x.since), Rest: time.Duration(x.until.Load() - t)}
		for _, a := range x.addrs {
			if f.byAddr[a] == x {
				s.Addrs = append(s.Addrs, a)
			}
		}
		for _, k := range x.keys {
			if f.byKey[k] == x {
				s.Keys = append(s.Keys, k)
			}
		}
		out = append(out, s)
	}
	return out
}
