package dashboard_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/consumers"
	"github.com/kureka/kureka/internal/dashboard"
	"github.com/kureka/kureka/internal/registry"
)

// streaming is a dashboard in virtual time, with what changes its registry.
type streaming struct {
	http.Handler

	cluster  *cluster.Cluster
	stopping chan struct{}
}

func newStreaming() *streaming {
	engine := registry.New(time.Now(), registry.Options{})
	s := &streaming{cluster: cluster.New(engine, cluster.Options{}), stopping: make(chan struct{})}
	s.Handler = dashboard.New(dashboard.Options{
		View: s.cluster, Registry: engine, Consumers: consumers.New(engine.Snapshot(), consumers.Options{}), Clock: time.Now, Stopping: s.stopping,
	})
	return s
}

// follow reads the stream until the context or the stream ends.
func (s *streaming) follow(ctx context.Context) (*httptest.ResponseRecorder, <-chan struct{}) {
	w, ended := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(ended)
		s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, dashboard.StreamPath, http.NoBody))
	}()
	synctest.Wait()
	return w, ended
}

func TestAStreamTellsOfAChangeWithinASecondAndOtherwiseEveryTen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreaming()
		short, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		w, ended := s.follow(short)
		s.cluster.Register(time.Now(), netip.Addr{}, &registry.Record{App: "A", ID: "a"})
		<-ended
		got := w.Body.String()
		if !strings.HasPrefix(got, "retry: 3000\nevent: tick\n") || !w.Flushed || w.Header().Get("Content-Type") != "text/event-stream" {
			t.Errorf("the stream begins with %q, %v", got, w.Header())
		}
		if changes := strings.Count(got, "event: changed"); changes != 1 {
			t.Errorf("%d changes were told of after a second", changes)
		}
		long, cancel := context.WithTimeout(t.Context(), 25*time.Second)
		defer cancel()
		w, ended = s.follow(long)
		<-ended
		if ticks := strings.Count(w.Body.String(), "event: tick"); ticks != 3 {
			t.Errorf("%d ticks in 25 s, want one at the start and every 10 s", ticks)
		}
	})
}

func TestAStreamEndsWithTheProcessAndByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreaming()
		began := time.Now()
		_, ended := s.follow(t.Context())
		<-ended
		if took := time.Since(began); took != 10*time.Minute {
			t.Errorf("it lasted %v", took)
		}
		_, ended = s.follow(t.Context())
		close(s.stopping)
		<-ended
	})
}

func TestStreamsAreBoundedAndKeepNoPageWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreaming()
		ctx, cancel := context.WithCancel(t.Context())
		all := make([]<-chan struct{}, 0, 64)
		for range 64 {
			_, ended := s.follow(ctx)
			all = append(all, ended)
		}
		w, ended := s.follow(ctx)
		<-ended
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("one more stream was answered %d", w.Code)
		}
		if w := browse(t, s, "/"); w.Code != http.StatusOK {
			t.Errorf("the page was answered %d", w.Code)
		}
		cancel()
		for _, ended := range all {
			<-ended
		}
		ctx, cancel = context.WithCancel(t.Context())
		w, ended = s.follow(ctx)
		cancel()
		if <-ended; w.Code != http.StatusOK {
			t.Errorf("after them it was answered %d", w.Code)
		}
	})
}
