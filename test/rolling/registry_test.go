package rolling

import (
	"os"
	"testing"
	"time"
)

// away is how long the registry is away: longer than a client takes to notice.
const away = 15 * time.Second

// The registry itself ends and comes back, in three ways one after the other, while
// the gateway calls instances that it found there: nobody notices.
func TestRegistryRestart(t *testing.T) {
	for _, at := range timings() {
		t.Run(at.name, func(t *testing.T) {
			w := begin(t, variant{name: "restarted", title: "Kureka"}, at)
			w.playEnd("registry killed", func() { w.Operator.Kill() })
			w.playEnd("registry upgraded", func() { w.must(w.Operator.Stop(w.Context())) })
			w.playEnd("registry upgraded, its file lost", func() {
				w.must(w.Operator.Stop(w.Context()))
				w.must(os.Remove(w.snapshot))
			})
		})
	}
}

// playEnd ends the registry and starts it again after a while. The scene lasts until
// all have renewed and fetched since.
func (w *world) playEnd(scene string, end func()) {
	w.Helper()
	stop := w.observe()
	w.pass(before)
	began := time.Now()
	w.Timeline.Add("scene", "%s", scene)
	end()
	w.Timeline.Add("scene", "the registry is away")
	w.pass(away)
	w.must(w.Operator.Start(w.Context(), "Auto"))
	w.Timeline.Add("scene", "the registry is back")
	took := time.Since(began)
	w.pass(w.timing.lease)
	w.settle()
	seen := stop()
	w.judge(scene, took, seen, true)
	if seen.fewest < *instances {
		w.Errorf("the gateway knew %d instances at some time, want %d", seen.fewest, *instances)
	}
}
