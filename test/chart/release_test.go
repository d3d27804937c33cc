package chart

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/test/rig/netns"
)

const shop = "shop"

// The documented commands take an empty cluster to a registry that works, to another
// version, back, and to nothing but what people have decided.
func TestRelease_worksFromItsInstallationToItsEnd(t *testing.T) {
	t.Parallel()
	netns.Require(t)
	w := newWorld(t)
	w.namespace(shop, map[string]string{"kureka.dev/drain": "Enabled"})
	notes := w.helm("install", objectName, "charts/kureka", "--namespace", systemNamespace, "--create-namespace", "--dry-run=server")
	if want := "defaultZone=http://kureka.kureka-system:8761/eureka/\n"; !strings.Contains(notes, want) {
		t.Errorf("Helm does not tell %s", want)
	}
	w.documented("Install")
	w.helm("install", "blue", chartPath, "--namespace", shop, "--dry-run=server", "--set", "fullnameOverride=blue,registryClass=blue,crds.install=false")
	w.accepted()
	w.works("")
	w.must(w.api.Create(t.Context(), sleepFor(7)))
	w.drains(7)
	trusted := w.bundle()

	w.chart = w.nextChart()
	w.secrets()
	w.documented("Upgrade", "--set", "rbac.scope=namespaces,watchNamespaces={"+shop+"}",
		"--set", "auth.basic.existingSecret=api-users,tls.existingSecret=api-tls",
		"--set", "snapshot.persistentVolumeClaim.existingClaim=state,startGate=0s,shutdownDelaySeconds=0")
	w.secured = true
	w.works(shop)
	w.goesOnAfterItsPod()
	if !w.hasField("somethingNew") {
		t.Error("the definitions of the custom resources were not upgraded")
	}
	if len(trusted) == 0 || len(w.bundle()) == 0 {
		t.Error("the upgrade has taken the webhook's certificate authority away")
	}
	w.drains(7)

	w.documented("Go back")
	w.secured = false
	w.works("")
	if w.hasField("somethingNew") {
		t.Error("the definitions of the custom resources are still the newer ones")
	}

	w.documented("Uninstall")
	w.leavesWhatPeopleDecided()
	w.mayBeDeleted(systemNamespace)
	w.documented("Install")
	w.drains(7)
	w.documented("Uninstall")
	w.takesOwnershipOnlyIfTold()
}

// everything is what a cluster without an operator of Prometheus can be given.
const everything = `
fullnameOverride: blue
commonLabels: {team: platform}
commonAnnotations: {contact: "7"}
mode: Observe
watchNamespaces: [shop]
rbac: {scope: namespaces}
snapshot: {persistentVolumeClaim: {enabled: true, storageClassName: fast, annotations: {a: b}}}
auth: {basic: {existingSecret: users}}
tls: {existingSecret: tls}
webhook: {certificate: {existingSecret: webhook}}
service: {ipFamilyPolicy: PreferDualStack, labels: {a: b}, annotations: {a: b}}
aliases: [{name: eureka, namespace: shop}]
resources: {limits: {cpu: 1, memory: 1Gi}}
networkPolicy: {apiFrom: [{podSelector: {}}], egress: [{ports: [{port: 443}]}]}
imagePullSecrets: [{name: pull}]
priorityClassName: system-cluster-critical
tolerations: [{key: pool, operator: Exists}]
topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {a: b}}}]
extraEnv: [{name: GODEBUG, value: x=1}]
extraVolumes: [{name: f, emptyDir: {}}]
extraVolumeMounts: [{name: f, mountPath: /f}]`

// accepted has the API server check everything that the chart can render.
func (w *world) accepted() {
	w.t.Helper()
	for _, obj := range render(w.t, everything).all {
		err := w.api.Apply(w.t.Context(), client.ApplyConfigurationFromUnstructured(obj), client.DryRunAll, client.ForceOwnership, client.FieldOwner("test"))
		if err != nil {
			w.t.Errorf("%s %s: %v", obj.GetKind(), obj.GetName(), err)
		}
	}
}

