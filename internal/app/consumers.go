package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/kureka/kureka/internal/consumers"
)

// consumersInterval is how exact the times of departures are.
const consumersInterval = 100 * time.Millisecond

// followConsumers begins to follow who fetches the registry.
func (a *App) followConsumers() {
	auto := promauto.With(a.metrics)
	exposure := auto.NewHistogramVec(prometheus.HistogramOpts{
		Name: "kureka_departure_known_seconds",
		Help: "Time from an instance leaving service until the last active consumer known to be one process had fetched a registry without it, " +
			"by what made it leave.",
		Buckets: []float64{1, 2.5, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600},
	}, []string{"cause"})
	covered := auto.NewCounterVec(prometheus.CounterOpts{
		Name: "kureka_departures_total",
		Help: "Instances that left service, by whether all consumers were known then, some, or none, or whether one was not waited for any longer.",
	}, []string{"consumers"})
	for _, c := range []consumers.Cause{consumers.Removed, consumers.TakenOut, consumers.OwnRequest} {
		exposure.WithLabelValues(string(c))
	}
	for _, c := range []string{coveredAll, coveredSome, coveredNone, coveredLate} {
		covered.WithLabelValues(c)
	}
	a.consumers = consumers.New(a.reg.Snapshot(), consumers.Options{
		PodAt: a.cluster.PodAt,
		Done: func(d consumers.Departure) {
			how := coverage(d)
			covered.WithLabelValues(how).Inc()
			if how == coveredAll || how == coveredSome {
				exposure.WithLabelValues(string(d.Cause)).Observe(d.Over.Sub(d.At).Seconds())
			}
		},
	})
	for known, f := range map[string]func(consumers.Fetching) int{
		"true":  func(f consumers.Fetching) int { return f.Known },
		"false": func(f consumers.Fetching) int { return f.Unknown },
	} {
		auto.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "kureka_consumers", Help: "Active consumers of the registry, by whether each is known to be one process.",
			ConstLabels: prometheus.Labels{"known": known},
		}, func() float64 { return float64(f(a.consumers.Fetching())) })
	}
	auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "kureka_consumers_slowest_interval_seconds", Help: "The longest fetch interval of the known active consumers, 0 if there is none.",
	}, func() float64 { return a.consumers.Fetching().Slowest.Seconds() })
}

// Which consumers a departure's time covers.
const (
	coveredAll  = "all_known"
	coveredSome = "some_unknown"
	coveredNone = "none_known"
	coveredLate = "given_up"
)

func coverage(d consumers.Departure) string {
	switch {
	case d.Late:
		return coveredLate
	case d.Known == 0:
		return coveredNone
	case d.Unknown > 0:
		return coveredSome
	}
	return coveredAll
}

// tickConsumers looks for departures until the context ends.
func (a *App) tickConsumers(ctx context.Context) {
	ticker := time.NewTicker(consumersInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			a.consumers.Tick(time.Now(), a.reg.Snapshot())
		}
	}
}
