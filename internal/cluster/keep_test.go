package cluster

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kureka/kureka/internal/evidence"
)

func TestWhatAPodCancelsIsRememberedWithinBounds(t *testing.T) {
	s := newScenario()
	run(t, s, "pod a ip=192.0.2.10", "register WEB/a ip=192.0.2.10 from=192.0.2.10", "cancel WEB/a from=192.0.2.10 -> done")
	run(t, s, "cancel "+strings.Repeat("X", maxAppLength+1)+"/a from=192.0.2.10 -> notfound")
	for i := range 10 * maxCancelled {
		run(t, s, fmt.Sprintf("cancel JUNK%d/a from=192.0.2.10 -> notfound", i))
	}
	if n := len(s.c.pods["a"].cancelled); n != maxCancelled {
		t.Errorf("%d are remembered", n)
	}
	for app := range s.c.pods["a"].cancelled {
		if len(app) > maxAppLength {
			t.Errorf("%q is, which nothing can claim", app)
		}
	}
	run(t, s, "offer web app=web select=app:w port=80", "pod a labels=app:w", "expect WEB/a.ns:web gone",
		"register WEB/a ip=192.0.2.10 from=192.0.2.10", "cancel WEB/a from=192.0.2.10 -> done", "expect WEB/a.ns:web gone")
}

// An event of a pod has its kept instances looked at before it is judged, which is
// enough.
func TestAnEventOfAPodHasItsKeptInstancesLookedAtOnce(t *testing.T) {
	s := newScenario()
	run(t, s, "offer web app=web select=app:w port=80", "pod a ip=192.0.2.10 labels=app:w ready", "expect WEB/a.ns:web UP")
	next := *s.pods["a"]
	next.Labels = evidence.NewLabels(map[string]string{"app": "w", "more": "x"})
	s.c.observePod(s.now, next)
	if len(s.c.stale) != 0 {
		t.Error("they would be looked at again")
	}
}
