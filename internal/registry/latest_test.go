package registry

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLatest_tellsWhoCameAndWhoLeftAndWhy(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	policy := DefaultPolicy()
	policy.SelfPreservation = false
	e := New(now, Options{Policy: policy})
	later := func(d time.Duration) time.Time {
		now = now.Add(d)
		return now
	}
	register := func(id string, b Binding) {
		e.Register(later(time.Second), Caller{}, &Record{App: "A", ID: id, LeaseDuration: time.Minute}, b)
	}
	register("cancelled", Binding{})
	register("expired", Binding{})
	register("proven", Binding{PodUID: "u"})
	register("removed", Binding{})
	register("removed", Binding{})
	e.Keep(later(time.Second), &Record{App: "A", ID: "kept"}, Binding{PodUID: "k"})
	e.Cancel(later(time.Second), Caller{}, NewKey("a", "cancelled"))
	e.Cancel(later(time.Second), Caller{}, NewKey("a", "cancelled"))
	e.Prove(later(time.Second), Proof{UID: "u"})
	e.Remove(later(time.Second), NewKey("a", "removed"))
	e.Tick(now)
	for range 200 {
		e.Touch(now)
		e.Tick(later(time.Second))
	}
	if came, left := e.Totals(); came != 6 || !cmp.Equal(left, map[string]int64{EndCancelled: 1, EndExpired: 1, EndProven: 1, EndRemoved: 1}) {
		t.Errorf("%d registrations, %v", came, left)
	}
	if n := e.Fenced(); n != 1 {
		t.Errorf("%d pods are fenced", n)
	}
	registered, ended := e.Latest()
	if diff := cmp.Diff([]string{"kept", "removed", "removed", "proven", "expired", "cancelled"}, ids(registered)); diff != "" {
		t.Errorf("registered (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"expired LeaseExpired", "removed Removed", "proven PodGone", "cancelled Cancelled"}, ids(ended)); diff != "" {
		t.Errorf("ended (-want +got)\n%s", diff)
	}
	if got := ended[3].AtMS; got != 1_700_000_007_000 {
		t.Errorf("cancelled at %d", got)
	}
}

// ids are the moments' instances with the reason, if there is one.
func ids(moments []Moment) []string {
	out := make([]string, 0, len(moments))
	for _, m := range moments {
		id := m.Key.ID
		if m.Reason != "" {
			id += " " + m.Reason
		}
		out = append(out, id)
	}
	return out
}

func TestLatest_keepsTheNewest(t *testing.T) {
	var l latest
	for i := range 2*latestEach + 7 {
		l.add(Moment{Key: Key{ID: strconv.Itoa(i)}})
		got := l.newestFirst()
		if want := min(i+1, latestEach); len(got) != want || got[0].Key.ID != strconv.Itoa(i) || got[want-1].Key.ID != strconv.Itoa(i+1-want) {
			t.Fatalf("after %d there are %d from %s to %s", i+1, len(got), got[0].Key.ID, got[len(got)-1].Key.ID)
		}
	}
}
