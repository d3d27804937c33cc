package rolling

import (
	"testing"
	"time"
)

// before is for how long calls are made before anything happens.
const before = 10 * time.Second

// All instances are restarted, as many at once as the Deployment allows, while a
// gateway calls them.
func TestRollout(t *testing.T) {
	eachVariant(t, timings(), func(w *world) {
		stop := w.observe()
		w.pass(before)
		began := time.Now()
		w.restart()
		took := time.Since(began)
		w.settle()
		w.judge("rolling restart", took, stop(), w.variant.lossless)
		w.check()
	})
}

// eachVariant plays a scene in every variant with some timings, one after the other.
func eachVariant(t *testing.T, with []timing, play func(*world)) {
	t.Helper()
	for _, at := range with {
		for _, v := range variants() {
			t.Run(v.name+"/"+at.name, func(t *testing.T) { play(begin(t, v, at)) })
		}
	}
}

// check fails the test unless the gateway knows every instance again.
func (w *world) check() {
	w.Helper()
	if known, err := w.gateway.knows(w.Context()); err != nil || len(known) != *instances {
		w.Errorf("the gateway knows %v (%v), want %d instances", known, err, *instances)
	}
}
