package chaos

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kureka/kureka/test/rig/stage"
)

const (
	// settle is how long nothing must fail, in seconds; limit is what the tools hold
	// against the worst time, far above what it takes.
	settle = "3"
	limit  = "60"
)

// killsFile is one that an earlier run has left.
func killsFile(t *testing.T) *os.File {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "kills"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() }) // only read by others
	if _, err := file.WriteString(`{"at":"2026-11-01T03:14:15.123456Z","pod":"of-an-earlier-run","ip":"192.0.2.1"}` + "\n"); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestMeasureStaleRouting_measuresUntilNobodyCallsTheDead(t *testing.T) {
	t.Parallel()
	s, _, _ := playing(t, "wares", 6)
	file := killsFile(t)
	measure := newScript(t, "measure-stale-routing.sh", "--registry", shared.operator.URL(), "--app", "wares",
		"--fetch-interval", "2", "--kills", file.Name(), "--settle", settle, "--limit", limit, "--duration", "120")
	if err := measure.Start(); err != nil {
		t.Fatal(err)
	}
	calls := func(context.Context) (bool, error) { return strings.Contains(measure.err.String(), "calling 6"), nil }
	if err := stage.Until(t.Context(), "the tool to call all six", calls); err != nil {
		t.Error(err)
	}
	kill := newScript(t, "kill-instances.sh", "-n", s.Namespace, "-l", "app=wares", "--count", "2", "--yes")
	kill.Stdout = file
	if killed := kill.outcome(t, kill.Run()); killed.code != 0 {
		t.Errorf("nobody is killed: %s", killed.err)
	}
	got := measure.outcome(t, measure.Wait())
	t.Logf("%s%s", got.out, got.err)
	if got.code != 0 || len(names(t, s)) != 4 {
		t.Errorf("it ended with %d and says %q", got.code, got.err)
	}
	f := figures(t, got.out)
	if f["dead"] != 2 || f["requests"] < 1 || f["failed"] > f["requests"] || f["p50_seconds"] > f["worst_seconds"] || f["limit_seconds"] != 60 {
		t.Errorf("the figures are %v", f)
	}
}

// failing answers 503 to the second hundred of requests.
func failing(t *testing.T) string {
	t.Helper()
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n := asked.Add(1); n > 100 && n <= 200 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestMeasureStaleRouting_measuresOneURL(t *testing.T) {
	t.Parallel()
	got := run(t, "measure-stale-routing.sh", "--url", failing(t)+"/orders", "--settle", settle, "--limit", limit, "--duration", "120")
	f := figures(t, got.out)
	if got.code != 0 || f["failed"] != 100 || f["requests"] < 200 {
		t.Errorf("it ended with %d, figures %v, and says %q", got.code, f, got.err)
	}
}

func TestMeasureStaleRouting_failsAboveItsLimit(t *testing.T) {
	t.Parallel()
	got := run(t, "measure-stale-routing.sh", "--url", failing(t), "--settle", settle, "--limit", "0", "--duration", "120")
	if f := figures(t, got.out); got.code != 1 || f["worst_seconds"] <= 0 {
		t.Errorf("it ended with %d, figures %v, and says %q", got.code, f, got.err)
	}
}

func TestMeasureStaleRouting_saysWhyThereIsNothingToMeasure(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args []string
		want string
	}{
		"nobody listed": {[]string{"--registry", shared.operator.URL(), "--app", "none"}, "lists no instance of none"},
		"nobody died":   {[]string{"--url", shared.operator.Base(), "--duration", "2"}, "nobody died in 2 s"},
		"nothing given": {[]string{"--rate", "5"}, "usage"},
		"too fast":      {[]string{"--url", shared.operator.Base(), "--rate", "1000"}, `--rate is "1000"`},
	}
	for name, tc := range tests {
		if got := run(t, "measure-stale-routing.sh", tc.args...); got.code != 2 || !strings.Contains(got.err, tc.want) {
			t.Errorf("%s: it ended with %d and says %q, want 2 and %q", name, got.code, got.err, tc.want)
		}
	}
}
