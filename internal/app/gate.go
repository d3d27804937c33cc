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
// what they have. It is safe for concurrent use.
type gate struct {
	opened time.Time    // of the listener; everything is measured from it, so that a step of the clock changes nothing
	auto   bool         // the length depends on the registry's absence
	length atomic.Int64 // how long lists are refused, a time.Duration
}

// newGate returns a gate of a fixed length, or with a negative one a gate that
// depends on the registry's absence. While that is unknown it counts as long.
func newGate(opened time.Time, fixed time.Duration) *gate {
	g := &gate{opened: opened, auto: fixed < 0}
	if g.auto {
		fixed = gateBase + gateMax
	}
	g.length.Store(int64(fixed))
	return g
}

// away says how long the registry was away before this start, and from when the
// process before this one meant to answer list reads: a process that is replaced
// before clients have come back to it leaves the rest of the wait to its successor.
func (g *gate) away(absence time.Duration, listsFrom time.Time) {
	if !g.auto {
		return
	}
	wait := max(gateBase+min(gateMax, max(0, absence)), listsFrom.Sub(g.opened))
	g.length.Store(int64(min(wait, gateBase+gateMax)))
}

// open reports whether list reads are answered.
func (g *gate) open(now time.Time) bool { return !now.Before(g.listsFrom()) }

// listsFrom is from when they are.
func (g *gate) listsFrom() time.Time { return g.opened.Add(g.lasts()) }

func (g *gate) lasts() time.Duration { return time.Duration(g.length.Load()) }