func sleepFor(seconds int32) *v1alpha1.RegistryPolicy {
	length := intstr.FromInt32(seconds)
	return &v1alpha1.RegistryPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: v1alpha1.PolicyName},
		Spec:       v1alpha1.RegistryPolicySpec{Drain: &v1alpha1.Drain{Mode: v1alpha1.DrainSleep, Seconds: &length}},
	}
}

const instance = `{"instance":{"instanceId":"orders-1","hostName":"192.0.2.10","app":"ORDERS","ipAddr":"192.0.2.10","vipAddress":"orders","status":"UP",
	"port":{"$":8080,"@enabled":"true"},"dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"}}}`

// works expects a registry that takes and shows an instance, and sees everything in
// a namespace, or in all.
func (w *world) works(namespace string) {
	w.t.Helper()
	if code, text, err := w.ask(http.MethodPost, apiPort, "/eureka/apps/ORDERS", instance); err != nil || code != http.StatusNoContent {
		w.t.Fatalf("registering: %d %s %v", code, text, err)
	}
	if code, text, err := w.ask(http.MethodGet, apiPort, "/eureka/apps/ORDERS/orders-1", ""); err != nil || code != http.StatusOK || !strings.Contains(text, `"UP"`) {
		w.t.Fatalf("reading: %d %s %v", code, text, err)
	}
	if w.secured {
		w.wantsAPassword()
	}
	if namespace != "" {
		namespace = "/" + namespace
	}
	w.eventually("the cluster is seen", func() error {
		code, text, err := w.ask(http.MethodGet, "8080", "/metrics", "")
		if err != nil || code != http.StatusOK {
			return fmt.Errorf("%d %w", code, err)
		}
		for _, want := range []string{
			"\nkureka_view_fresh 1\n", `kureka_watch_up{resource="pods` + namespace + `"} 1`, `kureka_watch_up{resource="services` + namespace + `"} 1`,
			`kureka_watch_up{resource="endpointslices` + namespace + `"} 1`, `kureka_watch_up{resource="nodes"} 1`,
		} {
			if !strings.Contains(text, want) {
				return fmt.Errorf("the metrics lack %s", want)
			}
		}
		return nil
	})
}

// goesOnAfterItsPod deletes the pod and expects the next one to know who was there.
func (w *world) goesOnAfterItsPod() {
	w.t.Helper()
	before, err := w.registry()
	w.must(err)
	w.must(w.api.Delete(w.t.Context(), before))
	w.eventually("another pod serves", func() error {
		pod, err := w.registry()
		if err == nil && pod.UID == before.UID {
			err = errors.New("it is still the same pod")
		}
		if err != nil {
			return err
		}
		code, _, err := w.ask(http.MethodGet, apiPort, "/eureka/apps", "")
		if err == nil && code != http.StatusOK {
			err = fmt.Errorf("it answers %d", code)
		}
		return err
	})
	if code, text, err := w.ask(http.MethodGet, apiPort, "/eureka/apps", ""); err != nil || code != http.StatusOK || !strings.Contains(text, "orders-1") {
		w.t.Errorf("after its pod the registry answers %d %s %v", code, text, err)
	}
}

func (w *world) wantsAPassword() {
	w.t.Helper()
	pod, err := w.registry()
	w.must(err)
	resp, err := w.web.Get("https://" + net.JoinHostPort(pod.Status.PodIP, apiPort) + "/eureka/apps/ORDERS/orders-1") //nolint:noctx // the client has a timeout
	w.must(err)
	w.must(resp.Body.Close())
	if resp.StatusCode != http.StatusUnauthorized {
		w.t.Errorf("without a password it answers %d", resp.StatusCode)
	}
}

// drains expects the policy to be in force and to say so, the API server to reach
// the webhook, and the process to be refused nothing.
func (w *world) drains(seconds int64) {
	w.t.Helper()
	w.eventually("pods get their sleep", func() error {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: shop, GenerateName: "orders-"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "app"}}},
		}
		if err := w.api.Create(w.t.Context(), pod, client.DryRunAll); err != nil {
			return err
		}
		hook := pod.Spec.Containers[0].Lifecycle
		if hook == nil || hook.PreStop == nil || hook.PreStop.Sleep == nil || hook.PreStop.Sleep.Seconds != seconds {
			return fmt.Errorf("it has %+v", hook)
		}
		return nil
	})
	w.eventually("the policy says what is in force", func() error {
		policy := &v1alpha1.RegistryPolicy{}
		err := w.api.Get(w.t.Context(), client.ObjectKeyFromObject(sleepFor(0)), policy)
		if err == nil && policy.Status.Effective == nil {
			err = errors.New("it has no status")
		}
		return err
	})
	if strings.Contains(w.node.latest(), "forbidden") {
		w.t.Error("the roles do not suffice, see the log")
	}
}

