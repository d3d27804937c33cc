package app

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/registry"
)

// registryCollector reads the registry and the view at every scrape. Its labels are
// namespaces, statuses and reasons, never instances.
type registryCollector struct {
	engine  *registry.Engine
	cluster *cluster.Cluster
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("kureka_"+name, help, labels, nil)
}

// The figures of self-preservation, by namespace; "" is everything outside pods.
var (
	descLeases    = desc("leases", "Leases kept by clients.", "namespace")
	descExpected  = desc("renewals_expected_per_minute", "Renewals that the protected leases should send.", "namespace")
	descReceived  = desc("renewals_received_per_minute", "Renewals that those of them send which are not late.", "namespace")
	descThreshold = desc("renewals_threshold_per_minute", "Below so many renewals self-preservation engages, 0 if it is switched off.", "namespace")
	descEngaged   = desc("self_preservation_engaged", "1 while self-preservation holds expired leases, else 0.", "namespace")
	descKept      = desc("pod_kept_instances", "Instances of pods that have no client.", "namespace")
	descHeld      = desc("leases_held", "Expired leases that self-preservation holds.", "namespace")
)

// The figures of the whole registry.
var (
	descInstances     = desc("instances", "Listed instances by status.", "status")
	descRegistrations = desc("registrations_total", "Registrations, also repeated ones.")
	descEnds          = desc("ends_total", "Instances that left the registry, by reason.", "reason")
	descFenced        = desc("fenced_pods", "Pods proven dead that are kept from coming back.")
)

// The figures of the view.
var (
	descUnbound    = desc("unbound_instances", "Instances that belong to no pod, so that only their lease decides, by the reason why.", "reason")
	descFloor      = desc("held_by_floor_instances", "Instances that stay in service although something is against them, because too few of their application would be left.")
	descFrozen     = desc("frozen_nodes", "Silent nodes of which nothing is concluded, because so many are silent that the network is the likelier cause.")
	descSharedApps = desc("apps_in_several_namespaces", "Applications that pods of more than one namespace register.")
	descAge        = desc("view_age_seconds", "For how long the watches have not proved that they deliver, 0 if they never did.")
)

// Describe implements prometheus.Collector.
func (r *registryCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		descLeases, descKept, descExpected, descReceived, descThreshold, descEngaged, descHeld,
		descInstances, descRegistrations, descEnds, descFenced,
		descUnbound, descFloor, descFrozen, descSharedApps, descAge,
	} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (r *registryCollector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	r.collectPartitions(gauge)
	r.collectView(gauge)
	counts := r.engine.Snapshot().Counts
	for s := registry.Down; s <= registry.Up; s++ {
		gauge(descInstances, float64(counts.Of(s)), s.String())
	}
	gauge(descFenced, float64(r.engine.Fenced()))
	registered, ended := r.engine.Totals()
	ch <- prometheus.MustNewConstMetric(descRegistrations, prometheus.CounterValue, float64(registered))
	for _, reason := range registry.EndReasons() {
		ch <- prometheus.MustNewConstMetric(descEnds, prometheus.CounterValue, float64(ended[reason]), reason)
	}
}

type toGauge func(d *prometheus.Desc, v float64, labels ...string)

func (r *registryCollector) collectPartitions(gauge toGauge) {
	for _, p := range r.engine.Partitions() {
		gauge(descLeases, float64(p.Leases), p.Name)
		gauge(descKept, float64(p.Kept), p.Name)
		gauge(descExpected, p.Expected, p.Name)
		gauge(descReceived, p.Received, p.Name)
		threshold := 0.0
		if !p.Disabled {
			threshold = p.Threshold()
		}
		gauge(descThreshold, threshold, p.Name)
		gauge(descEngaged, oneIf(p.Engaged), p.Name)
		gauge(descHeld, float64(p.Held), p.Name)
	}
}

func (r *registryCollector) collectView(gauge toGauge) {
	counts := r.cluster.Counts(time.Now())
	for _, reason := range cluster.UnboundReasons() {
		gauge(descUnbound, float64(counts.Unbound[reason]), reason)
	}
	gauge(descFloor, float64(counts.HeldByFloor))
	gauge(descFrozen, float64(counts.Frozen))
	gauge(descSharedApps, float64(counts.SharedApps))
	gauge(descAge, counts.Age.Seconds())
}
