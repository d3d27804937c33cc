package gate_test

import (
	"testing"
	"time"

	"github.com/kureka/kureka/internal/gate"
)

func TestGateStaysShutForAsLongAsClientsMayBackOff(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	tests := map[string]struct {
		fixed, absence, want time.Duration // absence negative: not known
	}{
		"first start":          {-1, 0, 45 * time.Second},
		"away for 20 s":        {-1, 20 * time.Second, 65 * time.Second},
		"away for 60 s":        {-1, time.Minute, 150 * time.Second},
		"away for an hour":     {-1, time.Hour, 345 * time.Second},
		"nobody knows":         {-1, -1, 345 * time.Second},
		"off":                  {0, time.Hour, 0},
		"fixed":                {10 * time.Second, time.Hour, 10 * time.Second},
		"a clock that is back": {-1, 0, 45 * time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := gate.New(start, tc.fixed)
			if tc.absence >= 0 {
				g.Away(tc.absence, time.Time{})
			}
			if tc.want > 0 && g.Open(start.Add(tc.want-time.Millisecond)) {
				t.Error("open too early")
			}
			if !g.Open(start.Add(tc.want)) {
				t.Error("still shut")
			}
		})
	}
}

func TestGateStaysShutForWhatTheProcessBeforeLeftOfItsOwn(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	const absence = 5 * time.Second
	tests := map[string]struct {
		fixed     time.Duration
		listsFrom time.Time
		want      time.Duration
	}{
		"it had to wait longer":      {-1, start.Add(200 * time.Second), 200 * time.Second},
		"it had to wait less":        {-1, start.Add(20 * time.Second), 50 * time.Second},
		"it answered already":        {-1, start.Add(-time.Hour), 50 * time.Second},
		"its clock was hours ahead":  {-1, start.Add(5 * time.Hour), 345 * time.Second},
		"fixed lengths stay":         {10 * time.Second, start.Add(200 * time.Second), 10 * time.Second},
		"it was never told anything": {-1, time.Time{}, 50 * time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := gate.New(start, tc.fixed)
			g.Away(absence, tc.listsFrom)
			if got := g.ListsFrom().Sub(start); got != tc.want {
				t.Errorf("lists from %v after the start, want %v", got, tc.want)
			}
		})
	}
}