// bundle is what the API server trusts of the webhook.
func (w *world) bundle() []byte {
	w.t.Helper()
	c, err := w.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(w.t.Context(), objectName, metav1.GetOptions{})
	w.must(err)
	return c.Webhooks[0].ClientConfig.CABundle
}

// hasField reports whether the namespaces' policies can have a field in their spec.
func (w *world) hasField(name string) bool {
	w.t.Helper()
	crd := &unstructured.Unstructured{}
	crd.SetAPIVersion("apiextensions.k8s.io/v1")
	crd.SetKind("CustomResourceDefinition")
	w.must(w.api.Get(w.t.Context(), client.ObjectKey{Name: "registrypolicies.kureka.dev"}, crd))
	versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	w.must(err)
	_, found, err := unstructured.NestedMap(versions[0].(map[string]any), "schema", "openAPIV3Schema", "properties", "spec", "properties", name)
	w.must(err)
	return found
}

// nextChart is the chart of a version to come, whose policies have one field more.
func (w *world) nextChart() string {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "kureka")
	w.must(os.CopyFS(dir, os.DirFS(chartPath)))
	edit := func(name, old, replacement string) {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		w.must(err)
		if strings.Count(string(text), old) != 1 {
			w.t.Fatalf("%s does not hold %q once", name, old)
		}
		w.must(os.WriteFile(path, []byte(strings.Replace(string(text), old, replacement, 1)), 0o600))
	}
	edit("Chart.yaml", "\nversion: ", "\nversion: 9")
	edit("files/crds/kureka.dev_registrypolicies.yaml", "\n            properties:\n              drain:\n",
		"\n            properties:\n              somethingNew:\n                type: string\n              drain:\n")
	return dir
}

// leavesWhatPeopleDecided expects the definitions and the policy to be there and
// nothing else.
func (w *world) leavesWhatPeopleDecided() {
	w.t.Helper()
	w.hasField("mode")
	w.must(w.api.Get(w.t.Context(), client.ObjectKeyFromObject(sleepFor(0)), &v1alpha1.RegistryPolicy{}))
	for _, obj := range render(w.t, "{fullnameOverride: kureka, crds: {install: false}}").all {
		err := w.api.Get(w.t.Context(), client.ObjectKeyFromObject(obj), obj)
		if !apierrors.IsNotFound(err) {
			w.t.Errorf("%s %s is still there: %v", obj.GetKind(), obj.GetName(), err)
		}
	}
	_, err := w.registry()
	if err == nil {
		w.t.Error("the pod is still there")
	}
}

// takesOwnershipOnlyIfTold installs a release of another name, for which the
// definitions are somebody else's.
func (w *world) takesOwnershipOnlyIfTold() {
	w.t.Helper()
	args := []string{"install", "other", w.chart, "--namespace", systemNamespace, "--kubeconfig", w.kubeconfig}
	if out, err := helm(w.t, "", args...); err == nil || !strings.Contains(out, "ownership") {
		w.t.Errorf("Helm took the definitions of another release: %v %s", err, out)
	}
	if out, err := helm(w.t, "", append(args, "--take-ownership")...); err != nil {
		w.t.Errorf("told to take them it fails: %v %s", err, out)
	}
}

// mayBeDeleted deletes a namespace with nobody around who could remove a finalizer.
func (w *world) mayBeDeleted(name string) {
	w.t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	w.must(w.api.Delete(w.t.Context(), ns))
	w.eventually("the namespace goes", func() error {
		err := w.api.Get(w.t.Context(), client.ObjectKeyFromObject(ns), ns)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("it is still there"), err)
	})
}
