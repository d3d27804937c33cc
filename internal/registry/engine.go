package registry

import (
	"hash/maphash"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Limits and retentions of the engine.
const (
	// ChangeRetention is how long a change stays in the delta. Clients fetch every
	// 30 s and may miss a few fetches.
	ChangeRetention = 3 * time.Minute
	// DefaultMaxInstances bounds the registry when Options leave it unset.
	DefaultMaxInstances = 250_000
	// DefaultMaxBytes is room for that many instances of usual size.
	DefaultMaxBytes = 512 << 20

	// maxChanges bounds the change log. A client that misses a change because of it
	// sees that its hash differs and fetches everything.
	maxChanges = 200_000
	// maxVIPNames bounds the names of one vip attribute that are indexed.
	maxVIPNames = 64

	shardCount = 64
)

// Options configure an engine.
type Options struct {
	// Policy is in force everywhere until SetPolicies is called.
	Policy Policy
	// MaxInstances bounds the number of records; registrations beyond it are
	// answered Full. Zero means DefaultMaxInstances.
	MaxInstances int
	// MaxBytes bounds the estimated encoded size of all records; new ones beyond it
	// are answered Full. Zero means DefaultMaxBytes.
	MaxBytes int
	// Remembered is how long after the start a registration may be of an instance
	// that clients still hold from before, though this engine has never heard of it.
	Remembered time.Duration
	// Slot tells replicas apart in versions: 0 to 1023.
	Slot uint16
}

// Engine is the registry. Heartbeats take no lock that another request holds for
// longer than a map access; everything that changes what is shown is serialised
// by one mutex and published as a new snapshot before the call returns.
type Engine struct {
	epoch time.Time
	opts  Options
	seed  maphash.Seed

	snap    atomic.Pointer[Snapshot]
	lastReq atomic.Int64 // mono of the last client request
	fence   fence
	shards  [shardCount]shard

	revision atomic.Uint64 // counts what is worth a new checkpoint

	mu         sync.Mutex // guards what follows, and every entry's cold part
	count      int
	bytes      int // estimated encoded size of all records
	clock      Stamp
	fresh      bool
	partitions map[string]*partition
	overrides  map[Key]*override
	overridden map[string]map[Key]struct{} // their keys, by pod UID
	tombstones map[Key]tombstone
	tombQueue  queue[tombstone]
	pods       map[string]map[*entry]struct{}
	nodes      map[string]*nodeState
	apps       map[string]*capacity
	intervals  map[time.Duration]int
	due        dueHeap
	log        queue[logged]
	scans      int   // whole-registry scans this tick may still make
	credit     int64 // mono until which nothing expires
	lastTick   int64
	happened   []Transition
	registered latest
	ended      latest
}

type shard struct {
	mu sync.RWMutex
	m  map[Key]*entry
}

// New returns an empty engine whose time starts at now.
func New(now time.Time, opts Options) *Engine {
	if opts.Policy == (Policy{}) {
		opts.Policy = DefaultPolicy()
	}
	if opts.MaxInstances <= 0 {
		opts.MaxInstances = DefaultMaxInstances
	}
	if opts.MaxBytes <= 0 {
		opts.MaxBytes = DefaultMaxBytes
	}
	e := &Engine{
		epoch:      now,
		opts:       opts,
		seed:       maphash.MakeSeed(),
		partitions: map[string]*partition{},
		overrides:  map[Key]*override{},
		overridden: map[string]map[Key]struct{}{},
		tombstones: map[Key]tombstone{},
		pods:       map[string]map[*entry]struct{}{},
		nodes:      map[string]*nodeState{},
		apps:       map[string]*capacity{},
		intervals:  map[time.Duration]int{},
		lastTick:   -1,
	}
	for i := range e.shards {
		e.shards[i].m = map[Key]*entry{}
	}
	e.fence.init()
	e.snap.Store(&Snapshot{Version: e.nextVersion(&Snapshot{}, now)})
	return e
}

// Snapshot returns the registry as it is now. A call that starts after a write
// has returned includes that write.
func (e *Engine) Snapshot() *Snapshot { return e.snap.Load() }

// Touch notes that a client asked for something, so that silence of the whole
// world can be told from silence of a few leases.
func (e *Engine) Touch(now time.Time) { e.lastReq.Store(e.mono(now)) }

// policyChunk is how many leases get their new numbers before others may have the
// engine: all of them at once would hold up registrations for seconds.
const policyChunk = 500

// SetPolicies puts policies in force from now on: for the named partitions their
// own, for all others the fallback. Leases that a changed policy gives other
// numbers have them when the call returns. It must not be called concurrently with
// itself.
func (e *Engine) SetPolicies(now time.Time, fallback Policy, own map[string]Policy) {
	affected := e.setPolicies(now, fallback, own)
	for chunk := range slices.Chunk(affected, policyChunk) {
		e.applyPolicies(now, chunk)
	}
}

// setPolicies gives partitions their policies and returns the entries of those
// that changed.
func (e *Engine) setPolicies(now time.Time, fallback Policy, own map[string]Policy) []*entry {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.opts.Policy = fallback
	for name := range own {
		e.partition(name)
	}
	changed := map[*partition]bool{}
	for name, part := range e.partitions {
		p, pinned := own[name]
		if !pinned {
			p = fallback
		}
		part.pinned = pinned
		if part.policy != p {
			part.policy, changed[part] = p, true
		}
	}
	var affected []*entry
	e.each(func(n *entry) bool {
		if changed[n.part.Load()] {
			affected = append(affected, n)
		}
		return true
	})
	for part := range changed {
		e.judge(part, e.mono(now))
	}
	return affected
}

// applyPolicies gives leases the numbers of their partition's policy.
func (e *Engine) applyPolicies(now time.Time, leases []*entry) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, n := range leases {
		if n.has(flagGone) {
			continue
		}
		e.setLease(n, n.rec, n.part.Load().policy)
		e.rearm(n)
		e.recount(now, n)
		e.publish(now, n)
	}
}

