package consumers

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kureka/kureka/internal/registry"
)

// UsualInterval is how often a client fetches unless it was told otherwise.
const UsualInterval = 30 * time.Second

const (
	// maxConsumers bounds what is remembered; further ones are only noticed.
	maxConsumers = 20_000
	// maxAgent bounds a user agent, in bytes.
	maxAgent = 128
	// sameRound is how close two fetches are that belong together: a client whose
	// delta did not fit fetches everything at once.
	sameRound = 500 * time.Millisecond
	// missedRounds is after how many intervals without a fetch a consumer is gone,
	// within the bounds of patience.
	missedRounds = 3
	minPatience  = 15 * time.Second
	maxPatience  = 15 * time.Minute
	// scanEvery is how often consumers are looked at while nothing is waited for.
	scanEvery = time.Second
	// renameEvery is how often it is asked whose an address is.
	renameEvery = 5 * time.Second
)

// Options configure a Tracker.
type Options struct {
	// PodAt names the pod that alone sends from an address, "" if there is none. It may
	// wait: nobody who fetches waits for it. Required.
	PodAt func(netip.Addr) string
	// Done is told of every departure that is over, with the lock held; it must not
	// block. Nil tells nobody.
	Done func(Departure)
}

// Tracker follows the consumers of one registry.
type Tracker struct {
	opts Options

	mu      sync.Mutex
	by      map[identity]*consumer
	crowded time.Time // when a consumer last found no room
	began   time.Time // of the first tick
	scanned time.Time
	seen    *registry.Snapshot // of the last tick
	state   Fetching
	reached int64        // the version that all who are known had fetched then
	pending []*Departure // oldest first
	over    []*Departure // oldest first, at most maxOver
	latest  map[registry.Key]*Departure
}

type identity struct {
	addr  netip.Addr
	agent string
}

type consumer struct {
	identity
	pod     string // "namespace/name", "" if it is not known to be one process
	named   time.Time
	first   time.Time
	last    time.Time
	version int64 // the newest that it has fetched
	fetches int64
	gaps    [3]time.Duration // the newest first, 0 if there were fewer
}

// New returns a tracker of a registry that is in a state now.
func New(s *registry.Snapshot, opts Options) *Tracker {
	return &Tracker{opts: opts, by: map[identity]*consumer{}, seen: s, latest: map[registry.Key]*Departure{}}
}

// Fetched takes in that a consumer has been sent the registry, or a part of it, as
// it is in a version. The address is invalid where a proxy hides it.
func (t *Tracker) Fetched(now time.Time, addr netip.Addr, agent string, version int64) {
	id := identity{addr, agent[:min(len(agent), maxAgent)]}
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.by[id]
	if c == nil {
		if len(t.by) >= maxConsumers {
			t.crowded = now
			return
		}
		// The text is part of a request that must not be kept alive.
		c = &consumer{identity: identity{addr, strings.Clone(id.agent)}, first: now, last: now}
		t.by[c.identity] = c
	}
	if gap := now.Sub(c.last); gap >= sameRound {
		c.gaps = [3]time.Duration{gap, c.gaps[0], c.gaps[1]}
		c.last = now
	}
	c.version = max(c.version, version)
	c.fetches++
}

// interval is the median of the last three gaps, so that one pause does not count;
// zero before there were two gaps.
func (c *consumer) interval() time.Duration {
	switch {
	case c.gaps[1] == 0:
		return 0
	case c.gaps[2] == 0:
		return max(c.gaps[0], c.gaps[1])
	}
	sorted := c.gaps
	slices.Sort(sorted[:])
	return sorted[1]
}

// isActive reports whether the consumer will probably fetch again.
func (c *consumer) isActive(now time.Time) bool {
	patience := missedRounds * cmp.Or(c.interval(), UsualInterval)
	return now.Sub(c.last) <= min(max(patience, minPatience), maxPatience)
}

// Tick looks at what has left service since the last one and at who has learned of
// it. It is to be called several times a second: times are as exact as that.
func (t *Tracker) Tick(now time.Time, s *registry.Snapshot) {
	unnamed, due := t.notice(now, s)
	if !due {
		return
	}
	pods := make(map[netip.Addr]string, len(unnamed))
	for _, a := range unnamed {
		pods[a] = t.opts.PodAt(a)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rename(now, pods)
	t.scan(now)
	t.conclude(now)
}

// notice takes in who left service. If consumers are to be looked at it returns the
// addresses of which it is to be asked whose they are.
func (t *Tracker) notice(now time.Time, s *registry.Snapshot) (unnamed []netip.Addr, due bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.began.IsZero() {
		t.began = now
	}
	for version, was := range s.Left(t.seen) {
		t.depart(now, version, was, s.Get(was.Key()))
	}
	t.seen = s
	if len(t.pending) == 0 && now.Sub(t.scanned) < scanEvery {
		return nil, false
	}
	t.scanned = now
	for _, c := range t.by {
		if c.addr.IsValid() && (c.named.IsZero() || now.Sub(c.named) >= renameEvery) {
			unnamed = append(unnamed, c.addr)
		}
	}
	return unnamed, true
}

// rename takes in whose addresses are. A consumer whose pod has its address no more
// is gone; its next fetch, if there is one, is that of another.
func (t *Tracker) rename(now time.Time, pods map[netip.Addr]string) {
	for id, c := range t.by {
		pod, asked := pods[c.addr]
		if !asked {
			continue
		}
		if c.pod != "" && c.pod != pod {
			delete(t.by, id)
			continue
		}
		c.pod, c.named = pod, now
	}
}

// scan forgets who is gone and counts the others. Who has not fetched since the start
// is unknown until everybody had the time.
func (t *Tracker) scan(now time.Time) {
	t.state, t.reached = Fetching{}, t.seen.Version
	isYoung := now.Sub(t.began) < missedRounds*UsualInterval
	isCrowded := !t.crowded.IsZero() && now.Sub(t.crowded) <= maxPatience
	if isYoung || isCrowded {
		t.state.Unknown++
	}
	for id, c := range t.by {
		if !c.isActive(now) {
			delete(t.by, id)
			continue
		}
		if c.pod == "" {
			t.state.Unknown++
			continue
		}
		t.state.Known++
		t.state.Slowest = max(t.state.Slowest, cmp.Or(c.interval(), UsualInterval))
		t.reached = min(t.reached, c.version)
	}
}
