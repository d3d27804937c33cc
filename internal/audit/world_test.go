package audit_test

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/internal/audit"
)

// world is a namespace in which nothing is wrong: a Deployment of two pods with a
// Eureka client, for which the drain is on.
type world struct {
	in       audit.Input
	orders   *appsv1.Deployment
	pod      *corev1.PodSpec
	app      *corev1.Container
	policy   *v1alpha1.RegistryPolicySpec
	settings map[string]string // the application.properties that the pod mounts
	optedIn  bool
	kind     func(*appsv1.Deployment) audit.Workload
}

func newWorld() *world {
	w := &world{optedIn: true, kind: audit.FromDeployment, settings: map[string]string{
		"eureka.client.service-url.defaultZone": "http://kureka:8761/eureka/",
	}}
	w.orders = &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders"}}
	w.orders.Spec.Replicas = new(int32(2))
	w.pod = &w.orders.Spec.Template.Spec
	w.pod.TerminationGracePeriodSeconds = new(int64(30))
	w.pod.Containers = []corev1.Container{{
		Name: "app", Ports: []corev1.ContainerPort{{ContainerPort: 8080}},
		ReadinessProbe: get("/actuator/health/readiness"), LivenessProbe: get("/actuator/health/liveness"),
		VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/config"}},
	}}
	w.pod.Volumes = []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "orders"}},
	}}}
	w.app = &w.pod.Containers[0]
	w.policy = &v1alpha1.RegistryPolicySpec{Drain: &v1alpha1.Drain{Mode: v1alpha1.DrainSleep}, Pods: &v1alpha1.Pods{}, Leases: &v1alpha1.Leases{}}
	return w
}

// input is what there is to look at.
func (w *world) input() *audit.Input {
	var text strings.Builder
	for key, value := range w.settings {
		text.WriteString(key + "=" + value + "\n")
	}
	in := w.in
	in.Workloads = append(in.Workloads, w.kind(w.orders))
	in.ConfigMaps = append(in.ConfigMaps, corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders"}, Data: map[string]string{"application.properties": text.String()},
	})
	in.Policies = append(in.Policies, v1alpha1.RegistryPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "default"}, Spec: *w.policy})
	namespace := corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	if w.optedIn {
		namespace.Labels = map[string]string{"kureka.dev/drain": "Enabled"}
	}
	in.Namespaces = append(in.Namespaces, namespace)
	return &in
}

func (w *world) hook(h corev1.LifecycleHandler) { w.app.Lifecycle = &corev1.Lifecycle{PreStop: &h} }

func (w *world) script(command ...string) {
	w.hook(corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: command}})
}

func (w *world) shell(script string) { w.script("/bin/sh", "-c", script) }

func get(path string) *corev1.Probe {
	return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromInt32(8080)}}}
}

func sleep(n int64) corev1.LifecycleHandler {
	return corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: n}}
}

func label(w *world, value string) {
	w.orders.Spec.Template.Labels = map[string]string{"kureka.dev/drain": value}
}

func env(w *world, name, value string) {
	w.app.Env = append(w.app.Env, corev1.EnvVar{Name: name, Value: value})
}

func lease(renewal, duration string) func(*world) {
	return func(w *world) {
		w.settings["eureka.instance.lease-renewal-interval-in-seconds"] = renewal
		if duration != "" {
			w.settings["eureka.instance.lease-expiration-duration-in-seconds"] = duration
		}
	}
}

func server(w *world) {
	w.optedIn = false
	w.orders.Spec.Replicas = nil
	w.settings = map[string]string{
		"eureka.server.enable-self-preservation": "false", "eureka.client.register-with-eureka": "false", "eureka.client.fetch-registry": "false",
	}
}

func webClient(w *world) {
	w.settings["eureka.client.webclient.enabled"] = "true"
	w.settings["spring.codec.max-in-memory-size"] = "16MB"
}

func (w *world) grace(n int64) { w.pod.TerminationGracePeriodSeconds = new(n) }

func (w *world) autoscaled(least int32) {
	w.in.Autoscalers = []audit.Autoscaler{{Namespace: "shop", Kind: "Deployment", Name: "orders", Least: least}}
}

func (w *world) unavailable(n intstr.IntOrString) {
	w.orders.Spec.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{MaxUnavailable: &n}
}

func (w *world) sidecar() {
	w.pod.Containers = append(w.pod.Containers, corev1.Container{Name: "proxy"})
}

// oneID has one pod register with an id that any other would have as well.
func oneID(w *world) {
	w.settings["eureka.instance.instance-id"] = "orders"
	w.orders.Spec.Replicas = new(int32(1))
}

func (w *world) statefulSet() {
	w.kind = func(d *appsv1.Deployment) audit.Workload {
		return audit.FromStatefulSet(&appsv1.StatefulSet{
			ObjectMeta: d.ObjectMeta, Spec: appsv1.StatefulSetSpec{Replicas: d.Spec.Replicas, Template: d.Spec.Template},
		})
	}
}

func (w *world) job() {
	w.kind = func(d *appsv1.Deployment) audit.Workload {
		made := audit.FromDeployment(d)
		made.Kind, made.Replicas, made.Ends = "Job", nil, true
		return made
	}
}
