package app

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/kureka/kureka/controllers/drain"
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
		CertDir: a.opts.WebhookCertDir, Configuration: a.opts.WebhookConfig, Names: []string{service, service + ".cluster.local"},
		Clock: time.Now, Logger: a.log.WithName("drain"),
		Done: func(outcome string) { pods.WithLabelValues(outcome).Inc() },
	}
	return nil
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
