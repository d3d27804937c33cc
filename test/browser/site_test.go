package browser

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/consumers"
	"github.com/kureka/kureka/internal/dashboard"
	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/internal/server"
)

// site is a registry with its API and dashboard on an address of its own, as the
// product puts them together, and a view of a cluster that the test plays.
type site struct {
	url     string
	engine  *registry.Engine
	cluster *cluster.Cluster
	readers *consumers.Tracker
	fleet   []member
}

func newSite(t *testing.T) *site {
	t.Helper()
	now := time.Now()
	s := &site{engine: registry.New(now, registry.Options{})}
	s.cluster = cluster.New(s.engine, cluster.Options{AllNamespaces: true, Observer: func(ch cluster.Change) time.Duration { return time.Since(ch.At) }})
	s.readers = consumers.New(s.engine.Snapshot(), consumers.Options{PodAt: s.cluster.PodAt})
	s.serve(t, now)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.live(ctx)
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return s
}

// serve opens the address with the limits of the product.
func (s *site) serve(t *testing.T, started time.Time) {
	t.Helper()
	api, err := server.New(server.Options{Registry: s.cluster, Clock: time.Now, Fetched: s.readers.Fetched})
	if err != nil {
		t.Fatal(err)
	}
	stopping := make(chan struct{})
	people := dashboard.New(dashboard.Options{
		View: s.cluster, Registry: s.engine, Consumers: s.readers, Clock: time.Now, Started: started, Stopping: stopping,
		Watches: func() []dashboard.Watch {
			return []dashboard.Watch{{Resource: "leases", Synced: true}, {Resource: "nodes", Synced: true}, {Resource: "pods", Synced: true}}
		},
	})
	both := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if dashboard.Answers(r) {
			people.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
	srv, err := server.NewHTTPServer(both, server.Limits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go srv.Serve(l) //nolint:errcheck // it ends with the test
	t.Cleanup(func() { close(stopping); _ = srv.Close() })
	s.url = "http://" + l.Addr().String()
}

// live lets time pass, the cluster be seen and clients renew.
func (s *site) live(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for n := 0; ; n++ {
		now := time.Now()
		s.see(now)
		s.cluster.Tick(now)
		s.readers.Tick(now, s.engine.Snapshot())
		if n%15 == 14 {
			s.renew(now)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
