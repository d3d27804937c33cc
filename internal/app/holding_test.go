package app

import (
	"net/http"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/internal/hold"
)

// A kubelet has no password, and is answered all the same: at the end of its time
// for a pod that is deleted, and at once for one that is not.
func TestAPreStopRequestIsHeldWithoutAPassword(t *testing.T) {
	s := openShop(t)
	s.must(s.stop())
	s.opts.UsersFile = usersFile(t)
	s.open()
	pod := s.runPod("orders-1", "10.99.1.1", nil, map[string]string{v1alpha1.DrainHoldAnnotation: "t1"})
	s.eventually("the pod is known", func() bool { return len(s.app.cluster.Endings("t1")) == 1 })
	asks := func(seconds int64, want hold.Outcome) {
		t.Helper()
		if code, body := ask(t, s.app.Addr(), http.MethodGet, hold.Path("t1", seconds, 30), ""); code != http.StatusOK || !strings.Contains(body, string(want)) {
			t.Errorf("%d %s, want %s", code, body, want)
		}
	}
	asks(90, hold.NotEnding)
	s.must(s.admin.Delete(t.Context(), pod, client.GracePeriodSeconds(120)))
	s.eventually("its end is known", func() bool {
		e := s.app.cluster.Endings("t1")
		return len(e) == 1 && !e[0].Since.IsZero() && e[0].Grace.Seconds() == 120
	})
	asks(1, hold.Limit)
	if _, metrics := ask(t, s.app.servers[1].l.Addr(), http.MethodGet, "/metrics", ""); !strings.Contains(metrics, `kureka_drain_hold_seconds_count{outcome="limit"} 1`) ||
		!strings.Contains(metrics, `kureka_drain_hold_seconds_count{outcome="not_ending"} 1`) || !strings.Contains(metrics, "kureka_drain_holds 0") {
		t.Error("the metrics lack the holds")
	}
	if code, _ := ask(t, s.app.Addr(), http.MethodGet, "/kureka/v1/view", ""); code != http.StatusUnauthorized {
		t.Errorf("anything else: %d", code)
	}
}
