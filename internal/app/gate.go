package app

import (
	"sync/atomic"
	"time"
)

const (
	// gateBase is how long list reads are refused at least when nothing was loaded:
	// a client that renews every 45 s or more often has been heard by then.
	gateBase = 45 * time.Second
	// gateMax bounds what the absence of the registry adds. Clients back off for as
	// long as it was away, but no longer than this.
	gateMax = 300 * time.Second
)

// gate refuses list reads after a start without state. An answer that lacks what
// has not come back yet would make clients drop it; without an answer they keep
// what they have.
type gate struct {
	opened time.Time
	fixed  time.Duration // negative: from the registry's absence
	// absence is how long the registry was away; negative while that is unknown,
	// which counts as long.
	absence atomic.Int64
}

func newGate(opened time.Time, fixed time.Duration) *gate {
	g := &gate{opened: opened, fixed: fixed}
	g.absence.Store(-1)
	return g
}

// away says how long the registry was away before this start.
func (g *gate) away(d time.Duration) { g.absence.Store(int64(max(0, d))) }

// open reports whether list reads are answered.
func (g *gate) open(now time.Time) bool { return now.Sub(g.opened) >= g.length() }

func (g *gate) length() time.Duration {
	if g.fixed >= 0 {
		return g.fixed
	}
	absence := time.Duration(g.absence.Load())
	if absence < 0 {
		absence = gateMax
	}
	return gateBase + min(gateMax, absence)
}
