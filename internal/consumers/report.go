package consumers

import (
	"cmp"
	"slices"
	"time"
)

// Fetching is how the active consumers fetch.
type Fetching struct {
	// Known consumers are single processes, Unknown ones may be many behind one
	// address. One more stands for those that found no room, or have not had the time
	// to fetch since the start.
	Known, Unknown int
	// Slowest is the longest interval of the known ones, UsualInterval for one that is
	// not measured yet; zero if there is none.
	Slowest time.Duration
}

// Fetching returns that as of the last scan, at most a second ago.
func (t *Tracker) Fetching() Fetching {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state
}

// Consumer is one active consumer.
type Consumer struct {
	// Address is "" where a proxy hides it, Pod is "namespace/name" or "" if nobody
	// knows whether it is one process.
	Address, Agent, Pod string
	First, Last         time.Time
	// Interval is measured, zero before there were three fetches.
	Interval time.Duration
	Fetches  int64
	// Behind is how many versions it has not fetched yet.
	Behind int64
}

// Report returns the active consumers, those that are furthest behind first, and
// the departures, newest first.
func (t *Tracker) Report() (active []Consumer, departures []Departure) {
	t.mu.Lock()
	defer t.mu.Unlock()
	active = make([]Consumer, 0, len(t.by))
	for _, c := range t.by {
		out := Consumer{
			Agent: c.agent, Pod: c.pod, First: c.first, Last: c.last, Interval: c.interval(), Fetches: c.fetches,
			Behind: max(0, t.seen.Version-c.version),
		}
		if c.addr.IsValid() {
			out.Address = c.addr.String()
		}
		active = append(active, out)
	}
	slices.SortFunc(active, func(a, b Consumer) int {
		return cmp.Or(cmp.Compare(b.Behind, a.Behind), cmp.Compare(a.Address, b.Address), cmp.Compare(a.Agent, b.Agent))
	})
	for _, d := range slices.Backward(slices.Concat(t.over, t.pending)) {
		departures = append(departures, *d)
	}
	return active, departures
}
