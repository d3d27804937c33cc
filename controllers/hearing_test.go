package controllers

import (
	"testing"
	"time"
)

func TestHearing_noticesThatRenewalsDoNotComeBack(t *testing.T) {
	h, now := newHearing(), time.Unix(1_700_000_000, 0)
	// after renews every five seconds and returns how long it took to count as deaf.
	after := func() time.Duration {
		for start := now; ; now = now.Add(CanaryInterval) {
			if h.renewed(now, false) {
				return now.Sub(start)
			}
			if now.Sub(start) > time.Hour {
				return -1
			}
		}
	}
	for _, want := range []time.Duration{15 * time.Second, 30 * time.Second, time.Minute} {
		if got := after(); got != want {
			t.Errorf("deaf after %s, want %s", got, want)
		}
	}
	h.heard()
	if got := after(); got != 15*time.Second {
		t.Errorf("deaf %s after it was heard, want 15s", got)
	}
}

func TestHearing_trustsWatchesThatHearOrTellThatTheyDoNot(t *testing.T) {
	for name, step := range map[string]func(h *hearing, now time.Time) bool{
		"heard": func(h *hearing, now time.Time) bool { h.heard(); return h.renewed(now, false) },
		"a watch is not open": func(h *hearing, now time.Time) bool {
			return h.renewed(now, now.Unix()%10 == 0)
		},
	} {
		h, now := newHearing(), time.Unix(1_700_000_000, 0)
		for range 1000 {
			if step(h, now) {
				t.Errorf("%s: deaf", name)
				break
			}
			now = now.Add(CanaryInterval)
		}
	}
}

func TestOnlyTheCanarysOwnWatchAndListsThatAreComingMayBeQuiet(t *testing.T) {
	works := WatchState{Resource: "canary", Synced: true}
	tests := map[string]struct {
		states []WatchState
		quiet  bool
	}{
		"all work":                    {[]WatchState{works, {Resource: "pods", Synced: true}}, false},
		"the canary's is refused":     {[]WatchState{{Resource: "canary", Problem: "forbidden"}, {Resource: "pods", Synced: true}}, true},
		"the canary's is away":        {[]WatchState{{Resource: "canary", Synced: true, Problem: "cannot reach"}}, true},
		"another is refused for good": {[]WatchState{works, {Resource: "services", Problem: "forbidden"}}, false},
		"a list is still coming":      {[]WatchState{works, {Resource: "pods"}}, true},
	}
	for name, tc := range tests {
		if got := mayBeQuiet(tc.states, "canary"); got != tc.quiet {
			t.Errorf("%s: %v", name, got)
		}
	}
}
