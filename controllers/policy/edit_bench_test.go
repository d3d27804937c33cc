package policy

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kureka/kureka/api/v1alpha1"
)

// BenchmarkPolicyEdit measures from the edit of a namespace's policy, sent to a real
// API server, to its being in force.
func BenchmarkPolicyEdit(b *testing.B) {
	w := newWorld(b)
	w.installResources()
	ns := w.namespace()
	w.run(plane.Config())
	p := namespacePolicy(ns, v1alpha1.RegistryPolicySpec{Leases: &v1alpha1.Leases{DefaultDurationSeconds: new(int32(60))}})
	w.create(p)
	inForce := func(seconds int32) func() bool {
		return func() bool {
			got, own, _ := w.policyOf(ns)
			return own && got.DefaultDuration == time.Duration(seconds)*time.Second
		}
	}
	w.eventually("the policy is in force", inForce(60))
	var slowest time.Duration
	seconds := int32(60)
	for b.Loop() {
		seconds = 150 - seconds // 60 and 90 in turn
		before := p.DeepCopy()
		p.Spec.Leases.DefaultDurationSeconds = &seconds
		began := time.Now()
		w.must(w.admin.Patch(b.Context(), p, client.MergeFrom(before)))
		w.eventually("the edit is in force", inForce(seconds))
		slowest = max(slowest, time.Since(began))
	}
	b.ReportMetric(float64(slowest.Microseconds())/1000, "ms-slowest")
}
