package cli

import (
	"bytes"
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
	var out, err bytes.Buffer
	env := Environment{Out: &out, Err: &err, Now: func() time.Time { return testNow }, Getenv: func(string) string { return "" }}
	code := Main(t.Context(), append([]string{"--server", server}, args...), env)
	return outcome{out.String(), err.String(), code}
}

// registry answers paths, with their query if they have one, with JSON, and others
// as Kureka answers what it does not know.
func registry(t *testing.T, answers map[string]any) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
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
