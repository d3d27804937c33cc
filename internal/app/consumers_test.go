package app

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kureka/kureka/internal/consumers"
)

func TestWhoFetchesIsListedAndCounted(t *testing.T) {
	a, _ := start(t, options(Standalone))
	if code, _ := ask(t, a.Addr(), http.MethodPost, "/eureka/apps/DEMO", demoBody("a", "192.0.2.1")); code != http.StatusNoContent {
		t.Fatalf("registering: %d", code)
	}
	ask(t, a.Addr(), http.MethodGet, "/eureka/apps", "")
	var page string
	listed := func(context.Context) (bool, error) {
		_, page = ask(t, a.Addr(), http.MethodGet, "/kureka/v1/consumers", "")                      //nolint:contextcheck // the test's own
		return strings.Contains(page, `"unknown": 2`) || strings.Contains(page, `"unknown":2`), nil // one more soon after a start
	}
	if err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, listed); err != nil {
		t.Fatalf("%v: %s", err, page)
	}
	if !strings.Contains(page, "127.0.0.1") {
		t.Errorf("no address in %s", page)
	}
	ask(t, a.Addr(), http.MethodDelete, "/eureka/apps/DEMO/a", "")
	counted := func(context.Context) (bool, error) {
		_, page = ask(t, a.servers[1].l.Addr(), http.MethodGet, "/metrics", "") //nolint:contextcheck // the test's own
		return strings.Contains(page, `kureka_departures_total{consumers="none_known"} 1`), nil
	}
	if err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, counted); err != nil {
		t.Fatalf("%v: %s", err, page)
	}
	if !strings.Contains(page, `kureka_consumers{known="false"} 2`) {
		t.Errorf("no gauge in %s", page)
	}
}

func TestADepartureSaysWhichConsumersItCovers(t *testing.T) {
	for want, d := range map[string]consumers.Departure{
		coveredAll:  {Known: 2},
		coveredSome: {Known: 2, Unknown: 1},
		coveredNone: {Unknown: 1},
		coveredLate: {Known: 2, Late: true},
	} {
		if got := coverage(d); got != want {
			t.Errorf("%+v covers %s, want %s", d, got, want)
		}
	}
}
