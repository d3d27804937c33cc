package readiness

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/controllers/admit"
)

// Path is where the API server asks about pods that opt in.
const Path = "/gate-pods"

// OptInLabel opts a namespace or a pod in with the value Enabled; on a pod the
// value OptOut opts it out again.
const OptInLabel = "kureka.dev/readiness-gate"

// OptOut is the value of OptInLabel that leaves a pod alone.
const OptOut = "Disabled"

// Inject gives a pod the readiness gate. It is an admit.Mutate.
func Inject(_ string, p *corev1.Pod) (changed bool, warning string) {
	gate := corev1.PodReadinessGate{ConditionType: v1alpha1.PodRegistered}
	if p.Labels[OptInLabel] == OptOut || admit.Unsuited(p) != "" || slices.Contains(p.Spec.ReadinessGates, gate) {
		return false, ""
	}
	p.Spec.ReadinessGates = append(p.Spec.ReadinessGates, gate)
	return true, ""
}
