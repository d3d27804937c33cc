package registry

import (
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
)

// MemoSlots is the number of derived values an immutable segment or snapshot can
// carry. What the slots mean is the reader's business: one per body format.
const MemoSlots = 4

// Memo is a value derived once from something immutable. It lives and dies with
// it, so nothing has to be invalidated.
type Memo struct {
	once  sync.Once
	value any
}

// Get returns the derived value, building it on the first call. Concurrent first
// calls build once.
func (m *Memo) Get(build func() any) any {
	m.once.Do(func() { m.value = build() })
	return m.value
}

// Action is the last kind of change of an instance, as the protocol names it.
type Action uint8

// The protocol's change kinds.
const (
	Added Action = iota
	Modified
	Deleted
)

var actionNames = [...]string{"ADDED", "MODIFIED", "DELETED"}

// String returns the protocol's name.
func (a Action) String() string { return actionNames[a] }

// MarshalText implements encoding.TextMarshaler.
func (a Action) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *Action) UnmarshalText(text []byte) error {
	i := slices.Index(actionNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("unknown action %q", text)
	}
	*a = Action(i)
	return nil
}

// Instance is one instance as it was shown at one moment. It is immutable, but
// for LastRenewal, which is read from the live lease.
type Instance struct {
	*Record
	// Status is what the world sees; Client is what the client reported last.
	Status, Client Status
	// Override is the operator's override, None when there is none.
	Override Status
	// Verdict is the cluster's conclusion in force, with its reason.
	Verdict Verdict
	Action  Action
	// Kept says that the instance is kept for its pod and sends no heartbeats.
	Kept bool
	// Binding facts for readers: the pod the instance belongs to, if any.
	Partition, PodUID, Node string
	// Interval and Duration are the lease's effective numbers.
	Interval, Duration int // seconds
	// Wall-clock times in Unix ms; zero when it never happened.
	RegisteredMS, UpdatedMS, ServiceUpMS, EvictedMS int64

	version int64 // of the snapshot that showed it first
	changed int64 // mono of that moment
	lease   *lease
}

// LastRenewalMS returns the time of the last renewal in Unix ms, live.
func (i *Instance) LastRenewalMS() int64 { return i.lease.renewedMS.Load() }

// Snapshot is the whole registry at one moment. It is immutable and may be kept.
type Snapshot struct {
	// Version grows with every change; it is the delta's versions__delta.
	Version int64
	// Counts are the listed instances by status.
	Counts Counts

	byKey    tree // (APP, id)
	byID     tree // (id, APP)
	byVIP    tree // (vip, APP id)
	bySecure tree // (svip, APP id)
	changes  tree // the change log's newest entries, by changeKey

	memos [MemoSlots]Memo
}

// Len returns the number of listed instances.
func (s *Snapshot) Len() int { return s.byKey.len() }

// Get returns one listed instance, nil if there is none.
func (s *Snapshot) Get(key Key) *Instance { return s.byKey.get(key) }

// Segments yields the registry in key order, a segment at a time.
func (s *Snapshot) Segments() iter.Seq[*Segment] { return s.byKey.segments() }

// All yields every listed instance in key order.
func (s *Snapshot) All() iter.Seq[*Instance] { return values(s.byKey.ascend(Key{})) }

// App yields the listed instances of an application (upper case) by id.
func (s *Snapshot) App(app string) iter.Seq[*Instance] {
	return prefixed(s.byKey, app)
}

// ByID yields the listed instances with this id, in any application.
func (s *Snapshot) ByID(id string) iter.Seq[*Instance] { return prefixed(s.byID, id) }

// VIP yields the instances whose vipAddress list names vip, by application and id.
func (s *Snapshot) VIP(vip string) iter.Seq[*Instance] { return prefixed(s.byVIP, vip) }

// SecureVIP is VIP for secureVipAddress.
func (s *Snapshot) SecureVIP(vip string) iter.Seq[*Instance] { return prefixed(s.bySecure, vip) }

// Changes yields the newest change of every instance that changed within the
// retention: application by application and, within one, additions and
// modifications before deletions, because clients that delete first can drop the
// application on the way. A deleted instance is shown UP: some clients skip
// others.
func (s *Snapshot) Changes() iter.Seq[*Instance] { return values(s.changes.ascend(Key{})) }

// ChangeSegments yields the changes in the order of Changes, a segment at a time.
func (s *Snapshot) ChangeSegments() iter.Seq[*Segment] { return s.changes.segments() }

// ChangeCount returns the number of changes.
func (s *Snapshot) ChangeCount() int { return s.changes.len() }

// changeKey sorts the deletions of an application behind its other changes.
func changeKey(i *Instance) Key {
	if i.Action == Deleted {
		return Key{i.App, "1" + i.ID}
	}
	return Key{i.App, "0" + i.ID}
}

// departed reports whether the change log tells of the instance that it is gone.
func (s *Snapshot) departed(k Key) bool { return s.changes.get(Key{k.App, "1" + k.ID}) != nil }

// Memo returns the snapshot's slot for values derived from it.
func (s *Snapshot) Memo(slot int) *Memo { return &s.memos[slot] }

// lease is the part of an instance that heartbeats touch without any lock.
type lease struct {
	renewed   atomic.Int64 // monotonic ns since the engine's epoch
	renewedMS atomic.Int64 // the same moment in Unix ms
	rhythm    rhythm
}

func values(seq iter.Seq2[Key, *Instance]) iter.Seq[*Instance] {
	return func(yield func(*Instance) bool) {
		for _, inst := range seq {
			if !yield(inst) {
				return
			}
		}
	}
}

func prefixed(t tree, first string) iter.Seq[*Instance] {
	return func(yield func(*Instance) bool) {
		for key, inst := range t.ascend(Key{App: first}) {
			if key.App != first || !yield(inst) {
				return
			}
		}
	}
}
