package registry

import (
	"testing"
	"time"
)

// Clients outlive the registry: what they hold from before its start must not be
// told as an addition, which some of them skip.
func TestActions_afterAStartWithoutMemoryNothingIsAnAddition(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	e := New(start, Options{Remembered: 45 * time.Second})
	register := func(id string, after time.Duration) Action {
		rec := &Record{App: "A", ID: id, Status: Up}
		if got := e.Register(start.Add(after), Caller{}, rec, Binding{}); got != Done {
			t.Fatalf("registering %s: outcome %d", id, got)
		}
		return e.Snapshot().Get(rec.Key()).Action
	}
	if got := register("early", 44*time.Second); got != Modified {
		t.Errorf("while clients may remember it, an instance is %s", got)
	}
	if got := register("late", 45*time.Second); got != Added {
		t.Errorf("when no client can remember it, an instance is %s", got)
	}
}
