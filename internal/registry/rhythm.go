package registry

import (
	"sync/atomic"
	"time"
)

const (
	gapUnit = 10 * time.Millisecond
	gapBits = 21 // of these units: up to 5.8 hours
	gapMask = 1<<gapBits - 1
)

// rhythm remembers the gaps between an instance's last four renewals in one word,
// the newest in the lowest bits, so that a heartbeat pays one store for it. Of two
// heartbeats at the same moment one may be lost, which does not matter.
type rhythm struct{ gaps atomic.Uint64 }

// beat takes in the time since the heartbeat before. A heartbeat that comes sooner
// than half the declared interval is a repeated one, or one of a second sender, and
// says nothing about the pace.
func (r *rhythm) beat(gap, declared time.Duration) {
	if gap <= 0 || gap < declared/2 {
		return
	}
	r.gaps.Store(r.gaps.Load()<<gapBits | uint64(min(gap/gapUnit+1, gapMask))&gapMask)
}

// median returns the middle one of the last three gaps, zero while there are fewer.
func (r *rhythm) median() time.Duration {
	g := r.gaps.Load()
	a, b, c := g&gapMask, g>>gapBits&gapMask, g>>(2*gapBits)&gapMask
	if c == 0 {
		return 0
	}
	return time.Duration(max(min(a, b), min(max(a, b), c))) * gapUnit
}

// forget starts anew.
func (r *rhythm) forget() { r.gaps.Store(0) }

// saved returns the gaps, the newest first, zero where there is none.
func (r *rhythm) saved() [3]time.Duration {
	var out [3]time.Duration
	for i := range out {
		if g := r.gaps.Load() >> (i * gapBits) & gapMask; g > 0 {
			out[i] = time.Duration(g) * gapUnit
		}
	}
	return out
}

// restore takes in what saved returned.
func (r *rhythm) restore(gaps [3]time.Duration) {
	var word uint64
	for i, gap := range gaps {
		word |= uint64(min(bounded(gap)/gapUnit, gapMask)) << (i * gapBits)
	}
	r.gaps.Store(word)
}

// Rhythm returns the interval at which the instance's client renews: the median of
// its last three gaps, or what it declared while there are fewer, but no more than
// its lease. Some clients are slower than they say. Zero if there is no such record. It takes
// no lock that a writer holds.
func (e *Engine) Rhythm(key Key) time.Duration {
	n := e.entry(key)
	if n == nil {
		return 0
	}
	if m := n.lease.rhythm.median(); m > 0 {
		return min(m, time.Duration(n.slowest.Load()))
	}
	return time.Duration(n.declared.Load())
}
