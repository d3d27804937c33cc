package registry

import (
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// model is the engine's rules written naively: every figure is recomputed from
// scratch by looking at everything, every second.
type model struct {
	now       time.Time
	insts     map[Key]*modelInst
	overrides map[Key]modelOverride
	engaged   map[string]time.Time // since
	credit    map[string]time.Time
	seq       int
}

type modelInst struct {
	status             Status
	statusSeq          int
	dirty              int64
	interval, duration time.Duration
	renewed            time.Time
	ns                 string
	out                bool
}

type modelOverride struct {
	status Status
	seq    int
}

func newModel(now time.Time) *model {
	return &model{
		now: now, insts: map[Key]*modelInst{}, overrides: map[Key]modelOverride{},
		engaged: map[string]time.Time{}, credit: map[string]time.Time{},
	}
}

func (m *model) next() int { m.seq++; return m.seq }

func (m *model) visible(key Key) Status {
	i := m.insts[key]
	o, overridden := m.overrides[key]
	switch {
	case i.out:
		return OutOfService
	case !overridden:
		return i.status
	case i.status != Up && i.status != Unknown && i.statusSeq > o.seq:
		return i.status
	}
	return o.status
}

func (m *model) figures(ns string) (expected, received float64) {
	for _, i := range m.insts {
		if i.ns != ns || i.out {
			continue
		}
		r := 60 / i.interval.Seconds()
		expected += r
		if m.now.Sub(i.renewed) <= i.interval+max(3*time.Second, i.interval/5) {
			received += r
		}
	}
	return expected, received
}

// judge follows self-preservation of every namespace; it is asked after every step.
func (m *model) judge() {
	for _, ns := range []string{"", "x", "y"} {
		expected, received := m.figures(ns)
		since, was := m.engaged[ns]
		is := received*100 < expected*85
		switch {
		case is && !was:
			m.engaged[ns] = m.now
		case !is && was:
			delete(m.engaged, ns)
			held := m.now.Sub(since)
			credit := 30 * time.Second
			if held >= credit {
				credit = min(held+90*time.Second, 330*time.Second)
			}
			if until := m.now.Add(credit); until.After(m.credit[ns]) {
				m.credit[ns] = until
			}
		}
	}
}

func (m *model) second() {
	m.now = m.now.Add(time.Second)
	m.judge()
	for _, ns := range []string{"", "x", "y"} {
		for _, key := range m.overdue(ns) {
			i := m.insts[key]
			_, engaged := m.engaged[ns]
			if m.now.Before(m.credit[ns]) || engaged && !i.out {
				continue
			}
			delete(m.insts, key)
			m.judge()
		}
	}
}

func (m *model) overdue(ns string) []Key {
	var keys []Key
	for key, i := range m.insts {
		if i.ns == ns && m.now.Sub(i.renewed) > i.duration {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b Key) int {
		if c := m.insts[a].renewed.Compare(m.insts[b].renewed); c != 0 {
			return c
		}
		return a.compare(b)
	})
	return keys
}

func TestEngineAgreesWithNaiveModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(1_700_000_000, 0)
		p := DefaultPolicy()
		p.MaxEvictionPercent = 1_000_000 // the cap has scenarios of its own
		e, m := New(now, Options{Policy: p}), newModel(now)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			step(t, e, m)
			m.judge()
			compareWithModel(t, e, m)
		}
	})
}

func step(t *rapid.T, e *Engine, m *model) {
	key := Key{rapid.SampledFrom([]string{"A", "B"}).Draw(t, "app"), rapid.SampledFrom([]string{"1", "2", "3", "4"}).Draw(t, "id")}
	i := m.insts[key]
	switch op := rapid.IntRange(0, 9).Draw(t, "op"); op {
	case 0, 1, 2:
		stepRegister(t, e, m, key)
	case 3, 4:
		stepRenew(t, e, m, key, i)
	case 5:
		stepWant(t, e.Cancel(m.now, Caller{}, key), i)
		delete(m.insts, key)
		delete(m.overrides, key)
	case 6:
		s := rapid.SampledFrom([]Status{Up, Down, OutOfService}).Draw(t, "override")
		stepWant(t, e.SetOverride(m.now, Caller{}, key, s), i)
		if i != nil {
			m.overrides[key] = modelOverride{s, m.next()}
		}
	case 7:
		stepWant(t, e.ClearOverride(m.now, Caller{}, key), i)
		if i != nil {
			delete(m.overrides, key)
		}
	case 8:
		out := rapid.Bool().Draw(t, "out")
		v := Verdict{}
		if out {
			v = Verdict{OutOfService: true, Reason: "Test"}
		}
		e.SetVerdict(m.now, key, v)
		if i != nil {
			i.out = out
		}
	default:
		for range rapid.IntRange(1, 70).Draw(t, "seconds") {
			m.second()
			e.Touch(m.now)
			e.Tick(m.now)
		}
	}
}

