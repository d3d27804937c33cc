package drain

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kureka/kureka/api/v1alpha1"
)

func path(token string, seconds, grace int64) string {
	return fmt.Sprintf("/drain/%s/%d/%d", token, seconds, grace)
}

// holding answers questions about pods of a namespace that wants them held.
func holding(t *target) *injector {
	i := &injector{
		settings: func(string) v1alpha1.Drain { return builtIn(func(d *v1alpha1.Drain) { d.Mode = v1alpha1.DrainHold }) },
		fetching: unmeasured, hold: &holder{Hold: Hold{Path: path}}, done: func(string) {},
	}
	i.hold.found.Store(t)
	return i
}

func TestAHeldPodAsksByATokenOfItsOwnForTheTimeItHas(t *testing.T) {
	i := holding(&target{host: "10.96.0.7", port: 8761})
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		Containers:                    []corev1.Container{container("app", nil), container("hooked", script), container("proxy", nil)},
		TerminationGracePeriodSeconds: new(int64(20)),
	}}
	if changed, warning := i.mutate("shop", pod); !changed || !strings.Contains(warning, "hooked") {
		t.Fatalf("changed %v, warning %q", changed, warning)
	}
	token := pod.Annotations[v1alpha1.DrainHoldAnnotation]
	if len(token) < 20 {
		t.Fatalf("the token is %q", token)
	}
	want := &corev1.HTTPGetAction{Host: "10.96.0.7", Port: intstr.FromInt32(8761), Scheme: corev1.URISchemeHTTP, Path: path(token, 90, 20)}
	for _, n := range []int{0, 2} {
		if d := cmp.Diff(want, pod.Spec.Containers[n].Lifecycle.PreStop.HTTPGet); d != "" {
			t.Errorf("container %d (-want +got)\n%s", n, d)
		}
	}
	if d := cmp.Diff(script, pod.Spec.Containers[1].Lifecycle.PreStop); d != "" {
		t.Errorf("the existing hook (-want +got)\n%s", d)
	}
	// Whoever adds a container later has it held by the same token.
	pod.Spec.Containers = append(pod.Spec.Containers, container("mesh", nil))
	if changed, _ := i.mutate("shop", pod); !changed || !cmp.Equal(pod.Spec.Containers[3].Lifecycle.PreStop.HTTPGet, want) {
		t.Errorf("changed %v, the new container is %+v", changed, pod.Spec.Containers[3])
	}
}

func TestAHeldPodHasTheGraceAndAReportAndNoTokenOfAnother(t *testing.T) {
	i := holding(&target{host: "10.96.0.7", port: 8761})
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{container("app", nil)}, TerminationGracePeriodSeconds: new(int64(20))}}
	i.mutate("shop", pod)
	var report Report
	if err := json.Unmarshal([]byte(pod.Annotations[ReportAnnotation]), &report); err != nil {
		t.Fatal(err)
	}
	if report.HoldSeconds != 90 || report.SleepSeconds != 0 || report.GraceSeconds != 110 || *pod.Spec.TerminationGracePeriodSeconds != 110 {
		t.Errorf("report %+v, grace %d", report, *pod.Spec.TerminationGracePeriodSeconds)
	}
	other := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{container("app", nil)}}}
	if i.mutate("shop", other); other.Annotations[v1alpha1.DrainHoldAnnotation] == pod.Annotations[v1alpha1.DrainHoldAnnotation] {
		t.Error("two pods have one token")
	}
}

func TestARegistryWithACertificateIsAskedWithTLS(t *testing.T) {
	i := holding(&target{host: "10.96.0.7", port: 8761})
	i.hold.TLS = true
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{container("app", nil)}}}
	if i.mutate("shop", pod); pod.Spec.Containers[0].Lifecycle.PreStop.HTTPGet.Scheme != corev1.URISchemeHTTPS {
		t.Errorf("%+v", pod.Spec.Containers[0].Lifecycle.PreStop)
	}
}

