package readiness

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kureka/kureka/internal/cluster"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// state is what a test lets the decision see.
type state struct{ listing, read bool }

// newReleases has a bound of a minute.
func newReleases(s *state) *releases {
	return &releases{
		maxWait: func(string) (time.Duration, bool) { return time.Minute, s.read },
		listing: func(time.Time) bool { return s.listing },
	}
}

func pod(name string, age time.Duration, up string) cluster.Awaiting {
	return cluster.Awaiting{UID: name, Namespace: "ns", Name: name, Created: noon.Add(-age), Up: up}
}

func reasons(list []release) map[string]string {
	out := map[string]string{}
	for _, r := range list {
		out[r.pod.Name] = r.condition.Reason
	}
	return out
}

func TestAPodIsReleasedWhenItIsListedOrOlderThanTheBound(t *testing.T) {
	waiting := []cluster.Awaiting{pod("young", 59*time.Second, ""), pod("old", time.Minute, ""), pod("up", 0, "A/up"), pod("old-and-up", time.Hour, "A/x")}
	tests := map[string]struct {
		state state
		want  map[string]string
	}{
		"lists are answered": {state{listing: true, read: true}, map[string]string{"old": "WaitedLongEnough", "up": "Registered", "old-and-up": "Registered"}},
		"lists are refused":  {state{read: true}, map[string]string{"old": "WaitedLongEnough", "old-and-up": "WaitedLongEnough"}},
		"policies are not read yet": {
			state{listing: true},
			map[string]string{"up": "Registered", "old-and-up": "Registered"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, reasons(newReleases(&tc.state).due(noon, waiting))); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestPoliciesThatCannotBeReadHoldNobodyForLong(t *testing.T) {
	s := &state{listing: true}
	r := newReleases(s)
	old := []cluster.Awaiting{pod("old", time.Hour, "")}
	for _, step := range []struct {
		after    time.Duration
		released int
	}{{0, 0}, {policyPatience - 1, 0}, {policyPatience, 1}, {policyPatience + writeAgain, 1}} {
		if got := r.due(noon.Add(step.after), old); len(got) != step.released {
			t.Errorf("after %v %d are released, want %d", step.after, len(got), step.released)
		}
	}
	if got := r.due(noon.Add(time.Hour), nil); len(got) != 0 || !r.unread.IsZero() || len(r.tried) != 0 {
		t.Errorf("with nobody waiting %v is remembered", r)
	}
}

func TestAConditionIsWrittenAgainWhenItDoesNotShowUp(t *testing.T) {
	r := newReleases(&state{listing: true, read: true})
	up := []cluster.Awaiting{pod("a", 0, "A/a")}
	for after, want := range []int{1, 0, 1} { // in halves of the time
		if got := r.due(noon.Add(time.Duration(after)*writeAgain/2), up); len(got) != want {
			t.Errorf("after %d halves %d are written, want %d", after, len(got), want)
		}
	}
}
