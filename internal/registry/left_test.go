package registry

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// left lists who left service between two snapshots.
func left(s, earlier *Snapshot) []string {
	var out []string
	for version, was := range s.Left(earlier) {
		if version <= earlier.Version || version > s.Version || was.Status != Up {
			out = append(out, fmt.Sprintf("version %d of %s, %v", version, was.ID, was.Status))
			continue
		}
		out = append(out, was.ID)
	}
	return out
}

func TestASnapshotTellsWhoLeftServiceSinceAnEarlierOne(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	e := New(now, Options{})
	register := func(id string, s Status) {
		e.Register(now, Caller{}, &Record{App: "A", ID: id, Status: s}, Binding{})
	}
	for i := range 300 { // several segments
		register(fmt.Sprintf("other-%03d", i), Up)
	}
	for _, id := range []string{"cancelled", "out", "override", "back", "returns"} {
		register(id, Up)
	}
	register("starting", Starting)
	before := e.Snapshot()
	if got := left(before, before); len(got) > 0 {
		t.Errorf("left since itself: %v", got)
	}
	e.Cancel(now, Caller{}, Key{"A", "cancelled"})
	e.Cancel(now, Caller{}, Key{"A", "starting"})
	e.Cancel(now, Caller{}, Key{"A", "returns"})
	register("returns", Up)
	register("out", OutOfService)
	e.SetOverride(now, Caller{}, Key{"A", "override"}, OutOfService)
	register("back", Down)
	middle := e.Snapshot()
	register("back", Up)
	e.Cancel(now, Caller{}, Key{"A", "out"})
	after := e.Snapshot()
	for name, tc := range map[string]struct {
		s, earlier *Snapshot
		want       []string
	}{
		"the first half":         {middle, before, []string{"back", "out", "override", "cancelled"}},
		"the second half":        {after, middle, nil},
		"both, but who returned": {after, before, []string{"override", "cancelled", "out"}},
	} {
		if d := cmp.Diff(tc.want, left(tc.s, tc.earlier)); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
	}
}

func TestWhoLeftServiceIsToldOncePerInstance(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	e := New(now, Options{})
	e.Register(now, Caller{}, &Record{App: "A", ID: "a", Status: Up}, Binding{})
	before := e.Snapshot()
	for range 3 {
		e.Register(now, Caller{}, &Record{App: "A", ID: "a", Status: Down}, Binding{})
		e.Cancel(now, Caller{}, Key{"A", "a"})
	}
	if d := cmp.Diff([]string{"a"}, left(e.Snapshot(), before)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
