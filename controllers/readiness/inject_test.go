package readiness

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kureka/kureka/api/v1alpha1"
)

func TestPodsThatSomebodyWaitsForGetTheGateOnce(t *testing.T) {
	ours := corev1.PodReadinessGate{ConditionType: v1alpha1.PodRegistered}
	theirs := corev1.PodReadinessGate{ConditionType: "example.com/open"}
	tests := map[string]struct {
		change func(*corev1.Pod)
		want   []corev1.PodReadinessGate
	}{
		"a pod":           {func(*corev1.Pod) {}, []corev1.PodReadinessGate{ours}},
		"of a ReplicaSet": {func(p *corev1.Pod) { p.OwnerReferences = owned("ReplicaSet") }, []corev1.PodReadinessGate{ours}},
		"restarts always": {func(p *corev1.Pod) { p.Spec.RestartPolicy = corev1.RestartPolicyAlways }, []corev1.PodReadinessGate{ours}},
		"has another gate": {
			func(p *corev1.Pod) { p.Spec.ReadinessGates = []corev1.PodReadinessGate{theirs} },
			[]corev1.PodReadinessGate{theirs, ours},
		},
		"has it already":     {func(p *corev1.Pod) { p.Spec.ReadinessGates = []corev1.PodReadinessGate{ours} }, []corev1.PodReadinessGate{ours}},
		"opted out":          {func(p *corev1.Pod) { p.Labels = map[string]string{OptInLabel: OptOut} }, nil},
		"of a Job":           {func(p *corev1.Pod) { p.OwnerReferences = owned("Job") }, nil},
		"runs to completion": {func(p *corev1.Pod) { p.Spec.RestartPolicy = corev1.RestartPolicyOnFailure }, nil},
		"static":             {func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"} }, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := &corev1.Pod{}
			tc.change(p)
			before := len(p.Spec.ReadinessGates)
			changed, _ := Inject("", p)
			if d := cmp.Diff(tc.want, p.Spec.ReadinessGates); d != "" || changed != (len(p.Spec.ReadinessGates) > before) {
				t.Errorf("changed %v (-want +got)\n%s", changed, d)
			}
		})
	}
}

func owned(kind string) []metav1.OwnerReference {
	return []metav1.OwnerReference{{Kind: kind, Controller: new(true)}}
}
