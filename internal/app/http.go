package app

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/kureka/kureka/internal/server"
)

// smallServer serves metrics or probes: short requests from few clients.
func smallServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second,
		WriteTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
	}
}

func metricsHandler(reg *prometheus.Registry) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 8 * time.Second}))
	return mux
}

// untilDrained answers, and while the process drains asks every client to connect
// anew for its next question: the new connection finds another process.
func (a *App) untilDrained(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

// probes answers liveness and readiness. Both are 200 once the process accepts
// writes and never fall back because of the cluster: a registry that is taken out
// of its Service because the API server is away helps nobody. Readiness ends when
// the process is asked to end.
func (a *App) probes() http.Handler {
	mux := http.NewServeMux()
	ok := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("ok\n")) // a prober that hung up does not matter
	}
	mux.HandleFunc("GET /healthz", ok)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if a.draining.Load() {
			http.Error(w, "draining", http.StatusServiceUnavailable)
			return
		}
		ok(w, r)
	})
	return mux
}

// maxBasePaths bounds --registry-base-paths: every request is compared with all.
const maxBasePaths = 16

func (o *Options) validateBasePaths() error {
	if len(o.BasePaths) > maxBasePaths {
		return fmt.Errorf("--registry-base-paths: want at most %d", maxBasePaths)
	}
	for _, path := range o.BasePaths {
		if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "?#%") {
			return fmt.Errorf("--registry-base-paths %q: want a path that begins with a slash, without escapes", path)
		}
	}
	return nil
}

// basePaths are all paths under which the API is answered. Below one of the user's,
// the version is a segment of its own, as below /eureka.
func (o *Options) basePaths() []string {
	all := server.DefaultPrefixes()
	for _, path := range o.BasePaths {
		all = append(all, path, path+"/v2")
	}
	return all
}

// reservedFiles are for everything but clients: the API server, metrics, probes, the
// prober, the snapshot.
const reservedFiles = 256

// connections is how many connections to the API may be open where the process may
// open so many files, 0 if nobody can tell. Without a file no connection is accepted,
// not even to make room.
func (o *Options) connections(files int) int {
	if files == 0 {
		return o.MaxConnections
	}
	return max(1, min(o.MaxConnections, files-reservedFiles))
}
