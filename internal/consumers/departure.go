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
		t.pending = slices.Delete(t.pending, 0, 1)
	}
	d := Departure{Key: was.Key(), Cause: Removed, At: now, version: version}
	switch {
	case is == nil:
	case is.Status == registry.OutOfService:
		d.Cause = TakenOut
	default:
		d.Cause = OwnRequest
	}
	t.pending = append(t.pending, d)
}

// conclude ends the departures that all consumers know of, up to a version, and
// those that were waited for too long.
func (t *Tracker) conclude(now time.Time, reached int64) {
	rest := t.pending[:0]
	for _, d := range t.pending {
		d.Late = now.Sub(d.At) > maxWait
		if d.version > reached && !d.Late {
			rest = append(rest, d)
			continue
		}
		t.tell(now, d)
	}
	clear(t.pending[len(rest):])
	t.pending = rest
}

func (t *Tracker) tell(now time.Time, d Departure) {
	d.Over, d.Known, d.Unknown = now, t.state.Known, t.state.Unknown
	if len(t.over) >= maxOver {
		t.over = slices.Delete(t.over, 0, maxOver/10)
	}
	t.over = append(t.over, d)
	if t.opts.Done != nil {
		t.opts.Done(d)
	}
}
