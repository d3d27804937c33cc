package cluster

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/internal/verdict"
)

// Options configure a Cluster.
type Options struct {
	// AllNamespaces says that pods of all namespaces are watched, so that an
	// address inside a node's pod range without an owner belongs to no pod yet.
	AllNamespaces bool
	// Probing says that what Probes returns is asked and answered.
	Probing bool
	// Class is the name of this installation: annotations for another are ignored.
	Class string
	// Observer is told of every change of an instance that the cluster caused, and
	// returns how long it took from the evidence until now: this package has no
	// clock. It is called with the lock held and must not block or call back.
	Observer func(Change) time.Duration
}

// Change is one change of an instance by a verdict or a change of owner.
type Change struct {
	At                           time.Time
	Key                          registry.Key
	Namespace, Pod, PodUID, Node string
	Effect                       Effect
	Class                        verdict.Class
	Reason                       string
	// Witness is who saw the cause, Confirmed the second witness of an inference, and
	// Detail what exactly was seen.
	Witness, Confirmed, Detail string
	// Took is the time from the arrival of the evidence to the registry showing what
	// followed.
	Took time.Duration
}

// Effect is what a change did to an instance.
type Effect string

// The effects of changes.
const (
	// Removed took the instance out of the registry.
	Removed Effect = "removed"
	// TakenOut shows it OUT_OF_SERVICE from now on.
	TakenOut Effect = "taken-out"
	// PutBack ends that.
	PutBack Effect = "put-back"
	// Listed shows an instance of a pod that has no client.
	Listed Effect = "listed"
	// Unlisted ends that; about the pod it says nothing.
	Unlisted Effect = "unlisted"
	// Noted changed nothing that clients see.
	Noted Effect = "noted"
)

// The effects of changes where the policy only observes.
const (
	// WouldRemove and WouldTakeOut are what a verdict would have done.
	WouldRemove  Effect = "would-remove"
	WouldTakeOut Effect = "would-take-out"
	// Contradicted says that a later heartbeat showed such a verdict to be wrong.
	Contradicted Effect = "contradicted"
	// Withdrawn says that its cause ended and the instance stayed.
	Withdrawn Effect = "withdrawn"
	// Confirmed says that the instance left the registry by itself, that somebody
	// else has its id, or that stronger evidence followed.
	Confirmed Effect = "confirmed"
)

// Reasons of changes that no check decides.
const (
	// ReasonAddressReused removes a record whose address now belongs to another pod.
	ReasonAddressReused = "AddressReused"
	// ReasonAddressLeft removes a record whose pod now has another address.
	ReasonAddressLeft = "AddressLeft"
	// ReasonRegistrantGone removes a record of an id that several pods use, whose
	// registrant is ending; the others will register it again.
	ReasonRegistrantGone = "RegistrantGone"
	// ReasonRecovered ends a verdict: nothing is against the instance any more.
	ReasonRecovered = "Recovered"
	// ReasonHeldByFloor keeps an instance in service although a notice is out,
	// because too few of its application would be left.
	ReasonHeldByFloor = "HeldByFloor"
)

