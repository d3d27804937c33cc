package consumers

import (
	"net/netip"
	"testing"
	"time"

	"github.com/kureka/kureka/internal/registry"
)

// aged is a world in which everybody had the time to fetch, with an instance a.
func aged(rhythm map[netip.Addr]time.Duration) *world {
	w := newWorld()
	w.register("a", registry.Up)
	w.pass(100*time.Second, rhythm)
	return w
}

// asked is what somebody holds who saw that instances are not in service.
type asked struct {
	keys    []registry.Key
	seen    time.Time
	version int64
}

func (w *world) ask(ids ...string) asked {
	q := asked{seen: w.now, version: w.engine.Snapshot().Version}
	for _, id := range ids {
		q.keys = append(q.keys, registry.Key{App: "A", ID: id})
	}
	return q
}

func (w *world) learned(q asked) (ago time.Duration, ok bool) {
	since, ok := w.t.Learned(w.now, q.keys, q.seen, q.version)
	return w.now.Sub(since), ok
}

func (w *world) wantUnlearned(t *testing.T, q asked, when string) {
	t.Helper()
	if ago, ok := w.learned(q); ok {
		t.Errorf("%s: learned %v ago", when, ago)
	}
}

func (w *world) wantLearned(t *testing.T, q asked, want time.Duration, when string) {
	t.Helper()
	if ago, ok := w.learned(q); !ok || (ago-want).Abs() > 200*time.Millisecond {
		t.Errorf("%s: learned %v ago (%v), want %v", when, ago, ok, want)
	}
}

func TestADepartureIsLearnedOnceTheSlowestHasFetched(t *testing.T) {
	rhythm := map[netip.Addr]time.Duration{}
	w := newWorld()
	rhythm[w.pod(1)], rhythm[w.pod(2)] = 5*time.Second, 20*time.Second
	w.register("a", registry.Up)
	w.pass(100*time.Second, rhythm)
	w.register("a", registry.OutOfService)
	q := w.ask("a")
	w.wantUnlearned(t, q, "before it was looked at")
	w.pass(19*time.Second, rhythm)
	w.wantUnlearned(t, q, "before the slow one has fetched")
	w.pass(4*time.Second, rhythm)
	w.wantLearned(t, q, 3*time.Second, "after the slow one has fetched")
	// Whoever asks later gets the same answer: nobody has to learn it twice.
	w.pass(60*time.Second, rhythm)
	w.wantLearned(t, w.ask("a"), 63*time.Second, "asked a minute later")
	// But its next life is another departure.
	w.register("a", registry.Up)
	w.pass(30*time.Second, rhythm)
	w.engine.Cancel(w.now, registry.Caller{}, registry.Key{App: "A", ID: "a"})
	q = w.ask("a")
	w.wantUnlearned(t, q, "its next departure, before it was looked at")
	w.pass(time.Second, rhythm)
	w.wantUnlearned(t, q, "its next departure")
}

func TestWhatWasNeverInServiceIsLearnedWithTheNextFetch(t *testing.T) {
	w := newWorld()
	rhythm := map[netip.Addr]time.Duration{w.pod(1): 20 * time.Second}
	w.register("a", registry.Starting)
	w.pass(100*time.Second, rhythm)
	w.register("b", registry.Starting) // a new version
	for _, q := range []asked{w.ask("a"), w.ask(), w.ask("unknown")} {
		w.wantUnlearned(t, q, "at once")
	}
	q := w.ask("a")
	w.pass(22*time.Second, rhythm)
	w.wantLearned(t, q, 0, "after the fetch")
}

func TestWhoeverCannotBeMeasuredGetsTheUsualInterval(t *testing.T) {
	for name, rhythm := range map[string]map[netip.Addr]time.Duration{
		"nobody fetches":        {},
		"one behind an address": {address(3): 5 * time.Second},
	} {
		w := aged(rhythm)
		w.register("a", registry.OutOfService)
		q := w.ask("a")
		w.pass(29*time.Second, rhythm)
		w.wantUnlearned(t, q, name+", before the usual interval")
		w.pass(3*time.Second, rhythm)
		w.wantLearned(t, q, 2*time.Second, name)
		if _, ok := w.learned(w.ask("unknown")); ok {
			t.Errorf("%s: at once", name)
		}
	}
}

func TestAfterAStartSomebodyMayNotHaveFetchedYet(t *testing.T) {
	w := newWorld()
	rhythm := map[netip.Addr]time.Duration{w.pod(1): 5 * time.Second}
	w.register("a", registry.Up)
	w.pass(20*time.Second, rhythm)
	if got, want := w.t.Fetching(), (Fetching{Known: 1, Unknown: 1, Slowest: 5 * time.Second}); got != want {
		t.Errorf("fetching %+v, want %+v", got, want)
	}
	w.register("a", registry.OutOfService)
	q := w.ask("a")
	w.pass(20*time.Second, rhythm)
	w.wantUnlearned(t, q, "soon after a start")
	w.pass(90*time.Second, rhythm)
	if got := w.t.Fetching(); got.Unknown != 0 {
		t.Errorf("fetching %+v", got)
	}
}
