package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// testNow is the time of all tests.
var testNow = time.Date(2026, 11, 30, 3, 14, 15, 0, time.UTC)

// outcome is what a command line did.
type outcome struct {
	out, err string
	code     int
}

// run runs a command line against a registry at a URL.
func run(t *testing.T, server string, args ...string) outcome {
	t.Helper()
	return runUntil(t.Context(), server, args...)
}

// runUntil does so until the context ends, which interrupts it.
func runUntil(ctx context.Context, server string, args ...string) outcome {
	return runAt(ctx, func() time.Time { return testNow }, server, args...)
}

// runAt does so on a machine with a clock of its own.
func runAt(ctx context.Context, now func() time.Time, server string, args ...string) outcome {
	var out, err bytes.Buffer
	env := Environment{Out: &out, Err: &err, Now: now, Getenv: func(string) string { return "" }}
	code := Main(ctx, append([]string{"--server", server}, args...), env)
	return outcome{out.String(), err.String(), code}
}

// registry answers paths, with their query if they have one, with JSON, and others
// as Kureka answers what it does not know.
func registry(t *testing.T, answers map[string]any) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Date", testNow.Format(http.TimeFormat))
		answer, ok := answers[r.URL.RequestURI()]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			answer = map[string]string{"error": "there is no " + r.URL.RequestURI()}
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func at(d time.Duration) *time.Time {
	moment := testNow.Add(d)
	return &moment
}

func TestMain_hasNoAnswerWhenItIsInterrupted(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args []string
		code int
		err  string
	}{
		"a question":   {[]string{"status"}, exitError, "error: interrupted, so this is no answer\n"},
		"a comparison": {[]string{"diff", "http://192.0.2.1/eureka"}, exitError, "error: interrupted, so this is no answer\n"},
		"a watch":      {[]string{"instances", "--watch"}, exitOK, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				interrupt()
				<-r.Context().Done()
			}))
			t.Cleanup(s.Close)
			if got := runUntil(ctx, s.URL, tc.args...); got.code != tc.code || got.err != tc.err || got.out != "" {
				t.Errorf("it says (%d) %s%s, want (%d) %q", got.code, got.out, got.err, tc.code, tc.err)
			}
		})
	}
}

func TestMain_hasNoAnswerWithPartsThatAnInterruptionLeftOut(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	if got := runUntil(ctx, "http://192.0.2.1", "version"); got.code != exitError {
		t.Errorf("its code is %d, want %d", got.code, exitError)
	}
}
