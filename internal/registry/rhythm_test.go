package registry

import (
	"testing"
	"time"
)

func TestTheRhythmIsTheMedianOfTheLastThreeGaps(t *testing.T) {
	s := time.Second
	tests := map[string]struct {
		declared time.Duration
		gaps     []time.Duration
		want     time.Duration
	}{
		"as declared":                    {30 * s, []time.Duration{30 * s, 30 * s, 30 * s}, 30 * s},
		"fewer than three gaps":          {10 * s, []time.Duration{30 * s, 30 * s}, 10 * s},
		"slower than declared":           {10 * s, []time.Duration{30 * s, 30 * s, 30 * s}, 30 * s},
		"one that was late":              {10 * s, []time.Duration{10 * s, 60 * s, 10 * s}, 10 * s},
		"one that was late, just now":    {10 * s, []time.Duration{10 * s, 10 * s, 60 * s}, 10 * s},
		"only the last three":            {10 * s, []time.Duration{10 * s, 10 * s, 10 * s, 30 * s, 30 * s}, 30 * s},
		"repeated heartbeats":            {30 * s, []time.Duration{28 * s, 2 * s, 28 * s, 2 * s, 28 * s, 2 * s}, 28 * s},
		"faster than half of it":         {30 * s, []time.Duration{10 * s, 10 * s, 10 * s}, 30 * s},
		"no slower than its lease":       {10 * s, []time.Duration{300 * s, 300 * s, 300 * s}, 90 * s},
		"a gap beyond what is kept":      {10 * s, []time.Duration{10 * s, 10 * s, 20 * time.Hour}, 10 * s},
		"three gaps beyond what is kept": {10 * s, []time.Duration{20 * time.Hour, 20 * time.Hour, 20 * time.Hour}, 90 * s},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(1_700_000_000, 0)
			e := New(now, Options{})
			rec := &Record{App: "A", ID: "a", RenewalInterval: tc.declared}
			e.Register(now, Caller{}, rec, Binding{})
			for _, gap := range tc.gaps {
				now = now.Add(gap)
				e.Renew(now, Caller{}, rec.Key(), Beat{})
			}
			if got := e.Rhythm(rec.Key()); got < tc.want || got > tc.want+gapUnit {
				t.Errorf("rhythm %v, want %v", got, tc.want)
			}
		})
	}
}

func TestAnotherDeclaredIntervalStartsTheRhythmAnew(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	e := New(now, Options{})
	rec := &Record{App: "A", ID: "a", RenewalInterval: 30 * time.Second}
	e.Register(now, Caller{}, rec, Binding{})
	for range 3 {
		now = now.Add(30 * time.Second)
		e.Renew(now, Caller{}, rec.Key(), Beat{})
	}
	next := *rec
	next.RenewalInterval = 5 * time.Second
	e.Register(now, Caller{}, &next, Binding{})
	if got := e.Rhythm(rec.Key()); got != 5*time.Second {
		t.Errorf("rhythm %v", got)
	}
}

// Whoever asks may hold locks of their own, so writers must not hold them up.
func TestTheRhythmFollowsTheLeaseAndWaitsForNoWriter(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	e := New(now, Options{})
	rec := &Record{App: "A", ID: "a", RenewalInterval: 10 * time.Second}
	e.Register(now, Caller{}, rec, Binding{})
	for range 3 {
		now = now.Add(300 * time.Second)
		e.Renew(now, Caller{}, rec.Key(), Beat{})
	}
	p := DefaultPolicy()
	p.MaxDuration = 50 * time.Second
	e.SetPolicies(now, p, nil)
	e.mu.Lock()
	defer e.mu.Unlock()
	if got := e.Rhythm(rec.Key()); got != p.MaxDuration {
		t.Errorf("rhythm %v, want the lease's %v", got, p.MaxDuration)
	}
}
