package registry

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// whatIsShown is what readers and replicas see of an engine, in an order of its own.
type whatIsShown struct {
	Counts    Counts
	Instances []Instance
	Changes   []Instance
	States    map[Key]State
	Intervals map[time.Duration]int
}

func shown(e *Engine) whatIsShown {
	s := whatIsShown{Counts: e.Snapshot().Counts, States: map[Key]State{}, Intervals: e.intervals}
	for i := range e.Snapshot().All() {
		s.Instances = append(s.Instances, *i)
	}
	for i := range e.Snapshot().Changes() {
		s.Changes = append(s.Changes, *i)
	}
	for _, app := range []string{"A", "B"} {
		for _, id := range []string{"1", "2", "3", "4"} {
			s.States[Key{app, id}] = e.State(Key{app, id})
		}
	}
	return s
}

var asShown = cmp.Options{cmpopts.IgnoreUnexported(Instance{}), cmpopts.EquateEmpty()}

func TestRestore_showsWhatWasShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(time.Unix(1_700_000_000, 0))
		p := DefaultPolicy()
		p.MaxEvictionPercent = 1_000_000
		e := New(m.now, Options{Policy: p})
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			step(t, e, m)
			m.judge()
		}
		if rapid.Bool().Draw(t, "proof") {
			e.Prove(m.now, Proof{UID: "dead"})
		}
		before, cp := shown(e), e.Checkpoint(m.now)
		away := time.Duration(rapid.IntRange(-1000, 1000).Draw(t, "away")) * time.Second // the clock may step back
		next := New(m.now.Add(away), Options{Policy: p})
		if err := next.Restore(m.now.Add(away), cp); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(before, shown(next), asShown); d != "" {
			t.Fatalf("shown (-before +after):\n%s", d)
		}
		if was, is := e.Snapshot().Version, next.Snapshot().Version; is <= was {
			t.Fatalf("version %d after %d", is, was)
		}
		want := map[Key]Status{}
		for _, i := range before.Instances {
			want[i.Key()] = i.Status
		}
		checkIndexes(t, next.Snapshot(), want)
		// A second checkpoint at the same moment says the same.
		again := next.Checkpoint(m.now.Add(away))
		order := cmpopts.SortSlices(func(a, b SavedInstance) bool { return a.Record.Key().compare(b.Record.Key()) < 0 })
		ignore := cmpopts.IgnoreFields(Checkpoint{}, "SavedMS", "Version", "Credits", "Overrides")
		if d := cmp.Diff(cp, again, order, ignore, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("checkpoint (-first +second):\n%s", d)
		}
	})
}

func TestRestore_keepsChangesForAsLongAsTheLogDoes(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	e := New(now, Options{})
	e.Register(now, Caller{}, &Record{App: "A", ID: "1", Status: Up}, Binding{})
	now = now.Add(ChangeRetention)
	e.Tick(now)
	next := New(now, Options{})
	if err := next.Restore(now, e.Checkpoint(now)); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(shown(e), shown(next), asShown); d != "" {
		t.Errorf("shown (-before +after):\n%s", d)
	}
}

func TestRestore_countsAnAbsenceOfCenturiesAsTheLongest(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	e := New(now, Options{})
	if err := e.Restore(now, &Checkpoint{SavedMS: -1 << 62}); err != nil {
		t.Fatal(err)
	}
	if got := time.Duration(e.credit - e.mono(now)); got != time.Duration(longestPause) {
		t.Errorf("nothing expires for %v, want %v", got, time.Duration(longestPause))
	}
}

