package rolling

import (
	"os"
	"testing"
	"time"
)

// away is how long the registry is away between its end and its start: longer than
// a client takes to notice.
const away = 15 * time.Second

// The registry itself ends and comes back while the gateway calls its instances:
// nobody notices.
func TestRegistryRestart(t *testing.T) {
	for name, play := range map[string]func(*world){
		"killed":   func(w *world) { w.Operator.Kill() },
		"upgraded": func(w *world) { w.must(w.Operator.Stop(w.Context())) },
		"moved": func(w *world) {
			w.must(w.Operator.Stop(w.Context()))
			w.must(os.Remove(w.snapshot))
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, at := range timings() {
				t.Run(at.name, func(t *testing.T) {
					w := begin(t, variant{name: "registry-" + name, title: "Kureka"}, at)
					stop := w.observe()
					w.pass(before)
					began := time.Now()
					w.Timeline.Add("scene", "the registry is %s", name)
					play(w)
					w.Timeline.Add("scene", "the registry is away")
					w.pass(away)
					w.must(w.Operator.Start(w.Context(), "Auto"))
					w.Timeline.Add("scene", "the registry is back")
					took := time.Since(began)
					w.pass(at.lease)
					w.settle()
					seen := stop()
					w.judge("registry "+name, took, seen, true)
					if seen.fewest < *instances {
						w.Errorf("the gateway knew %d instances at some time, want %d", seen.fewest, *instances)
					}
				})
			}
		})
	}
}
