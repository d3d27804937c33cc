package registry

import "time"

// tombstoneRetention is how long a cancel is remembered, so that a late copy of
// the record from a peer does not bring it back.
const tombstoneRetention = 10 * time.Minute

// maxTombstones bounds the memory of cancels.
const maxTombstones = 100_000

type tombstone struct {
	key   Key
	stamp Stamp
	at    int64
	dirty int64 // of the record that was removed
}

// State is what replicas tell each other about one key. Its parts end at
// different moments, so each carries its own version. The zero value is "nothing
// known".
type State struct {
	Record  *Record // as registered; immutable
	Version Version
	// Client is the status reported last, by a registration or a heal at ClientAt.
	Client   Status
	ClientAt Stamp
	// Override is None after a clear; OverrideAt orders settings and clears.
	Override   Status
	OverrideAt Stamp
	// Cancelled hides every record registered no later. Evictions set none.
	Cancelled Stamp
	// RenewedMS is the last renewal known to anybody, in Unix ms.
	RenewedMS int64
}

// Live reports whether the state has a record that no cancel hides.
func (s State) Live() bool { return s.Record != nil && s.Version.Epoch.after(s.Cancelled) }

// Merge combines what two replicas know. It is commutative, associative and
// idempotent, so replicas that have heard the same things in any order, any
// number of times, agree.
func Merge(a, b State) State {
	out := a
	if b.Record != nil && (a.Record == nil || b.Version.compare(a.Version) > 0) {
		out.Record, out.Version = b.Record, b.Version
	}
	if c := b.ClientAt.compare(a.ClientAt); c > 0 || c == 0 && b.Client > a.Client {
		out.Client, out.ClientAt = b.Client, b.ClientAt
	}
	if c := b.OverrideAt.compare(a.OverrideAt); c > 0 || c == 0 && b.Override > a.Override {
		out.Override, out.OverrideAt = b.Override, b.OverrideAt
	}
	if b.Cancelled.after(a.Cancelled) {
		out.Cancelled = b.Cancelled
	}
	out.RenewedMS = max(a.RenewedMS, b.RenewedMS)
	return out
}

// bury remembers that the entry was cancelled now.
func (e *Engine) bury(now time.Time, n *entry) {
	t := tombstone{n.key, e.stamp(now), e.mono(now), n.dirty.Load()}
	e.tombstones[n.key] = t
	e.tombQueue.push(t)
}

// stale reports whether a copy that a peer sends is no newer than the record, or
// than the one that was removed last: peers send copies late and out of order.
func (e *Engine) stale(n *entry, copied *Record) bool {
	if n != nil {
		return copied.Dirty <= n.dirty.Load()
	}
	t, buried := e.tombstones[copied.Key()]
	return buried && copied.Dirty <= t.dirty
}

// State returns what this replica knows about a key.
func (e *Engine) State(key Key) State {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := State{Cancelled: e.tombstones[key].stamp}
	if o := e.overrides[key]; o != nil {
		s.Override, s.OverrideAt = o.status, o.at
	}
	if n := e.entry(key); n != nil {
		s.Record, s.Version = n.rec, n.version
		s.Client, s.ClientAt = Status(n.client.Load()), n.clientStamp
		s.RenewedMS = n.lease.renewedMS.Load()
	}
	return s
}