func TestWherePodsCannotBeHeldTheySleepAndSaySo(t *testing.T) {
	for name, at := range map[string]*target{
		"is not known yet":   nil,
		"no Service":         {err: fmt.Errorf("there is no Service %s/%s", "kureka-system", "kureka")},
		"address of its own": targetOf(&corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone}}),
		"no port named":      targetOf(&corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: "10.96.0.7", Ports: []corev1.ServicePort{{Name: "http", Port: 80}}}}),
		"that kubelets are":  parseTarget("nowhere"),
		"invalid syntax":     parseTarget("192.0.2.1:http"),
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{container("app", nil)}}}
		holding(at).mutate("shop", pod)
		report := pod.Annotations[ReportAnnotation]
		if sleepOf(pod) != 70 || !strings.Contains(report, "drain.mode is Hold, but") || !strings.Contains(report, name) || pod.Annotations[v1alpha1.DrainHoldAnnotation] != "" {
			t.Errorf("%s: sleep %d s, %s", name, sleepOf(pod), report)
		}
	}
}

func TestTheAddressThatKubeletsAskIsThatOfTheService(t *testing.T) {
	const name = "kureka-held"
	h := &holder{Hold: Hold{Namespace: metav1.NamespaceDefault, Service: name}}
	if got := h.ask(t.Context(), admin); got.err == nil || !strings.Contains(got.err.Error(), "no Service") {
		t.Errorf("without a Service: %+v", got)
	}
	svc, err := admin.CoreV1().Services(metav1.NamespaceDefault).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "metrics", Port: 8080}, {Name: RegistryPort, Port: 8761}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := h.ask(t.Context(), admin); got.err != nil || got.host != svc.Spec.ClusterIP || got.port != 8761 {
		t.Errorf("got %+v, want %s and 8761", got, svc.Spec.ClusterIP)
	}
	if err := admin.CoreV1().Services(metav1.NamespaceDefault).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

func TestAnAddressOfTheOperatorIsTakenAsItIs(t *testing.T) {
	var told []string
	h := &holder{Hold: Hold{Address: "[2001:db8::7]:8761", Namespace: metav1.NamespaceDefault, Service: "none"}}
	h.follow(t.Context(), admin, funcr.New(func(_, args string) { told = append(told, args) }, funcr.Options{}))
	if got := h.found.Load(); got == nil || got.host != "2001:db8::7" || got.port != 8761 || len(told) > 0 {
		t.Errorf("got %+v, told %q", got, told)
	}
}

// A hook that cannot be had is told of once, not every time it is looked for.
func TestThatPodsCannotBeHeldIsToldOnce(t *testing.T) {
	h := &holder{Hold: Hold{Namespace: metav1.NamespaceDefault, Service: "none"}}
	var told []string
	log := funcr.New(func(_, args string) { told = append(told, args) }, funcr.Options{})
	for range 3 {
		h.look(t.Context(), admin, log)
	}
	if len(told) != 1 || !strings.Contains(told[0], "there is no Service") {
		t.Errorf("told %q", told)
	}
}

// An old Kubernetes lacks the sleep, not the request.
func TestWherePodsCannotSleepTheyAreHeldAllTheSame(t *testing.T) {
	i := holding(&target{host: "10.96.0.7", port: 8761})
	i.noSleep = whyNoSleep("v1.29.9")
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{container("app", nil)}}}
	if i.mutate("shop", pod); pod.Spec.Containers[0].Lifecycle == nil || pod.Spec.Containers[0].Lifecycle.PreStop.HTTPGet == nil {
		t.Errorf("%s", pod.Annotations[ReportAnnotation])
	}
	i.hold.found.Store(nil)
	pod = &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{container("app", nil)}}}
	if i.mutate("shop", pod); hasHook(&pod.Spec.Containers[0]) || !strings.Contains(pod.Annotations[ReportAnnotation], "has no preStop sleep") {
		t.Errorf("hook %v, %s", hasHook(&pod.Spec.Containers[0]), pod.Annotations[ReportAnnotation])
	}
}