// Cluster is the joined view.
type Cluster struct {
	reg  *registry.Engine
	opts Options

	mu      sync.RWMutex
	pods    map[string]*pod   // by UID
	names   map[string]string // namespace/name to UID
	nodes   map[string]*node
	claims  map[netip.AddrPort]map[*pod]struct{} // who says it has the address
	owners  map[netip.AddrPort]*pod              // who owns it
	nodeIPs map[netip.Addr]string
	ranges  ranges // of pod addresses
	ends    endpoints

	insts   map[registry.Key]*instance
	byIP    map[netip.Addr]map[*instance]struct{}
	noticed map[string]map[*instance]struct{} // instances under a notice, by application
	last    map[registry.Key]string           // the workload whose pod an id was bound to last
	orphans []orphan                          // ids that lost their record, oldest first
	// orphaned is when an id lost its record last: one that came and went again is
	// among the orphans more than once.
	orphaned map[registry.Key]time.Time
	due      map[*pod]time.Time // when a verdict may change by itself
	changes  changeLog
	found    findings

	offers       map[string][]*offer // by namespace, the oldest first
	services     map[string]*service // those that offers name, by namespace/name
	known        map[string]bool     // Services, and whether they publish pods that are not ready
	serviceLists map[string]bool     // namespaces whose Services were listed
	spreads      map[string]*spread  // by application
	stale        map[*pod]struct{}   // pods whose kept instances are to be looked at
	contested    map[string]struct{} // applications whose first namespace is
	waiting      map[*pod]struct{}   // pods that await their registration
	held         map[string][]*pod   // pods whose end may be held, by their token

	fallback verdict.Policy             // in force where a namespace has none of its own
	policies map[string]*verdict.Policy // by namespace

	revision atomic.Uint64 // counts what is worth a new checkpoint
	hiding   time.Time     // until when those that were hidden before a restart stay so while the view settles

	prober prober

	readable      bool // pods can be read
	nodesReadable bool
	lastTick      time.Time // of Tick
	started       time.Time // of the first Tick
	awake         time.Time // when the process last came back from a pause, or started
	freshSince    time.Time // since when the view has been fresh without a break
	canary        time.Time
	leases        time.Time
	fresh         bool
	settled       bool // fresh for some time: every watch has had the chance to catch up
}

// pod is one pod, its instances, and the incarnations of its containers.
type pod struct {
	evidence.Pod           // without its version
	version      uint64    // of the newest state that was taken in
	told         time.Time // when that was
	seen         time.Time // when it was known first
	gone         *evidence.Gone
	proven       bool
	over         bool             // it had ended when it last claimed its addresses
	leaving      bool             // it was seen deleting with a grace period
	ending       time.Time        // when it was first seen deleting, by our clock and since our start
	addrs        []netip.AddrPort // what it answers on, or answered on last
	claimed      []netip.AddrPort // of those, what it claims now
	changed      map[string]time.Time
	insts        map[*instance]struct{}
	ids          map[*instance]struct{} // instances whose id it has registered while it lived

	notReadySince time.Time         // by our clock, zero while it is ready
	own           *Listing          // what its annotations register, nil if nothing
	faults        []string          // what is wrong with its annotations
	claims        []*claim          // who registers it, the strongest first
	cancelled     map[string]string // applications that its client cancelled, and their containers
}

type node struct {
	evidence.Node           // without its version
	version       uint64    // of the newest state that was taken in
	seen          time.Time // when its object was last observed; zero if only its name is known
	pods          map[*pod]struct{}
	lease         time.Time // when its Lease last changed, by our clock; zero once that counts as old

	leased     time.Time     // the same, never forgotten
	leaseLasts time.Duration // the Lease's own duration
	word       time.Time     // when a request last came from its pod range, but for usual heartbeats
	doubt      doubt         // a renewal that looked old
	unknown    time.Time     // when it was first seen to be Unknown to the control plane; zero if it is not

	silence   evidence.Silence // as far as it concerns all its instances
	concluded bool             // of some instance
	targets   []*target        // that are probed, while it has missed a renewal
}

// instance is a registration as far as the cluster is concerned.
type instance struct {
	key        registry.Key
	source     netip.Addr
	ip         netip.Addr
	rec        *registry.Record
	pod        *pod
	former     string    // the workload whose the id was before it was bound
	byAddress  bool      // bound because the registered address is the pod's
	unbound    string    // why there is no pod, a stable name
	users      []*pod    // living pods that have registered the id
	sharer     *pod      // of those, the one that registered last, while there are several
	refused    *instance // the last registration that might have been an intruder's
	turnedAway []string  // pods whose registrations were refused, the newest last
	unlisted   bool
	container  string
	baseline   string
	// When the client last sent anything while a verdict was in force, and when it
	// last registered.
	request, registration time.Time
	said                  time.Time // when it last said what it registered
	decided               verdict.Verdict
	held                  bool
	finding               *Finding // open, while verdicts are only observed
	silent                conclusion
	rebooted              time.Time // the boot of the node that it was concluded not to have outlived

	kept      *claim // set if it is kept for its pod, which has no client
	everReady bool   // the pod was ready while it was kept
	readyIn   string // in this incarnation of its container
}

