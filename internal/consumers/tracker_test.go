package consumers

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kureka/kureka/internal/registry"
)

// world is a registry whose consumers are followed, ticked ten times a second.
type world struct {
	now    time.Time
	engine *registry.Engine
	t      *Tracker
	pods   map[netip.Addr]string
	done   []Departure
}

func newWorld() *world {
	w := &world{now: time.Unix(1_700_000_000, 0), pods: map[netip.Addr]string{}}
	w.engine = registry.New(w.now, registry.Options{})
	w.t = New(w.engine.Snapshot(), Options{
		PodAt: func(a netip.Addr) string { return w.pods[a] },
		Done:  func(d Departure) { w.done = append(w.done, d) },
	})
	return w
}

func address(n int) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, byte(n >> 8), byte(n)}) }

func (w *world) pod(n int) netip.Addr {
	w.pods[address(n)] = fmt.Sprintf("shop/p%d", n)
	return address(n)
}

func (w *world) register(id string, s registry.Status) {
	w.engine.Register(w.now, registry.Caller{}, &registry.Record{App: "A", ID: id, Status: s}, registry.Binding{})
}

func (w *world) fetch(a netip.Addr) { w.t.Fetched(w.now, a, "client", w.engine.Snapshot().Version) }

// pass lets time pass while consumers fetch at their intervals.
func (w *world) pass(d time.Duration, every map[netip.Addr]time.Duration) {
	for end := w.now.Add(d); w.now.Before(end); {
		w.now = w.now.Add(100 * time.Millisecond)
		for a, interval := range every {
			if w.now.Sub(time.Unix(1_700_000_000, 0))%interval == 0 {
				w.fetch(a)
			}
		}
		w.t.Tick(w.now, w.engine.Snapshot())
	}
}

func TestADepartureIsOverWhenTheLastConsumerHasFetched(t *testing.T) {
	w := newWorld()
	w.register("a", registry.Up)
	w.register("b", registry.Up)
	w.register("c", registry.Up)
	rhythm := map[netip.Addr]time.Duration{w.pod(1): 5 * time.Second, w.pod(2): 30 * time.Second, address(3): 20 * time.Second}
	w.pass(130*time.Second, rhythm)
	if got, want := w.t.Fetching(), (Fetching{Known: 2, Unknown: 1, Slowest: 30 * time.Second}); got != want {
		t.Errorf("fetching %+v, want %+v", got, want)
	}
	w.register("a", registry.OutOfService)
	w.engine.Cancel(w.now, registry.Caller{}, registry.Key{App: "A", ID: "b"})
	w.register("c", registry.Down)
	began := w.now
	w.pass(19900*time.Millisecond, rhythm)
	if len(w.done) > 0 {
		t.Fatalf("over before the slow one has fetched: %+v", w.done)
	}
	w.pass(100*time.Millisecond, rhythm)
	causes := map[string]Cause{}
	for _, d := range w.done {
		causes[d.ID] = d.Cause
		if d.At.Sub(began) > 100*time.Millisecond || !d.Over.Equal(w.now) || d.Known != 2 || d.Unknown != 1 || d.Late {
			t.Errorf("departure %+v", d)
		}
	}
	if d := cmp.Diff(map[string]Cause{"a": TakenOut, "b": Removed, "c": OwnRequest}, causes); d != "" {
		t.Errorf("causes (-want +got)\n%s", d)
	}
}

func TestAConsumerThatIsGoneIsNotWaitedFor(t *testing.T) {
	t.Run("its pod", func(t *testing.T) {
		w := newWorld()
		w.register("a", registry.Up)
		rhythm := map[netip.Addr]time.Duration{w.pod(1): 5 * time.Second, w.pod(2): 30 * time.Second}
		w.pass(100*time.Second, rhythm)
		delete(rhythm, address(2))
		delete(w.pods, address(2))
		w.engine.Cancel(w.now, registry.Caller{}, registry.Key{App: "A", ID: "a"})
		w.pass(6*time.Second, rhythm)
		if len(w.done) != 1 || w.done[0].Known != 1 {
			t.Errorf("done %+v", w.done)
		}
	})
	t.Run("silent for three intervals", func(t *testing.T) {
		w := newWorld()
		w.register("a", registry.Up)
		rhythm := map[netip.Addr]time.Duration{w.pod(1): 5 * time.Second, w.pod(2): 10 * time.Second}
		w.pass(100*time.Second, rhythm)
		delete(rhythm, address(2))
		w.engine.Cancel(w.now, registry.Caller{}, registry.Key{App: "A", ID: "a"})
		w.pass(29*time.Second, rhythm)
		if len(w.done) != 0 {
			t.Errorf("given up early: %+v", w.done)
		}
		w.pass(3*time.Second, rhythm)
		if len(w.done) != 1 || w.t.Fetching().Known != 1 {
			t.Errorf("done %+v", w.done)
		}
	})
}