// mono converts a time to nanoseconds since the engine was made. It follows the
// monotonic clock when now carries one, so steps of the wall clock do not matter.
func (e *Engine) mono(now time.Time) int64 { return int64(now.Sub(e.epoch)) }

func (e *Engine) shard(key Key) *shard {
	var h maphash.Hash
	h.SetSeed(e.seed)
	h.WriteString(key.App)
	h.WriteByte(0)
	h.WriteString(key.ID)
	return &e.shards[h.Sum64()%shardCount]
}

func (e *Engine) entry(key Key) *entry {
	s := e.shard(key)
	s.mu.RLock()
	ent := s.m[key]
	s.mu.RUnlock()
	return ent
}

// entry is one instance inside the engine. The fields above the line are touched
// by heartbeats without the engine's mutex.
type entry struct {
	lease  lease
	dirty  atomic.Int64
	client atomic.Uint32 // Status the client reported last
	flags  atomic.Uint32
	part   atomic.Pointer[partition]
	// As the client says that it renews, and the slowest that it may, in ns.
	declared, slowest atomic.Int64
	// ----
	key         Key
	rec         *Record
	shown       *Record // rec with the binding's host name, if that differs
	kept        bool    // by its pod, without heartbeats
	version     Version
	clientStamp Stamp // when the client's status was last registered or healed
	binding     Binding
	marked      bool          // held and expired, shown out of service
	counted     bool          // part of its partition's expectation
	interval    time.Duration // as it counts, within the policy's bounds
	duration    time.Duration
	registered  int64 // Unix ms
	serviceUp   int64
	expiredAt   int64 // mono since when the lease is overdue and held
	heardFrom   int64 // mono since when it has been renewed without being late
	dueIndex    int   // in Engine.due
	dueAt       int64
	// A lease that was restored: what its last renewal counts as, and how much of
	// that is grace.
	restored, grace int64
	view            *Instance // as listed, nil when unlisted
}

