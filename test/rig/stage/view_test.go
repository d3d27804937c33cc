package stage

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kureka/kureka/test/rig/gateway"
)

// at is a moment of these tests, in seconds.
func at(seconds int) time.Time { return time.Unix(int64(seconds), 0) }

func response(start, end int, up ...string) gateway.Response {
	r := gateway.Response{Start: at(start), End: at(end), Code: 200, Listed: true, Statuses: map[string]string{}}
	for _, id := range up {
		r.Statuses[id] = "UP"
	}
	return r
}

func TestView_tellsTheCourseOfAnInstance(t *testing.T) {
	v := &View{Timeline: NewTimeline(), App: "orders", sightings: map[string][]Sighting{}}
	out := response(3, 4, "other")
	out.Statuses["a"] = "OUT_OF_SERVICE"
	for _, r := range []gateway.Response{
		response(1, 2, "a", "other"), response(2, 3, "a", "other"), out,
		{Start: at(4), End: at(5), Code: 503},
		{Start: at(5), End: at(6), Code: 200},
		response(6, 7, "other"),
	} {
		v.take(r)
	}
	got := []string{v.Course("a"), v.Leaving("a"), v.Courses("a", "other", "other"), v.Course("nobody")}
	want := []string{"UP > OUT_OF_SERVICE > gone", "UP > gone", "UP; UP > OUT_OF_SERVICE > gone", "never listed"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("courses differ (-want +got):\n%s", diff)
	}
	if at(7) != v.First("a", Gone) || v.Garbled() != 1 {
		t.Errorf("gone at %v with %d garbled answers, want %v with 1", v.First("a", Gone), v.Garbled(), at(7))
	}
}