func TestRestore_refusesWhatCannotHaveBeenSaved(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	record := func(app, id string) *Record { return &Record{App: app, ID: id} }
	for name, tc := range map[string]struct {
		cp   Checkpoint
		want string
	}{
		"an instance without a record": {Checkpoint{Instances: []SavedInstance{{}}}, "without a record"},
		"a deletion without a record":  {Checkpoint{Deletions: []SavedDeletion{{}}}, "without a record"},
		"two of one key":               {Checkpoint{Instances: []SavedInstance{{Record: record("A", "1")}, {Record: record("A", "1")}}}, "twice"},
		"an application in lower case": {Checkpoint{Instances: []SavedInstance{{Record: record("a", "1")}}}, "cannot be one"},
		"a port that is none":          {Checkpoint{Instances: []SavedInstance{{Record: &Record{App: "A", ID: "1", Port: Port{Number: 70_000}}}}}, "cannot be one"},
		"an interval of nearly none":   {Checkpoint{Instances: []SavedInstance{{Record: &Record{App: "A", ID: "1", RenewalInterval: 1}}}}, "cannot be one"},
		"a version that cannot grow":   {Checkpoint{Version: 1<<63 - 1}, "out of range"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := New(now, Options{}).Restore(now, &tc.cp); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestRestore_takesAbsurdAges(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	const far = time.Duration(1<<63 - 1)
	rec := &Record{App: "A", ID: "1"}
	for _, age := range []time.Duration{far, -far} {
		e := New(now, Options{})
		err := e.Restore(now, &Checkpoint{
			SavedMS: 1<<62 - 1, Credits: map[string]time.Duration{"x": age},
			Instances:  []SavedInstance{{Record: rec, Silence: age, Gaps: [3]time.Duration{age, age, age}, Age: age, Shown: true}},
			Deletions:  []SavedDeletion{{Record: &Record{App: "A", ID: "2"}, Age: age}},
			Fences:     []SavedFence{{UID: "u", Age: age, Rest: age}},
			Tombstones: []SavedTombstone{{Key: Key{"A", "3"}, Age: age}},
		})
		if err != nil {
			t.Fatal(err)
		}
		for range 400 {
			now = now.Add(time.Second)
			e.Renew(now, Caller{}, rec.Key(), Beat{})
			e.Tick(now)
		}
		if e.Snapshot().Get(rec.Key()) == nil {
			t.Errorf("age %v: an instance that renews is gone", age)
		}
	}
}

func TestRevision_growsWithWhatIsWorthACheckpoint(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	e := New(now, Options{})
	rec := &Record{App: "A", ID: "1", Status: Up}
	for _, tc := range []struct {
		name  string
		do    func()
		grows bool
	}{
		{"registration", func() { e.Register(now, Caller{}, rec, Binding{PodUID: "p"}) }, true},
		{"repeated registration", func() { e.Register(now, Caller{}, rec, Binding{PodUID: "p"}) }, true},
		{"heartbeat", func() { e.Renew(now, Caller{}, rec.Key(), Beat{Status: Up, HasDirty: true}) }, false},
		{"tick", func() { e.Tick(now) }, false},
		{"healing heartbeat", func() { e.Renew(now, Caller{}, rec.Key(), Beat{Status: Down, HasDirty: true}) }, true},
		{"override", func() { e.SetOverride(now, Caller{}, rec.Key(), OutOfService) }, true},
		{"proof of a pod without instances", func() { e.Prove(now, Proof{UID: "q"}) }, true},
		{"its return", func() { e.FreeUID("q") }, true},
		{"cancel", func() { e.Cancel(now, Caller{}, rec.Key()) }, true},
	} {
		before := e.Revision()
		if tc.do(); e.Revision() > before != tc.grows {
			t.Errorf("%s: grows is %v", tc.name, !tc.grows)
		}
	}
}

func TestGrow_agreesWithPut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var items []item
		want := map[Key]*Instance{}
		for n := range rapid.IntRange(0, 600).Draw(t, "n") {
			it := item{Key{"A", strings.Repeat("x", n%7) + string(rune('a'+n%26))}, &Instance{}, rapid.IntRange(100, segmentMax).Draw(t, "size")}
			if want[it.key] == nil {
				items = append(items, it)
				want[it.key] = it.inst
			}
		}
		slices.Reverse(items)
		tr := grow(items)
		checkTree(t, tr, want)
		extra := item{Key{"B", "new"}, &Instance{}, 200}
		want[extra.key] = extra.inst
		checkTree(t, tr.put(extra), want)
	})
}