// orphan is an id that lost its record.
type orphan struct {
	key registry.Key
	at  time.Time
}

// New returns a view of nothing over an engine.
func New(reg *registry.Engine, opts Options) *Cluster {
	if opts.Observer == nil {
		opts.Observer = func(Change) time.Duration { return 0 }
	}
	return &Cluster{
		reg:     reg,
		opts:    opts,
		pods:    map[string]*pod{},
		names:   map[string]string{},
		nodes:   map[string]*node{},
		claims:  map[netip.AddrPort]map[*pod]struct{}{},
		owners:  map[netip.AddrPort]*pod{},
		nodeIPs: map[netip.Addr]string{},
		ranges:  newRanges(),
		ends:    newEndpoints(),
		insts:   map[registry.Key]*instance{},
		byIP:    map[netip.Addr]map[*instance]struct{}{},
		noticed: map[string]map[*instance]struct{}{},
		last:    map[registry.Key]string{},

		orphaned: map[registry.Key]time.Time{},
		due:      map[*pod]time.Time{},

		offers:       map[string][]*offer{},
		services:     map[string]*service{},
		known:        map[string]bool{},
		serviceLists: map[string]bool{},
		spreads:      map[string]*spread{},
		stale:        map[*pod]struct{}{},
		contested:    map[string]struct{}{},
		waiting:      map[*pod]struct{}{},
		held:         map[string][]*pod{},

		fallback: verdict.DefaultPolicy(),
	}
}

// Snapshot returns the registry as it is now.
func (c *Cluster) Snapshot() *registry.Snapshot { return c.reg.Snapshot() }

// Touch notes that a client asked for something.
func (c *Cluster) Touch(now time.Time) { c.reg.Touch(now) }

// track keeps an instance, indexed by the addresses it is known by.
func (c *Cluster) track(in *instance) {
	c.changed()
	c.insts[in.key] = in
	for _, a := range []netip.Addr{in.ip, in.source} {
		if a.IsValid() {
			add(c.byIP, a, in)
		}
	}
	if in.pod != nil {
		in.pod.insts[in] = struct{}{}
		c.join(in)
		c.changedClient(in)
	}
	for _, p := range in.users {
		p.ids[in] = struct{}{}
	}
}

// discard forgets an instance that another registration replaces, or that the
// registry did not take.
func (c *Cluster) discard(in *instance) {
	c.changed()
	drop(c.byIP, in.ip, in)
	drop(c.byIP, in.source, in)
	drop(c.noticed, in.key.App, in)
	c.leave(in)
}

// untrack forgets an instance that has left the registry.
func (c *Cluster) untrack(now time.Time, in *instance) {
	c.discard(in)
	delete(c.insts, in.key)
	if len(c.orphans) >= maxOrphans {
		c.forgetOrphan()
	}
	c.orphans = append(c.orphans, orphan{in.key, now})
	c.orphaned[in.key] = now
}

// maxOrphans bounds the memory of ids that have no record any more.
const maxOrphans = 100_000

// leave takes an instance away from its pod and from all that use its id.
func (c *Cluster) leave(in *instance) {
	if in.pod != nil {
		delete(in.pod.insts, in)
		c.part(in)
		c.changedClient(in)
	}
	for _, p := range in.users {
		delete(p.ids, in)
	}
	in.pod, in.users, in.sharer = nil, nil, nil
}

func add[K, V comparable](m map[K]map[V]struct{}, k K, v V) {
	if m[k] == nil {
		m[k] = map[V]struct{}{}
	}
	m[k][v] = struct{}{}
}

func drop[K, V comparable](m map[K]map[V]struct{}, k K, v V) {
	delete(m[k], v)
	if len(m[k]) == 0 {
		delete(m, k)
	}
}