// Flags that send a heartbeat to the slow path.
const (
	flagLate      = 1 << iota // not counted as received any more
	flagOverdue               // past its duration
	flagAwaited               // the cluster waits for a sign of life
	flagGone                  // removed from the registry
	flagKept                  // kept by its pod: there is nothing to renew
	flagContested             // somebody else sends heartbeats for it
)

func (n *entry) setFlag(f uint32, on bool) {
	if on {
		n.flags.Or(f)
	} else {
		n.flags.And(^f)
	}
}

func (n *entry) has(f uint32) bool { return n.flags.Load()&f != 0 }

// visible computes the status the world sees.
func (e *Engine) visible(n *entry) Status {
	if n.binding.Verdict.OutOfService || n.marked {
		return OutOfService
	}
	return e.asLeft(n)
}

// asLeft is the status that the client and an operator's override say.
func (e *Engine) asLeft(n *entry) Status {
	client := Status(n.client.Load())
	o := e.overrideOf(n)
	if o == nil {
		return client
	}
	if client != Up && client != Unknown && n.clientStamp.after(o.at) {
		return client
	}
	return o.status
}

// publish shows the entry as it now is, and the floor that this leaves to its
// application.
func (e *Engine) publish(now time.Time, n *entry) (changed bool) {
	if !e.display(now, n) {
		return false
	}
	e.keepFloor(now, n.key.App)
	return true
}

// display shows the entry as it now is and records the change. Displaying what is
// already shown changes nothing, not even a timestamp.
//
// An instance is added only when no client can hold it. Where one may, because it
// is shown, or was within the retention or before the start, it is modified, also
// by a registration: JavaScript clients skip additions of what they hold, whatever
// has changed in it, and every client takes a modification of what it does not hold
// for an addition.
func (e *Engine) display(now time.Time, n *entry) (changed bool) {
	if n.binding.Unlisted {
		return e.withdraw(now, n)
	}
	next := e.build(now, n)
	if n.view != nil && n.view.same(next) {
		return false
	}
	snap := e.begin()
	if n.view != nil || snap.departed(n.key) || e.mono(now) < int64(e.opts.Remembered) {
		next.Action = Modified
	}
	next.UpdatedMS = now.UnixMilli()
	snap.replace(n.view, next)
	e.appCount(n.key.App).move(n.view, next)
	n.view = next
	e.record(snap, now, next)
	return true
}

// withdraw takes the entry off the list and records a deletion.
func (e *Engine) withdraw(now time.Time, n *entry) (changed bool) {
	if n.view == nil {
		return false
	}
	gone := *n.view
	gone.Record = gone.withoutMetadata()
	gone.Action, gone.Status = Deleted, Up
	gone.EvictedMS, gone.UpdatedMS = now.UnixMilli(), now.UnixMilli()
	snap := e.begin()
	snap.replace(n.view, nil)
	e.appCount(n.key.App).move(n.view, nil)
	if c := e.apps[n.key.App]; c.live == 0 && len(c.marked) == 0 {
		delete(e.apps, n.key.App)
	}
	n.view = nil
	e.record(snap, now, &gone)
	return true
}

func (e *Engine) build(now time.Time, n *entry) *Instance {
	inst := &Instance{
		Record: n.record(), Kept: n.kept, Status: e.visible(n), Client: Status(n.client.Load()), Verdict: n.binding.Verdict,
		Partition: n.binding.Partition, PodUID: n.binding.PodUID, Node: n.binding.Node,
		Interval: int(n.interval / time.Second), Duration: int(n.duration / time.Second),
		RegisteredMS: n.registered, lease: &n.lease,
	}
	if n.marked {
		inst.Verdict = Verdict{OutOfService: true, Reason: ReasonHeldExpired}
	}
	if o := e.overrideOf(n); o != nil {
		inst.Override = o.status
	}
	if n.serviceUp == 0 && inst.Status == Up {
		n.serviceUp = now.UnixMilli()
	}
	inst.ServiceUpMS = n.serviceUp
	return inst
}

