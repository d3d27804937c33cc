package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func kureka(namespace, name string, ready bool, args ...string) corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	p.Spec.Containers = []corev1.Container{{Name: "mesh"}, {Name: "kureka", Args: args, Ports: []corev1.ContainerPort{{Name: "metrics", ContainerPort: 8080}, {Name: "eureka", ContainerPort: 8761}}}}
	if ready {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	return p
}

func TestChoose_takesTheReadyPodOfTheOnlyInstallation(t *testing.T) {
	t.Parallel()
	ending := kureka("a", "ending", true)
	ending.DeletionTimestamp = &metav1.Time{Time: testNow}
	got, err := choose([]corev1.Pod{kureka("a", "starting", false), ending, kureka("a", "ready", true, "manager", "--canary-lease=registry", "--registry-tls-cert-file=/tls.crt")})
	want := target{namespace: "a", pod: "ready", port: 8761, tls: true, service: "registry"}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(target{})); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestChoose_refusesToGuess(t *testing.T) {
	t.Parallel()
	portless := kureka("a", "x", true)
	portless.Spec.Containers = portless.Spec.Containers[:1]
	for want, pods := range map[string][]corev1.Pod{
		"no Kureka found in any namespace you may list": nil,
		"there are Kurekas in a, b: choose one":         {kureka("b", "x", true), kureka("a", "y", true)},
		"the pod a/x has no port named eureka":          {portless},
	} {
		if _, err := choose(pods); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("it says %v, want %q", err, want)
		}
	}
}
