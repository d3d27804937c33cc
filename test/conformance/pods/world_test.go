package pods

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/kureka/kureka/test/rig/java"
	"github.com/kureka/kureka/test/rig/stage"
)

// world is a namespace with one node.
type world struct {
	*testing.T
	stage *stage.Stage
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if !*withClients {
		t.Skip("the application has to be built: make conformance")
	}
	t.Parallel()
	set := shared
	set.Timeline = stage.NewTimeline()
	s, err := stage.New(t.Context(), set, stage.Plan{Name: "pods", Nodes: 1, ReadEvery: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(t.Context()) })
	return &world{T: t, stage: s}
}

// patience bounds every single wait. It is no expectation about time: six Java
// processes that start at once need minutes of a busy machine.
const patience = 10 * time.Minute

// eventually fails the test when the answer stays no; the answer comes with what
// was seen.
func (w *world) eventually(what string, ask func() (bool, string)) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	for {
		yes, seen := ask()
		if yes {
			return
		}
		if err := stage.Pass(ctx, 100*time.Millisecond); err != nil {
			w.Fatalf("waiting for %s: %v: %s", what, err, seen)
		}
	}
}

// policies is the resource that a namespace decides with.
var policies = schema.GroupVersionResource{Group: "kureka.dev", Version: "v1alpha1", Resource: "registrypolicies"}

// apply creates or replaces the namespace's policy and waits until it is in force.
func (w *world) apply(manifest string) {
	w.Helper()
	policy := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &policy.Object); err != nil {
		w.Fatalf("decoding the policy: %v", err)
	}
	client, err := dynamic.NewForConfig(w.stage.Rig.Plane.Config())
	if err != nil {
		w.Fatal(err)
	}
	resource := client.Resource(policies).Namespace(w.stage.Namespace)
	options := metav1.ApplyOptions{FieldManager: "test", Force: true}
	applied, err := resource.Apply(w.Context(), policy.GetName(), policy, options)
	if err != nil {
		w.Fatal(err)
	}
	w.eventually("the policy to be in force", func() (bool, string) {
		now, err := resource.Get(w.Context(), policy.GetName(), metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		seen, _, err := unstructured.NestedInt64(now.Object, "status", "observedGeneration")
		return err == nil && seen >= applied.GetGeneration(), fmt.Sprint(now.Object["status"])
	})
}

// port is where the application listens in its pod.
var port = strconv.Itoa(java.Port)

// pod is a pod with the application in it, and what that depends on.
type pod struct {
	w     *world
	name  string
	app   string
	uid   types.UID
	stock *stock
}

// start creates a pod whose readiness probe asks for a page.
func (w *world) start(name, app, page string, env ...corev1.EnvVar) *pod {
	w.Helper()
	stock := newStock()
	w.Cleanup(stock.Close)
	wanted := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{
			NodeName: w.stage.Nodes[0].Name,
			Containers: []corev1.Container{{
				Name: "app", Image: "orders",
				Ports: []corev1.ContainerPort{{ContainerPort: java.Port}},
				Env:   append([]corev1.EnvVar{{Name: "APP", Value: app}, {Name: "STOCK_URL", Value: stock.URL}}, env...),
				ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
					HTTPGet: &corev1.HTTPGetAction{Path: page, Port: intstr.FromInt32(java.Port)},
				}},
			}},
		},
	}
	created, err := w.stage.Rig.Client.CoreV1().Pods(w.stage.Namespace).Create(w.Context(), wanted, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	p := &pod{w: w, name: name, app: app, uid: created.UID, stock: stock}
	w.Cleanup(func() {
		if w.Failed() {
			w.Logf("end of the log of %s:\n%s", name, applications.Log(w.stage.Namespace+"/"+name))
		}
	})
	return p
}

func (p *pod) object() *corev1.Pod {
	p.w.Helper()
	got, err := p.w.stage.Rig.Client.CoreV1().Pods(p.w.stage.Namespace).Get(p.w.Context(), p.name, metav1.GetOptions{})
	if err != nil {
		p.w.Fatal(err)
	}
	return got
}

func (p *pod) ready() bool {
	return slices.ContainsFunc(p.object().Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// awaits waits until the pod is ready or not, and listed with a status.
func (p *pod) awaits(ready bool, status string) {
	p.w.Helper()
	p.w.eventually(fmt.Sprintf("%s to be ready: %t, and listed as %s", p.name, ready, status), func() (bool, string) {
		nowReady, now := p.ready(), p.status()
		return nowReady == ready && now == status, fmt.Sprintf("ready: %t, listed as %q, containers %+v", nowReady, now, p.object().Status.ContainerStatuses)
	})
}

// status is what the registry lists of the pod's instance, "" if nothing.
func (p *pod) status() string {
	p.w.Helper()
	var doc struct {
		Instance struct {
			Status string `json:"status"`
		} `json:"instance"`
	}
	if code := p.w.read(shared.Operator.URL()+"/apps/"+strings.ToUpper(p.app)+"/"+p.id(), &doc); code != http.StatusOK {
		return ""
	}
	return doc.Instance.Status
}

func (p *pod) id() string { return p.name + ":" + p.app + ":" + port }

// health is the status of one part of the application's health.
func (p *pod) health(path ...string) string {
	p.w.Helper()
	var doc map[string]any
	p.w.read(p.page("/actuator/health"), &doc)
	for _, name := range path {
		components, _ := doc["components"].(map[string]any)
		doc, _ = components[name].(map[string]any)
	}
	status, _ := doc["status"].(string)
	return status
}

// awaitsHealth waits until one part of the application's health has a status.
func (p *pod) awaitsHealth(status string, path ...string) {
	p.w.Helper()
	p.w.eventually(fmt.Sprintf("the health of %s to have %s in %s", p.name, status, strings.Join(path, ".")), func() (bool, string) {
		got := p.health(path...)
		return got == status, got
	})
}

func (p *pod) page(path string) string {
	return "http://" + net.JoinHostPort(p.object().Status.PodIP, port) + path
}

// web bounds every request: a server that does not answer fails the test.
var web = &http.Client{Timeout: time.Minute}

// read decodes a page whose status code it returns, 0 if there was no answer.
func (w *world) read(url string, out any) int {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), http.MethodGet, url, nil)
	if err != nil {
		w.Fatal(err)
	}
	req.Header.Set("Accept", "application/json")
	res, err := web.Do(req)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err == nil && len(body) > 0 {
		err = json.Unmarshal(body, out)
	}
	if err != nil {
		w.Fatalf("reading %s: %v", url, err)
	}
	return res.StatusCode
}

// stock is what the application depends on.
type stock struct {
	*httptest.Server
	down atomic.Bool
}

func newStock() *stock {
	s := &stock{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if s.down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	return s
}
