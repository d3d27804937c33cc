package consumers

import (
	"slices"
	"time"

	"github.com/kureka/kureka/internal/registry"
)

const (
	// maxPending and maxOver bound what is remembered of departures.
	maxPending = 10_000
	maxOver    = 1000
	// maxWait is after how long a departure is over although somebody has not fetched.
	maxWait = 10 * time.Minute
)

// Cause is how an instance left service.
type Cause string

// The causes, as metrics name them.
const (
	Removed    Cause = "removed"
	TakenOut   Cause = "out_of_service"
	OwnRequest Cause = "down" // its client says DOWN, STARTING or UNKNOWN
)

// Departure is an instance that left service and who has learned of it.
type Departure struct {
	registry.Key
	Cause Cause
	At    time.Time
	// Over is when the last known active consumer had fetched a registry without the
	// instance, zero before. Late is set if that was given up.
	Over time.Time
	Late bool
	// Known and Unknown are the active consumers then, as in [Fetching].
	Known, Unknown int

	version int64
}

func (t *Tracker) depart(now time.Time, version int64, was, is *registry.Instance) {
	if len(t.pending) >= maxPending {
		oldest := t.pending[0]
		oldest.Late = true
		t.tell(now, oldest)
		t.pending = t.pending[1:] // nothing is moved: thousands may leave at once
	}
	d := &Departure{Key: was.Key(), Cause: Removed, At: now, version: version}
	switch {
	case is == nil:
	case is.Status == registry.OutOfService:
		d.Cause = TakenOut
	default:
		d.Cause = OwnRequest
	}
	t.pending = append(t.pending, d)
	t.latest[d.Key] = d
}

// conclude ends the departures that all consumers know of and those that were waited
// for too long.
func (t *Tracker) conclude(now time.Time) {
	rest := t.pending[:0]
	for _, d := range t.pending {
		d.Late = now.Sub(d.At) > maxWait
		if d.version > t.reached && !d.Late {
			rest = append(rest, d)
			continue
		}
		t.tell(now, d)
	}
	clear(t.pending[len(rest):])
	t.pending = rest
}

func (t *Tracker) tell(now time.Time, d *Departure) {
	d.Over, d.Known, d.Unknown = now, t.state.Known, t.state.Unknown
	if len(t.over) >= maxOver {
		for _, old := range t.over[:maxOver/10] {
			if t.latest[old.Key] == old {
				delete(t.latest, old.Key)
			}
		}
		t.over = slices.Delete(t.over, 0, maxOver/10)
	}
	t.over = append(t.over, d)
	if t.opts.Done != nil {
		t.opts.Done(*d)
	}
}

// Learned returns since when every consumer has known that instances are not in
// service; ok is false while one may not. The caller has seen that none of them was,
// first at a moment, in a version of the registry. Of what did not leave service while
// it was followed it is not known since when: since now. Consumers that nobody knows to
// be one process are given the usual interval.
func (t *Tracker) Learned(now time.Time, keys []registry.Key, seen time.Time, version int64) (since time.Time, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen.Version < version {
		return time.Time{}, false
	}
	var left time.Time
	followed := 0
	for _, key := range keys {
		d := t.latest[key]
		switch {
		case d == nil:
			continue
		case d.Over.IsZero():
			return time.Time{}, false
		}
		followed++
		since, left = later(since, d.Over), later(left, d.At)
	}
	if followed == 0 || followed < len(keys) {
		if t.reached < version {
			return time.Time{}, false
		}
		since, left = now, later(left, seen)
	}
	if t.state.Unknown > 0 || t.state.Known == 0 {
		since = later(since, left.Add(UsualInterval))
	}
	return since, !now.Before(since)
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
