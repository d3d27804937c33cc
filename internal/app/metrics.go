package app

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/kureka/kureka/controllers"
	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/internal/verdict"
	"github.com/kureka/kureka/internal/version"
)

// verdictMetrics count what the cluster's evidence did to instances.
type verdictMetrics struct {
	changes  *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	unlogged prometheus.Counter
}

func newVerdictMetrics(reg prometheus.Registerer) *verdictMetrics {
	auto := promauto.With(reg)
	m := &verdictMetrics{
		changes: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "kureka_verdicts_total",
			Help: "Changes of instances by the cluster's evidence, by reason and what followed.",
		}, []string{"reason", "effect"}),
		latency: auto.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "kureka_verdict_latency_seconds",
			Help:    "Time from the watch event, request or tick that brought the evidence to the registry showing what followed.",
			Buckets: prometheus.ExponentialBuckets(0.000_01, 4, 10),
		}, []string{"reason"}),
		unlogged: auto.NewCounter(prometheus.CounterOpts{
			Name: "kureka_verdicts_unlogged_total", Help: "Verdicts that were not logged because too many came at once.",
		}),
	}
	for _, c := range verdict.Checks() {
		if c.Class == verdict.Hint {
			continue
		}
		m.changes.WithLabelValues(c.Reason, string(effectOf(c.Class)))
		m.latency.WithLabelValues(c.Reason)
	}
	for _, r := range []string{cluster.ReasonAddressReused, cluster.ReasonAddressLeft, cluster.ReasonRegistrantGone} {
		m.changes.WithLabelValues(r, string(cluster.Removed))
	}
	m.changes.WithLabelValues(cluster.ReasonRecovered, string(cluster.PutBack))
	m.changes.WithLabelValues(cluster.ReasonHeldByFloor, string(cluster.Noted))
	for _, r := range []string{cluster.UnboundSharedID, cluster.ReasonSeveralNamespaces, cluster.ReasonOtherNamespace, cluster.ReasonAnnotationInvalid} {
		m.changes.WithLabelValues(r, string(cluster.Noted))
	}
	m.changes.WithLabelValues(cluster.ReasonRegistered, string(cluster.Listed))
	for _, r := range []string{cluster.ReasonNotChosen, cluster.ReasonSelfRegistered, cluster.ReasonClientCancelled, cluster.ReasonAddressReused} {
		m.changes.WithLabelValues(r, string(cluster.Unlisted))
	}
	return m
}

func effectOf(c verdict.Class) cluster.Effect {
	if c == verdict.Proof {
		return cluster.Removed
	}
	return cluster.TakenOut
}

// changed counts a change that shows since now.
func (m *verdictMetrics) changed(ch cluster.Change, took time.Duration) {
	m.changes.WithLabelValues(ch.Reason, string(ch.Effect)).Inc()
	switch ch.Effect {
	case cluster.Contradicted, cluster.Withdrawn, cluster.Confirmed: // told when it is found out, which takes as long as it takes
	default:
		m.latency.WithLabelValues(ch.Reason).Observe(took.Seconds())
	}
}

// watchMetrics tell how the watches are doing.
type watchMetrics struct {
	up *prometheus.GaugeVec
}

func newWatchMetrics(reg prometheus.Registerer) *watchMetrics {
	auto := promauto.With(reg)
	return &watchMetrics{
		up: auto.NewGaugeVec(prometheus.GaugeOpts{
			Name: "kureka_watch_up", Help: "1 while a watch has delivered its list and works, else 0.",
		}, []string{"resource"}),
	}
}

func (m *watchMetrics) state(s controllers.WatchState) {
	up := 0.0
	if s.Synced && s.Problem == "" {
		up = 1
	}
	m.up.WithLabelValues(s.Resource).Set(up)
}

func (m *watchMetrics) registerDropped(reg prometheus.Registerer, dropped func() int64) {
	promauto.With(reg).NewCounterFunc(prometheus.CounterOpts{
		Name: "kureka_events_dropped_total", Help: "Events about verdicts that were dropped instead of sent.",
	}, func() float64 { return float64(dropped()) })
}

// registerRegistryMetrics adds what is read from the registry when somebody asks.
func registerRegistryMetrics(reg prometheus.Registerer, engine *registry.Engine, c *cluster.Cluster) {
	reg.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&registryCollector{engine: engine, cluster: c},
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "kureka_view_fresh", Help: "1 while the watches demonstrably deliver, else 0.",
		}, func() float64 { return oneIf(c.Fresh()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "kureka_build_info", Help: "Always 1; the label tells the version.",
			ConstLabels: prometheus.Labels{"version": version.String()},
		}, func() float64 { return 1 }),
	)
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
