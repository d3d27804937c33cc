package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/test/rig/controlplane"
)

// options are those of a test: any free port, no gate.
func options(mode Mode) Options {
	o := DefaultOptions()
	o.Mode, o.StartGate = mode, GateOff
	o.RegistryAddr, o.MetricsAddr, o.ProbeAddr = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	return o
}

// start runs an app until the test ends, or stop is called.
func start(tb testing.TB, o Options) (a *App, stop func() error) {
	tb.Helper()
	return startLogging(tb, o, logr.Discard())
}

func startLogging(tb testing.TB, o Options, log logr.Logger) (a *App, stop func() error) {
	tb.Helper()
	a, err := New(tb.Context(), o, log)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	stopped := false
	stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-done
	}
	tb.Cleanup(func() {
		if err := stop(); err != nil {
			tb.Errorf("stopping: %v", err)
		}
	})
	return a, stop
}

// web bounds every request: a server that does not answer fails the test.
var web = &http.Client{Timeout: time.Minute}

// ask sends a request to one of the app's servers and returns status and body.
func ask(t *testing.T, addr net.Addr, method, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+addr.String()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := web.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func demoBody(id, ip string) string {
	return fmt.Sprintf(`{"instance":{"instanceId":%q,"hostName":%q,"app":"DEMO","ipAddr":%q,"status":"UP",
		"port":{"$":8080,"@enabled":"true"},"dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"}}}`, id, id, ip)
}

func TestStandaloneServesTheRegistryProbesAndMetrics(t *testing.T) {
	a, stop := start(t, options(Standalone))
	if code, _ := ask(t, a.Addr(), http.MethodPost, "/eureka/apps/DEMO", demoBody("a", "192.0.2.10")); code != http.StatusNoContent {
		t.Errorf("registering: %d", code)
	}
	if code, body := ask(t, a.Addr(), http.MethodGet, "/eureka/apps", ""); code != http.StatusOK || !strings.Contains(body, "UP_1_") {
		t.Errorf("reading: %d %s", code, body)
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if code, _ := ask(t, a.servers[2].l.Addr(), http.MethodGet, path, ""); code != http.StatusOK {
			t.Errorf("%s: %d", path, code)
		}
	}
	code, body := ask(t, a.servers[1].l.Addr(), http.MethodGet, "/metrics", "")
	for _, want := range []string{
		`kureka_instances{status="UP"} 1`, `kureka_self_preservation_engaged{namespace=""} 0`,
		`kureka_renewals_expected_per_minute{namespace=""} 2`, `kureka_verdicts_total{effect="removed",reason="PodGone"} 0`,
	} {
		if code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("metrics (%d) lack %s", code, want)
		}
	}
	if err := stop(); err != nil {
		t.Errorf("stopping: %v", err)
	}
}

func TestAnInstanceIsExplained(t *testing.T) {
	a, _ := start(t, options(Standalone))
	ask(t, a.Addr(), http.MethodPost, "/eureka/apps/DEMO", demoBody("a", "192.0.2.10"))
	if code, body := ask(t, a.Addr(), http.MethodGet, "/kureka/v1/instances/DEMO/a", ""); code != http.StatusOK || !strings.Contains(body, `"NoPodOwnsAddress"`) {
		t.Errorf("%d %s", code, body)
	}
	if code, body := ask(t, a.Addr(), http.MethodGet, "/lastn", ""); code != http.StatusOK || !strings.Contains(body, `"id": "a"`) {
		t.Errorf("/lastn: %d %s", code, body)
	}
}

func TestTheAPIIsAnsweredUnderMoreBasePaths(t *testing.T) {
	o := options(Standalone)
	o.BasePaths = []string{"/registry/eureka", "/other/"}
	a, _ := start(t, o)
	for path, want := range map[string]int{
		"/eureka/apps": 200, "/v2/apps": 200, "/registry/eureka/apps/": 200, "/registry/eureka/v2/apps": 200, "//registry//eureka/apps": 200,
		"/other/apps": 200, "/registry/apps": 404, "/registry/v2/apps": 404,
	} {
		if code, _ := ask(t, a.Addr(), http.MethodGet, path, ""); code != want {
			t.Errorf("%s is answered %d, want %d", path, code, want)
		}
	}
}

func TestTheDashboardCanBeSwitchedOff(t *testing.T) {
	o := options(Standalone)
	o.Dashboard = DashboardOff
	a, _ := start(t, o)
	for _, path := range []string{"/kureka/v1/view", "/lastn", "/kureka/ui/", "/kureka/ui/events"} {
		if code, body := ask(t, a.Addr(), http.MethodGet, path, ""); code != http.StatusNotFound || body != "" {
			t.Errorf("%s is answered %d %s", path, code, body)
		}
	}
	if code, body := page(t, a, "", "/"); code != http.StatusNotFound || body != "" {
		t.Errorf("a browser is answered %d %s", code, body)
	}
}

func TestTheStartGateRefusesListsAndNothingElse(t *testing.T) {
	o := options(Standalone)
	o.StartGate = GateAuto
	a, _ := start(t, o)
	for _, tc := range []struct {
		method, path string
		want         int
	}{
		{http.MethodPost, "/eureka/apps/DEMO", 204},
		{http.MethodPut, "/eureka/apps/DEMO/a", 200},
		{http.MethodGet, "/eureka/apps/DEMO/a", 200},
		{http.MethodGet, "/eureka/apps", 503},
		{http.MethodGet, "/eureka/apps/delta", 503},
		{http.MethodGet, "/eureka/apps/DEMO", 503},
		{http.MethodGet, "/eureka/vips/demo", 503},
	} {
		body := ""
		if tc.method == http.MethodPost {
			body = demoBody("a", "192.0.2.10")
		}
		if code, text := ask(t, a.Addr(), tc.method, tc.path, body); code != tc.want || code == 503 && text != "" {
			t.Errorf("%s %s: %d %q, want %d", tc.method, tc.path, code, text, tc.want)
		}
	}
}

