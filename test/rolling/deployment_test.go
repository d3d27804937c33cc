package rolling

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kureka/kureka/test/rig/java"
)

// app is the application's name, in the registry and as a label.
const app = "orders"

// deploy makes the Deployment and returns when all its pods are ready.
func (w *world) deploy() {
	w.Helper()
	labels := map[string]string{"app": app}
	most, none := intstr.Parse(*surge), intstr.FromInt32(0)
	_, err := w.Rig.Client.AppsV1().Deployments(w.Namespace).Create(w.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: app},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(*instances)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Strategy: appsv1.DeploymentStrategy{
				Type:          appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &most, MaxUnavailable: &none},
			},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{w.container()}},
			},
		},
	}, metav1.CreateOptions{})
	w.must(err)
	w.OnClose(func() {
		// Nobody makes pods for those that go with the stage. They go anyway.
		_ = w.Rig.Client.AppsV1().Deployments(w.Namespace).Delete(context.WithoutCancel(w.Context()), app, metav1.DeleteOptions{})
	})
	w.awaitRolledOut()
	w.tellDrain()
}

// tellDrain notes what the pods were given by the webhook.
func (w *world) tellDrain() {
	w.Helper()
	pods, err := w.pods(w.Context())
	w.must(err)
	told := map[string]bool{}
	for i := range pods {
		if report := reportOf(&pods[i]); report != "" && !told[report] {
			told[report] = true
			w.Timeline.Add("webhook", "%s: %s", pods[i].Name, report)
		}
	}
}

func (w *world) container() corev1.Container {
	fetch := strconv.Itoa(wholeSeconds(w.timing.fetch))
	return corev1.Container{
		Name: "app", Image: ordersImage, Lifecycle: w.variant.lifecycle(),
		Ports:          []corev1.ContainerPort{{ContainerPort: java.Port}},
		ReadinessProbe: probe("/actuator/health/readiness"),
		Env: environ(map[string]string{
			"APP": app,
			// The application of the conformance tests depends on something; this one does
			// not, and has its client's intervals from the timing.
			"STOCK_URL": "http://127.0.0.1:1/",
			"MANAGEMENT_ENDPOINT_HEALTH_GROUP_READINESS_INCLUDE":          "readinessState",
			"EUREKA_CLIENT_REGISTRYFETCHINTERVALSECONDS":                  fetch,
			"EUREKA_CLIENT_INSTANCEINFOREPLICATIONINTERVALSECONDS":        "30",
			"EUREKA_CLIENT_INITIALINSTANCEINFOREPLICATIONINTERVALSECONDS": "40",
			"EUREKA_INSTANCE_LEASERENEWALINTERVALINSECONDS":               strconv.Itoa(wholeSeconds(w.timing.renew)),
			"EUREKA_INSTANCE_LEASEEXPIRATIONDURATIONINSECONDS":            strconv.Itoa(wholeSeconds(w.timing.lease)),
		}),
	}
}

func probe(path string) *corev1.Probe {
	return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromInt32(java.Port)}}}
}

func environ(values map[string]string) (env []corev1.EnvVar) {
	for name, value := range values {
		env = append(env, corev1.EnvVar{Name: name, Value: value})
	}
	return env
}

// restart restarts the Deployment, as kubectl rollout restart does, and returns when
// the last of the old pods is gone.
func (w *world) restart() {
	w.Helper()
	w.Timeline.Add("scene", "the Deployment is restarted")
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"template": map[string]any{
		"metadata": map[string]any{"annotations": map[string]string{"kubectl.kubernetes.io/restartedAt": time.Now().Format(time.RFC3339)}},
	}}})
	w.must(err)
	_, err = w.Rig.Client.AppsV1().Deployments(w.Namespace).Patch(w.Context(), app, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	w.must(err)
	w.awaitRolledOut()
	w.Timeline.Add("scene", "the Deployment is rolled out")
	w.awaitOnlyLiving()
	w.tellDrain()
}

func (w *world) awaitRolledOut() {
	w.Helper()
	w.eventually("the Deployment to be rolled out", func(ctx context.Context) (bool, error) {
		d, err := w.Rig.Client.AppsV1().Deployments(w.Namespace).Get(ctx, app, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		want := *d.Spec.Replicas
		return d.Status.ObservedGeneration >= d.Generation && d.Status.UpdatedReplicas == want &&
			d.Status.Replicas == want && d.Status.AvailableReplicas == want, nil
	})
}

// awaitOnlyLiving waits until no pod is left that ends.
func (w *world) awaitOnlyLiving() {
	w.Helper()
	w.eventually("the old pods to be gone", func(ctx context.Context) (bool, error) {
		pods, err := w.pods(ctx)
		return err == nil && len(pods) == *instances, err
	})
	w.Timeline.Add("scene", "the last of the old pods is gone")
}