func TestTheIntervalIsTheUsualOneUntilItIsMeasuredAndForgivesOnePause(t *testing.T) {
	w := newWorld()
	a := w.pod(1)
	intervals := func(pauses ...time.Duration) time.Duration {
		for _, p := range pauses {
			w.now = w.now.Add(p)
			w.fetch(a)
		}
		w.now = w.now.Add(2 * time.Second)
		w.t.Tick(w.now, w.engine.Snapshot())
		return w.t.Fetching().Slowest
	}
	for i, tc := range []struct {
		pauses []time.Duration
		want   time.Duration
	}{
		{[]time.Duration{0}, UsualInterval},
		{[]time.Duration{5 * time.Second}, UsualInterval},
		{[]time.Duration{6 * time.Second}, 8 * time.Second}, // the larger of two, with the ticks above
		{[]time.Duration{6 * time.Second, 100 * time.Millisecond}, 8 * time.Second},
		{[]time.Duration{20 * time.Second, 6 * time.Second, 6 * time.Second}, 6 * time.Second},
	} {
		if got := intervals(tc.pauses...); got != tc.want {
			t.Errorf("%d: %v, want %v", i, got, tc.want)
		}
	}
}

func TestWhatIsRememberedOfConsumersIsBounded(t *testing.T) {
	w := newWorld()
	w.register("a", registry.Up)
	long := strings.Repeat("x", 10*maxAgent)
	for i := range maxConsumers + 10 {
		w.t.Fetched(w.now, netip.Addr{}, fmt.Sprint(i, long), 1)
	}
	w.pass(2*time.Second, nil)
	active, _ := w.t.Report()
	if len(active) != maxConsumers || len(active[0].Agent) != maxAgent {
		t.Errorf("%d consumers with agents of %d bytes", len(active), len(active[0].Agent))
	}
	if got := w.t.Fetching(); got.Unknown != maxConsumers+1 || got.Known != 0 {
		t.Errorf("fetching %+v", got)
	}
	w.pass(3*time.Minute, nil)
	if active, _ = w.t.Report(); len(active) != 0 {
		t.Errorf("%d are remembered after they have gone", len(active))
	}
}

func TestDeparturesAreBoundedAndGivenUp(t *testing.T) {
	w := newWorld()
	a := w.pod(1)
	w.t.Fetched(w.now, a, "client", 0)
	for i := range maxPending + 5 {
		w.register(strconv.Itoa(i), registry.Up)
	}
	w.t.Tick(w.now, w.engine.Snapshot())
	for i := range maxPending + 5 {
		w.engine.Cancel(w.now, registry.Caller{}, registry.Key{App: "A", ID: strconv.Itoa(i)})
	}
	w.pass(100*time.Millisecond, nil)
	if len(w.done) != 5 || !w.done[0].Late {
		t.Fatalf("%d are over", len(w.done))
	}
	for range 65 { // it asks, and never gets anything new
		w.pass(10*time.Second, nil)
		w.t.Fetched(w.now, a, "client", 1)
	}
	if len(w.done) != maxPending+5 || !w.done[maxPending].Late {
		t.Errorf("%d are over", len(w.done))
	}
	if _, all := w.t.Report(); len(all) > maxOver {
		t.Errorf("%d departures are remembered", len(all))
	}
}

// Whoever tells whose an address is may hold locks for long; answers to clients
// must not wait for them.
func TestNobodyWhoFetchesWaitsUntilItIsKnownWhoseAnAddressIs(t *testing.T) {
	w := newWorld()
	asked := 0
	w.t.opts.PodAt = func(netip.Addr) string {
		asked++
		w.fetch(address(2)) // would wait for ever
		return "shop/p1"
	}
	w.fetch(address(1))
	w.pass(2*time.Second, nil)
	if active, _ := w.t.Report(); asked == 0 || len(active) != 2 {
		t.Errorf("asked %d times about %d consumers", asked, len(active))
	}
}
