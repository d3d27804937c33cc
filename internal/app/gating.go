package app

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	corev1 "k8s.io/api/core/v1"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/controllers/readiness"
	"github.com/kureka/kureka/internal/cluster"
)

// releaseOptions has pods that wait for the registry released.
func (w *watching) releaseOptions(a *App) readiness.Options {
	released := promauto.With(a.metrics).NewCounterVec(prometheus.CounterOpts{
		Name: "kureka_readiness_gate_released_total",
		Help: "Pods whose readiness gate was met, by reason: Registered or WaitedLongEnough.",
	}, []string{"reason"})
	for _, reason := range []string{v1alpha1.ReasonRegistered, v1alpha1.ReasonWaitedLongEnough} {
		released.WithLabelValues(reason)
	}
	promauto.With(a.metrics).NewGaugeFunc(prometheus.GaugeOpts{
		Name: "kureka_readiness_gate_waiting",
		Help: "Pods that wait until they are listed.",
	}, func() float64 { return float64(len(a.cluster.Awaiting())) })
	return readiness.Options{
		Target: a.cluster, Client: w.client, MaxWait: w.policy.Effective.MaxWait, Listing: a.gate.Open,
		Clock: time.Now, Logger: a.log.WithName("readiness"),
		Done: func(p cluster.Awaiting, c corev1.PodCondition) {
			released.WithLabelValues(c.Reason).Inc()
			if c.Reason == v1alpha1.ReasonWaitedLongEnough {
				w.events.Changed(inVain(p, c))
			}
		},
	}
}

// inVain tells of a pod that was released without the registry: a rollout runs ahead
// of it, which somebody should look into.
func inVain(p cluster.Awaiting, c corev1.PodCondition) cluster.Change {
	return cluster.Change{
		At: c.LastTransitionTime.Time, Namespace: p.Namespace, Pod: p.Name, PodUID: p.UID, Effect: cluster.Noted, Reason: c.Reason, Detail: c.Message,
	}
}
