package gate

import (
	"sync/atomic"
	"time"
)

const (
	// base is how long list reads are refused at least when nothing was loaded:
	// a client that renews every 45 s or more often has been heard by then.
	base = 45 * time.Second
	// longest bounds what the absence of the registry adds. Clients back off for as
	// long as it was away, but no longer than this.
	longest = 300 * time.Second
	// After an absence of half a minute some clients have been given up by their
	// supervisor after an interval and pause for two: that is so much longer than base.
	givenUp, givenUpAfter = 45 * time.Second, 30 * time.Second
)

// Gate refuses list reads after a start without state. An answer that lacks what
// has not come back yet would make clients drop it; without an answer they keep
// what they have. It is safe for concurrent use.
type Gate struct {
	opened time.Time    // of the listener; everything is measured from it, so that a step of the clock changes nothing
	auto   bool         // the length depends on the registry's absence
	length atomic.Int64 // how long lists are refused, a time.Duration
	whole  atomic.Bool  // the registry was loaded, so there is nothing to wait for
}

// New returns a gate of a fixed length, or with a negative one a gate that
// depends on the registry's absence. While that is unknown it counts as long.
func New(opened time.Time, fixed time.Duration) *Gate {
	g := &Gate{opened: opened, auto: fixed < 0}
	if g.auto {
		fixed = base + longest
	}
	g.length.Store(int64(fixed))
	return g
}

// Away says how long the registry was away before this start, and from when the
// process before this one meant to answer list reads: a process that is replaced
// before clients have come back to it leaves the rest of the wait to its successor.
func (g *Gate) Away(absence time.Duration, listsFrom time.Time) {
	if !g.auto || g.whole.Load() {
		return
	}
	if absence >= givenUpAfter {
		absence += givenUp
	}
	wait := max(base+min(longest, max(0, absence)), listsFrom.Sub(g.opened))
	g.length.Store(int64(min(wait, base+longest)))
}

// Loaded says that the registry goes on where it stopped, whole: there is nobody to
// wait for.
func (g *Gate) Loaded() {
	if g.auto {
		g.whole.Store(true)
		g.length.Store(0)
	}
}

// Outdated takes that back: somebody has served since what was loaded was saved.
func (g *Gate) Outdated() {
	if g.whole.CompareAndSwap(true, false) {
		g.length.Store(int64(base + longest))
	}
}

// Opened is when the listener was opened, as given to New.
func (g *Gate) Opened() time.Time { return g.opened }

// Open reports whether list reads are answered.
func (g *Gate) Open(now time.Time) bool { return !now.Before(g.ListsFrom()) }

// ListsFrom is from when list reads are answered.
func (g *Gate) ListsFrom() time.Time { return g.opened.Add(g.Lasts()) }

// Lasts is how long list reads are refused after the listener opened.
func (g *Gate) Lasts() time.Duration { return time.Duration(g.length.Load()) }
