package hold

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kureka/kureka/internal/cluster"
)

type nobody struct{}

func (nobody) Endings(string) []cluster.Ending { return nil }
func (nobody) HeardSince(time.Time) bool       { return true }

// The server's limits are for short requests, and would end a longer one as if its
// client had hung up.
func TestAHoldOutlivesTheTimeoutsOfTheServer(t *testing.T) {
	var now atomic.Int64 // milliseconds
	h := New(Options{
		Pods: nobody{}, Stopping: make(chan struct{}), Done: func(Outcome, time.Duration) {},
		Clock: func() time.Time { return time.UnixMilli(now.Add(700)) },
	})
	srv := httptest.NewUnstartedServer(h)
	srv.Config.ReadTimeout, srv.Config.WriteTimeout = 50*time.Millisecond, 50*time.Millisecond
	srv.Start()
	defer srv.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+Path("t", 90, 30), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var said struct{ Outcome Outcome }
	if err := json.NewDecoder(resp.Body).Decode(&said); err != nil || said.Outcome != Unknown {
		t.Errorf("%q, %v", said.Outcome, err)
	}
}