func stepRegister(t *rapid.T, e *Engine, m *model, key Key) {
	i := &modelInst{
		status:   rapid.SampledFrom([]Status{Up, Up, Starting, Down, OutOfService, Unknown}).Draw(t, "status"),
		dirty:    rapid.Int64Range(1, 5).Draw(t, "dirty"),
		interval: time.Duration(rapid.SampledFrom([]int{5, 10, 30, 60}).Draw(t, "interval")) * time.Second,
		duration: time.Duration(rapid.SampledFrom([]int{3, 30, 90}).Draw(t, "duration")) * time.Second,
		ns:       rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "ns"),
		renewed:  m.now,
	}
	i.statusSeq = m.next()
	e.Register(m.now, Caller{}, &Record{
		App: key.App, ID: key.ID, Status: i.status, Dirty: i.dirty, VIP: "v1,v2",
		RenewalInterval: i.interval, LeaseDuration: i.duration,
	}, Binding{Partition: i.ns})
	m.insts[key] = i
}

func stepRenew(t *rapid.T, e *Engine, m *model, key Key, i *modelInst) {
	b := Beat{
		Status: rapid.SampledFrom([]Status{None, Up, Down, Starting}).Draw(t, "beat"),
		Dirty:  rapid.Int64Range(1, 6).Draw(t, "beatDirty"), HasDirty: rapid.Bool().Draw(t, "hasDirty"),
	}
	got := e.Renew(m.now, Caller{}, key, b).Outcome
	if i == nil {
		if got != NotFound {
			t.Fatalf("heartbeat without record answered %v", got)
		}
		return
	}
	i.renewed = m.now
	want := Done
	if b.HasDirty && b.Dirty >= i.dirty {
		if b.Status != None && b.Status != i.status {
			i.status, i.statusSeq = b.Status, m.next()
		}
		if b.Dirty > i.dirty {
			want = Newer
		}
	}
	if got != want {
		t.Fatalf("heartbeat answered %v, want %v", got, want)
	}
}

func stepWant(t *rapid.T, got Outcome, i *modelInst) {
	if want := map[bool]Outcome{true: NotFound, false: Done}[i == nil]; got != want {
		t.Fatalf("answered %v, want %v", got, want)
	}
}

func compareWithModel(t *rapid.T, e *Engine, m *model) {
	want, counts := map[Key]Status{}, Counts{}
	for key := range m.insts {
		want[key] = m.visible(key)
		counts.add(want[key], 1)
	}
	snap := e.Snapshot()
	got := map[Key]Status{}
	for i := range snap.All() {
		got[i.Key()] = i.Status
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("statuses (-model +engine):\n%s", d)
	}
	if counts != snap.Counts {
		t.Fatalf("counts %v, want %v", snap.Counts, counts)
	}
	checkIndexes(t, snap, want)
	for _, p := range e.Partitions() {
		expected, received := m.figures(p.Name)
		_, engaged := m.engaged[p.Name]
		if p.Expected != expected || p.Received != received || p.Engaged != engaged {
			t.Fatalf("partition %q: %+v, model expected=%v received=%v engaged=%v", p.Name, p, expected, received, engaged)
		}
	}
}

func checkIndexes(t *rapid.T, snap *Snapshot, want map[Key]Status) {
	for name, seq := range map[string]func(func(*Instance) bool){
		"vip1": snap.VIP("v1"), "vip2": snap.VIP("v2"),
	} {
		got := map[Key]Status{}
		for i := range seq {
			got[i.Key()] = i.Status
		}
		if !maps.Equal(got, want) {
			t.Fatalf("index %s: %v, want %v", name, got, want)
		}
	}
	for key, s := range want {
		if i := snap.Get(key); i == nil || i.Status != s {
			t.Fatalf("Get(%v) = %v", key, i)
		}
		found := false
		for i := range snap.ByID(key.ID) {
			found = found || i.App == key.App
		}
		if !found {
			t.Fatalf("ByID misses %v", key)
		}
	}
}

func TestTreeAgreesWithMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tr tree
		want := map[Key]*Instance{}
		old, oldWant := tr, maps.Clone(want)
		for n := range rapid.IntRange(1, 400).Draw(t, "steps") {
			key := Key{strconv.Itoa(rapid.IntRange(0, 9).Draw(t, "app")), strconv.Itoa(rapid.IntRange(0, 99).Draw(t, "id"))}
			if rapid.IntRange(0, 2).Draw(t, "op") == 0 {
				tr = tr.drop(key)
				delete(want, key)
			} else {
				inst := &Instance{}
				tr = tr.put(item{key, inst, rapid.IntRange(100, segmentMax/2).Draw(t, "size")})
				want[key] = inst
			}
			if n == 100 {
				old, oldWant = tr, maps.Clone(want)
			}
		}
		checkTree(t, tr, want)
		checkTree(t, old, oldWant) // later changes have not touched it
	})
}

func checkTree(t *rapid.T, tr tree, want map[Key]*Instance) {
	got := map[Key]*Instance{}
	last := Key{}
	for key, inst := range tr.ascend(Key{}) {
		if len(got) > 0 && key.compare(last) <= 0 {
			t.Fatalf("%v after %v", key, last)
		}
		last = key
		got[key] = inst
	}
	if !maps.Equal(got, want) || tr.len() != len(want) {
		t.Fatalf("tree holds %d (len %d), want %d", len(got), tr.len(), len(want))
	}
	for key, inst := range want {
		if tr.get(key) != inst {
			t.Fatalf("get(%v)", key)
		}
	}
	for s := range tr.segments() {
		if s.Len() == 0 || s.size > segmentMax && s.Len() > 1 {
			t.Fatalf("segment of %d instances and %d bytes", s.Len(), s.size)
		}
	}
}
