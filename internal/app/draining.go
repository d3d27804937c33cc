package app

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/kureka/kureka/controllers/admit"
	"github.com/kureka/kureka/controllers/drain"
	"github.com/kureka/kureka/controllers/readiness"
	"github.com/kureka/kureka/internal/hold"
)

// listenForDrain opens the webhook's address, if it has one.
func (w *watching) listenForDrain(ctx context.Context, a *App) error {
	l, err := listenOn(ctx, "webhook", "webhook-bind-address", a.opts.WebhookAddr)
	if l == nil || err != nil {
		return err
	}
	pods := promauto.With(a.metrics).NewCounterVec(prometheus.CounterOpts{
		Name: "kureka_drain_pods_total",
		Help: "Pods that the webhook was asked about, by what it did: injected, skipped (the pod says why), none (not wanted), unreadable or failed.",
	}, []string{"outcome"})
	for _, outcome := range []string{drain.Injected, drain.Skipped, drain.Unwanted, drain.Unreadable, drain.Failed} {
		pods.WithLabelValues(outcome)
	}
	service := a.opts.WebhookService + "." + a.opts.Namespace + ".svc"
	w.drain = &drain.Options{
		Listener: l, Client: w.client, Settings: w.policy.Effective.Drain,
		Fetching: func() (slowest time.Duration, known, unknown int) {
			f := a.consumers.Fetching()
			return f.Slowest, f.Known, f.Unknown
		},
		Hold: drain.Hold{
			Path: hold.Path, Address: a.opts.DrainAddress, Namespace: a.opts.Namespace, Service: a.opts.WebhookService, TLS: a.opts.TLSCertFile != "",
		},
		Others:  map[string]admit.Mutate{readiness.Path: readiness.Inject},
		CertDir: a.opts.WebhookCertDir, Configuration: a.opts.WebhookConfig, Names: []string{service, service + ".cluster.local"},
		Clock: time.Now, Logger: a.log.WithName("drain"),
		Done: func(outcome string) { pods.WithLabelValues(outcome).Inc() },
	}
	return nil
}

// holdPods answers the preStop requests of pods.
func (a *App) holdPods(w *watching) *hold.Handler {
	auto := promauto.With(a.metrics)
	ended := auto.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "kureka_drain_hold_seconds",
		Help:    "How long preStop requests of pods were held, by what ended that.",
		Buckets: []float64{1, 5, 10, 20, 30, 45, 60, 75, 90, 120, 180, 300, 600},
	}, []string{"outcome"})
	for _, out := range hold.Outcomes() {
		ended.WithLabelValues(string(out))
	}
	h := hold.New(hold.Options{
		Pods: a.cluster, Registry: a.reg, Consumers: a.consumers,
		CacheLifetime: func(namespace string) time.Duration {
			return time.Duration(*w.policy.Effective.Drain(namespace).LoadBalancerCacheSeconds) * time.Second
		},
		Clock: time.Now, Stopping: a.stopping,
		Done: func(out hold.Outcome, held time.Duration) { ended.WithLabelValues(string(out)).Observe(held.Seconds()) },
	})
	auto.NewGaugeFunc(prometheus.GaugeOpts{Name: "kureka_drain_holds", Help: "PreStop requests that are held now."},
		func() float64 { return float64(h.Held()) })
	return h
}

// withHolds answers preStop requests before anybody asks for a password: a kubelet has
// none, and what it asks for names a pod by a secret of its own.
func (a *App) withHolds(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.watch != nil && strings.HasPrefix(r.URL.EscapedPath(), hold.Prefix) {
			a.watch.holds.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// runDrain answers the API server until the context ends. Without it pods are
// created as they are, which is no reason to stop.
func (w *watching) runDrain(ctx context.Context) {
	if w.drain == nil {
		return
	}
	if err := drain.Run(ctx, *w.drain); err != nil {
		w.drain.Logger.Error(err, "The webhook has stopped, pods are created without a drain")
	}
}

// listenOn opens an address; the listener is nil if it is "0".
func listenOn(ctx context.Context, name, flag, addr string) (net.Listener, error) {
	if addr == "0" {
		return nil, nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("opening the %s: %w", name, explainListen(err, flag, addr))
	}
	return l, nil
}
