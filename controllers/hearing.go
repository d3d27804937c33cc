package controllers

import (
	"sync"
	"time"
)

const (
	// deafAfter is how long a renewal of the canary may stay unseen before the
	// watches count as deaf.
	deafAfter = 15 * time.Second
	// maxDeafAfter bounds the pause between two attempts to hear again, which doubles.
	maxDeafAfter = 5 * time.Minute
)

// hearing notices watches that are open and deliver nothing. After etcd was
// restored from a backup resource versions go back: a watch that goes on from the
// last version it saw is accepted, and hears nothing until they have caught up,
// which can take days. Only what is listed anew is heard.
//
// The canary tells: the API server takes its renewals and no watch brings them
// back. The methods may be called from several goroutines.
type hearing struct {
	mu       sync.Mutex
	unheard  time.Time // of the first renewal that was not seen since; zero if all were
	patience time.Duration
}

func newHearing() *hearing { return &hearing{patience: deafAfter} }

// heard takes in that the canary was seen on its watch.
func (h *hearing) heard() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unheard, h.patience = time.Time{}, deafAfter
}

// renewed takes in a renewal that the API server took, and reports whether the
// watches are deaf. waits says that a watch is not open and will tell so itself.
func (h *hearing) renewed(now time.Time, waits bool) (deaf bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case waits:
		h.unheard = time.Time{}
		return false
	case h.unheard.IsZero():
		h.unheard = now
		return false
	case now.Sub(h.unheard) < h.patience:
		return false
	}
	h.unheard, h.patience = time.Time{}, min(2*h.patience, maxDeafAfter)
	return true
}
