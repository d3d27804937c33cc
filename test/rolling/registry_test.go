package rolling

import (
	"os"
	"testing"
	"time"
)

// away is how long the registry is away: longer than a client takes to notice.
const away = 15 * time.Second

// The registry itself ends and comes back while the gateway calls instances that it
// found there: nobody notices.
func TestRegistryRestart(t *testing.T) {
	for _, end := range []struct {
		name, scene string
		of          func(*world)
	}{
		{"killed", "registry killed", func(w *world) { w.Operator.Kill() }},
		{"upgraded", "registry upgraded", func(w *world) { w.must(w.Operator.Stop(w.Context())) }},
		{"moved", "registry upgraded, its file lost", func(w *world) {
			w.must(w.Operator.Stop(w.Context()))
			w.must(os.Remove(w.snapshot))
		}},
	} {
		t.Run(end.name, func(t *testing.T) {
			for _, at := range timings() {
				t.Run(at.name, func(t *testing.T) {
					w := begin(t, variant{name: "registry-" + end.name, title: "Kureka"}, at)
					stop := w.observe()
					w.pass(before)
					began := time.Now()
					w.Timeline.Add("scene", "%s", end.scene)
					end.of(w)
					w.Timeline.Add("scene", "the registry is away")
					w.awaitBack()
					took := time.Since(began)
					w.pass(at.lease)
					w.settle()
					seen := stop()
					w.judge(end.scene, took, seen, true)
					if seen.fewest < *instances {
						t.Errorf("the gateway knew %d instances at some time, want %d", seen.fewest, *instances)
					}
				})
			}
		})
	}
}

// awaitBack starts the registry again after a while and returns when it takes
// registrations.
func (w *world) awaitBack() {
	w.Helper()
	w.pass(away)
	w.must(w.Operator.Start(w.Context(), "Auto"))
	w.Timeline.Add("scene", "the registry is back")
}