func TestAnAddressThatCannotBeHadSaysWhichAndWhatToDo(t *testing.T) {
	a, _ := start(t, options(Standalone))
	o := options(Standalone)
	o.RegistryAddr = a.Addr().String()
	_, err := New(t.Context(), o, logr.Discard())
	if err == nil || !strings.Contains(err.Error(), "in use") || !strings.Contains(err.Error(), "--registry-bind-address") {
		t.Errorf("a port in use: %v", err)
	}
	o.RegistryAddr = "192.0.2.1:8761"
	if _, err = New(t.Context(), o, logr.Discard()); err == nil || !strings.Contains(err.Error(), "has no address") {
		t.Errorf("a foreign address: %v", err)
	}
}

func TestAStartThatFailsClosesWhatItOpened(t *testing.T) {
	a, stop := start(t, options(Standalone))
	o := options(Standalone)
	o.RegistryAddr = a.Addr().String()
	if err := stop(); err != nil { // the address is free now
		t.Fatal(err)
	}
	o.UsersFile = filepath.Join(t.TempDir(), "none")
	for range 2 {
		if _, err := New(t.Context(), o, logr.Discard()); err == nil || !strings.Contains(err.Error(), "--registry-users-file") {
			t.Errorf("got %v", err)
		}
	}
}

func TestAStartThatFailsLeavesTheCollectorAsItWas(t *testing.T) {
	before := gcPercent()
	o := kept(filepath.Join(t.TempDir(), "registry.snapshot"))
	o.UsersFile = filepath.Join(t.TempDir(), "none")
	if _, err := New(t.Context(), o, logr.Discard()); err == nil {
		t.Error("a file that is not there was read")
	}
	if after := gcPercent(); after != before {
		t.Errorf("%d %% became %d %%", before, after)
	}
}

func gcPercent() int {
	p := debug.SetGCPercent(100)
	debug.SetGCPercent(p)
	return p
}

func TestAManagerWithoutAClusterSaysWhereItLooked(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	_, err := New(t.Context(), options(Manager), logr.Discard())
	if err == nil || !strings.Contains(err.Error(), "--kubeconfig") || !strings.Contains(err.Error(), "standalone") {
		t.Errorf("nothing to connect to: %v", err)
	}
	o := options(Manager)
	o.Kubeconfig = filepath.Join(t.TempDir(), "none")
	if _, err = New(t.Context(), o, logr.Discard()); err == nil || !strings.Contains(err.Error(), o.Kubeconfig) {
		t.Errorf("no such file: %v", err)
	}
}

// The registry serves while the API server is away from the start, and what was
// registered meanwhile is bound once it is back.
func TestTheRegistryServesWhileTheAPIServerIsAway(t *testing.T) {
	plane := controlplane.StartFor(t, controlplane.Options{NoControllerManager: true})
	pod := runningPod(t, plane)
	plane.StopAPIServer()

	o := options(Manager)
	o.Kubeconfig, o.Namespace = filepath.Join(t.TempDir(), "kubeconfig"), metav1.NamespaceDefault
	if err := plane.Kubeconfig(o.Kubeconfig); err != nil {
		t.Fatal(err)
	}
	a, _ := start(t, o)
	if code, _ := ask(t, a.Addr(), http.MethodPost, "/eureka/apps/DEMO", demoBody(pod.Name, pod.Status.PodIP)); code != http.StatusNoContent {
		t.Fatalf("registering: %d", code)
	}
	heartbeat := func() {
		if code, _ := ask(t, a.Addr(), http.MethodPut, "/eureka/apps/DEMO/"+pod.Name, ""); code != http.StatusOK {
			t.Errorf("heartbeat: %d", code)
		}
		if code, body := ask(t, a.Addr(), http.MethodGet, "/eureka/apps", ""); code != http.StatusOK || !strings.Contains(body, "UP_1_") {
			t.Errorf("reading: %d %s", code, body)
		}
	}
	for range 20 {
		heartbeat()
	}
	if err := plane.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	key := registry.NewKey("DEMO", pod.Name)
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		heartbeat()
		i := a.cluster.Snapshot().Get(key)
		return i != nil && i.PodUID == string(pod.UID), nil
	})
	if err != nil {
		t.Fatalf("never bound: %v", err)
	}
}

// runningPod creates a pod with an address, as a kubelet would leave it.
func runningPod(t *testing.T, plane *controlplane.ControlPlane) *corev1.Pod {
	t.Helper()
	client, err := kubernetes.NewForConfig(plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	api := client.CoreV1().Pods(metav1.NamespaceDefault)
	pod, err := api.Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "demo-1"},
		Spec: corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{
			Name: "app", Image: "app", Ports: []corev1.ContainerPort{{ContainerPort: 8080}},
		}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "192.0.2.10", PodIPs: []corev1.PodIP{{IP: "192.0.2.10"}}}
	if pod, err = api.UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	return pod
}

func TestMainPrintsHelpAndRefusesNonsense(t *testing.T) {
	var out bytes.Buffer
	if err := Main(t.Context(), []string{"--help"}, &out); err != nil || !strings.Contains(out.String(), "--start-gate") {
		t.Errorf("help: %v\n%s", err, out.String())
	}
	if err := Main(t.Context(), []string{"manager", "--start-gate", "x"}, &out); err == nil {
		t.Error("accepted nonsense")
	}
}