// same says whether two views show the same to every reader.
func (i *Instance) same(o *Instance) bool {
	return i.Record == o.Record && i.Kept == o.Kept && i.Status == o.Status && i.Client == o.Client && i.Override == o.Override &&
		i.Interval == o.Interval && i.Duration == o.Duration && i.Verdict == o.Verdict && i.Partition == o.Partition && i.PodUID == o.PodUID && i.Node == o.Node &&
		i.ServiceUpMS == o.ServiceUpMS
}

// begin copies the current snapshot for changing; record publishes it.
func (e *Engine) begin() *Snapshot {
	s := e.snap.Load()
	return &Snapshot{
		Version: s.Version, Counts: s.Counts,
		byKey: s.byKey, byID: s.byID, byVIP: s.byVIP, bySecure: s.bySecure, changes: s.changes,
	}
}

func (e *Engine) record(snap *Snapshot, now time.Time, change *Instance) {
	snap.Version = e.nextVersion(snap, now)
	change.version, change.changed = snap.Version, e.mono(now)
	snap.changes = snap.changes.drop(Key{change.App, "0" + change.ID}).drop(Key{change.App, "1" + change.ID})
	snap.changes = snap.changes.put(changeItem(change))
	e.log.push(logged{changeKey(change), change.version, e.mono(now)})
	e.snap.Store(snap)
	e.revision.Add(1)
}

// logged remembers when a change was made without keeping the change itself: it
// may have been superseded long before it is old.
type logged struct {
	key     Key
	version int64
	at      int64
}

// nextVersion grows with every change, also across restarts, and differs between
// replicas.
func (e *Engine) nextVersion(snap *Snapshot, now time.Time) int64 {
	return max(snap.Version+1, now.UnixMilli()*1024+int64(e.opts.Slot%1024))
}

const indexItemSize = 512 // weight of an item in the secondary indexes

// The items of the list, of the change log, of the index by id, and of the indexes
// by the names of a vip attribute.
func listItem(i *Instance) item   { return item{i.Key(), i, i.size()} }
func changeItem(i *Instance) item { return item{changeKey(i), i, i.size()} }
func idItem(i *Instance) item     { return item{Key{i.ID, i.App}, i, indexItemSize} }

func nameItems(names string, i *Instance) iter.Seq[item] {
	return func(yield func(item) bool) {
		member := i.App + "\x00" + i.ID
		for name := range vipNames(names) {
			if !yield(item{Key{name, member}, i, indexItemSize}) {
				return
			}
		}
	}
}

func (s *Snapshot) replace(old, next *Instance) {
	if old != nil {
		s.Counts.add(old.Status, -1)
	}
	if next == nil {
		s.byKey = s.byKey.drop(old.Key())
		s.byID = s.byID.drop(Key{old.ID, old.App})
		s.byVIP = dropNames(s.byVIP, old.VIP, old)
		s.bySecure = dropNames(s.bySecure, old.SecureVIP, old)
		return
	}
	s.Counts.add(next.Status, 1)
	s.byKey = s.byKey.put(listItem(next))
	s.byID = s.byID.put(idItem(next))
	if old != nil && old.VIP != next.VIP {
		s.byVIP = dropNames(s.byVIP, old.VIP, old)
	}
	if old != nil && old.SecureVIP != next.SecureVIP {
		s.bySecure = dropNames(s.bySecure, old.SecureVIP, old)
	}
	s.byVIP = putNames(s.byVIP, next.VIP, next)
	s.bySecure = putNames(s.bySecure, next.SecureVIP, next)
}

// A vip attribute is a comma list; the reference server does not trim its parts.
func putNames(t tree, names string, inst *Instance) tree {
	for it := range nameItems(names, inst) {
		t = t.put(it)
	}
	return t
}

func dropNames(t tree, names string, inst *Instance) tree {
	for it := range nameItems(names, inst) {
		t = t.drop(it.key)
	}
	return t
}

// vipNames yields the first names of a vip attribute.
func vipNames(names string) iter.Seq[string] {
	return func(yield func(string) bool) {
		n := 0
		for name := range strings.SplitSeq(names, ",") {
			if name == "" {
				continue
			}
			if n++; n > maxVIPNames || !yield(name) {
				return
			}
		}
	}
}
