package restart

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/kureka/kureka/test/rig/controlplane"
)

// tempDir is for what all tests share.
var tempDir string

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	var err error
	if tempDir, err = os.MkdirTemp("", "kureka-restart-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := os.RemoveAll(tempDir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

const others = 998 // instances outside pods

// A registry of a thousand instances is killed, a pod dies while it is away, and
// after the start clients see nothing of it.
func TestARestartIsNotNoticed(t *testing.T) {
	plane := controlplane.StartFor(t, controlplane.Options{NoControllerManager: true})
	pods := newPods(t, plane)
	pods.create("dies-1", "192.0.2.1")
	pods.create("lives-2", "192.0.2.2")
	args := managerArgs(t, plane)
	p := run(t, append(args, "--start-gate", "Off")...)
	ids := registerAll(p)
	awaitBound(p, "dies-1", "lives-2")
	var client registry
	client.fetch(p)
	if len(client.status) != len(ids) {
		t.Fatalf("%d instances before, want %d", len(client.status), len(ids))
	}
	// What the client has not fetched when the registry is killed.
	p.want(http.StatusNoContent, http.MethodPost, "/apps/"+app("late-3"), registration("late-3", "198.51.100.3"))
	p.want(http.StatusOK, http.MethodDelete, "/apps/"+app("other-5")+"/other-5", "")
	p.want(http.StatusOK, http.MethodPut, "/apps/"+app("other-6")+"/other-6/status?value=OUT_OF_SERVICE", "")
	p.awaitSaved()
	var other registry
	other.fetch(p)
	other.fetchDelta(p)
	before := other.version
	p.Kill()

	pods.kill("dies-1")
	p = run(t, args...) // with the automatic start gate
	checkFirstAnswers(t, p, client, before)
	everybody(ids, func(id string) {
		if id == "dies-1" || id == "other-5" {
			return
		}
		if code, _, err := p.ask(http.MethodPut, "/apps/"+app(id)+"/"+id+"?status=UP", ""); err != nil || code != http.StatusOK {
			t.Errorf("heartbeat of %s: %d %v", id, code, err)
		}
	})
	awaitGone(p, "dies-1")
	var later registry
	later.fetch(p)
	if later.status[app("lives-2")+"/lives-2"] != "UP" || len(later.status) != len(ids)-1 {
		t.Errorf("%d instances, lives-2 is %q", len(later.status), later.status[app("lives-2")+"/lives-2"])
	}
	// What its process still sends changes nothing.
	p.want(http.StatusOK, http.MethodPut, "/apps/"+app("dies-1")+"/dies-1?status=UP", "")
	p.want(http.StatusNoContent, http.MethodPost, "/apps/"+app("dies-1"), registration("dies-1", "192.0.2.1"))
	p.want(http.StatusNotFound, http.MethodGet, "/apps/"+app("dies-1")+"/dies-1", "")
}

// checkFirstAnswers is what clients get from the first moment on.
func checkFirstAnswers(t *testing.T, p *process, client registry, before string) {
	t.Helper()
	var fresh registry
	fresh.fetch(p)
	// The dead pod's may be gone already.
	if n := len(fresh.status); n != others+2 && n != others+1 {
		t.Errorf("%d instances in the first answer, want %d", n, others+2)
	}
	if !client.fetchDelta(p) {
		t.Errorf("the delta leads to %s, the server has %s", client.count(), client.hash)
	}
	for key, want := range map[string]string{
		app("late-3") + "/late-3": "UP", app("other-5") + "/other-5": "", app("other-6") + "/other-6": "OUT_OF_SERVICE",
		app("lives-2") + "/lives-2": "UP",
	} {
		if client.status[key] != want || fresh.status[key] != want {
			t.Errorf("%s is %q by the delta and %q by the list, want %q", key, client.status[key], fresh.status[key], want)
		}
	}
	if client.version <= before || len(client.version) != len(before) {
		t.Errorf("versions__delta went from %s to %s", before, client.version)
	}
}

func managerArgs(t *testing.T, plane *controlplane.ControlPlane) []string {
	t.Helper()
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := plane.Kubeconfig(kubeconfig); err != nil {
		t.Fatal(err)
	}
	return []string{
		"manager", "--kubeconfig", kubeconfig, "--namespace", metav1.NamespaceDefault,
		"--snapshot-file", filepath.Join(dir, "registry.snapshot"),
	}
}

// registerAll registers the two pods and everybody outside.
func registerAll(p *process) (ids []string) {
	addresses := map[string]string{"dies-1": "192.0.2.1", "lives-2": "192.0.2.2"}
	ids = append(make([]string, 0, others+2), "dies-1", "lives-2")
	for i := range others {
		id := fmt.Sprintf("other-%d", i)
		ids = append(ids, id)
		addresses[id] = fmt.Sprintf("198.51.%d.%d", 101+i/250, 1+i%250)
	}
	everybody(ids, func(id string) {
		if code, _, err := p.ask(http.MethodPost, "/apps/"+app(id), registration(id, addresses[id])); err != nil || code != http.StatusNoContent {
			p.t.Errorf("registering %s: %d %v", id, code, err)
		}
	})
	return ids
}

func awaitBound(p *process, ids ...string) {
	p.t.Helper()
	err := wait.PollUntilContextTimeout(p.t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		for _, id := range ids {
			_, text, err := send(ctx, http.MethodGet, "http://"+p.addr("Eureka API")+"/kureka/v1/instances/"+app(id)+"/"+id, "")
			if err != nil || !strings.Contains(text, `"uid"`) {
				return false, err
			}
		}
		return true, nil
	})
	if err != nil {
		p.t.Fatalf("never bound: %v", err)
	}
}

func awaitGone(p *process, id string) {
	p.t.Helper()
	err := wait.PollUntilContextTimeout(p.t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		code, _, err := send(ctx, http.MethodGet, "http://"+p.addr("Eureka API")+"/eureka/apps/"+app(id)+"/"+id, "")
		return code == http.StatusNotFound, err
	})
	if err != nil {
		p.t.Fatalf("%s never goes: %v", id, err)
	}
}

// pods are those of the test's API server.
type pods struct {
	t      *testing.T
	client kubernetes.Interface
}

func newPods(t *testing.T, plane *controlplane.ControlPlane) *pods {
	t.Helper()
	client, err := kubernetes.NewForConfig(plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	return &pods{t, client}
}

// create makes a pod as a kubelet would leave it.
func (p *pods) create(name, ip string) {
	p.t.Helper()
	api := p.client.CoreV1().Pods(metav1.NamespaceDefault)
	pod, err := api.Create(p.t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{
			Name: "app", Image: "app", Ports: []corev1.ContainerPort{{ContainerPort: 8080}},
		}}},
	}, metav1.CreateOptions{})
	if err != nil {
		p.t.Fatal(err)
	}
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}}}
	if _, err = api.UpdateStatus(p.t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pods) kill(name string) {
	p.t.Helper()
	none := int64(0)
	if err := p.client.CoreV1().Pods(metav1.NamespaceDefault).Delete(p.t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: &none}); err != nil {
		p.t.Fatal(err)
	}
}

// While the API server is away, a start serves what was known.
func TestAStartServesWhileTheAPIServerIsAway(t *testing.T) {
	plane := controlplane.StartFor(t, controlplane.Options{NoControllerManager: true})
	newPods(t, plane).create("lives-2", "192.0.2.2")
	args := managerArgs(t, plane)
	p := run(t, append(args, "--start-gate", "Off")...)
	p.want(http.StatusNoContent, http.MethodPost, "/apps/"+app("lives-2"), registration("lives-2", "192.0.2.2"))
	awaitBound(p, "lives-2")
	p.awaitSaved()
	p.Kill()
	plane.StopAPIServer()
	p = run(t, args...)
	var client registry
	client.fetch(p)
	if client.status[app("lives-2")+"/lives-2"] != "UP" {
		t.Errorf("served %v", client.status)
	}
	p.want(http.StatusOK, http.MethodPut, "/apps/"+app("lives-2")+"/lives-2?status=UP", "")
}

// A client that reads its list slowly does not make an orderly end a failure, and
// nobody's instance is cancelled.
func TestTheEndIsOrderlyAlthoughAClientReadsSlowly(t *testing.T) {
	file := filepath.Join(t.TempDir(), "registry.snapshot")
	p := run(t, "standalone", "--snapshot-file", file, "--start-gate", "Off", "--shutdown-delay", "2s")
	ids := registerAll(p)
	// A request whose body does not come is one in progress.
	slow, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.addr("Eureka API"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = slow.Close() }()
	if _, err := fmt.Fprint(slow, "POST /eureka/apps/X HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(slow).ReadString('\n'); err != nil || !strings.Contains(line, "100") {
		t.Fatalf("the server does not read on: %q %v", line, err)
	}
	p.Signal(syscall.SIGTERM) // as the kubelet does
	err = wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		code, _, err := send(ctx, http.MethodGet, "http://"+p.addr("probes")+"/readyz", "")
		return code == http.StatusServiceUnavailable, err
	})
	if err != nil {
		t.Fatalf("it stays ready: %v", err)
	}
	if code, _, err := send(t.Context(), http.MethodGet, "http://"+p.addr("probes")+"/healthz", ""); err != nil || code != http.StatusOK {
		t.Errorf("it must not be restarted while it drains: %d %v", code, err)
	}
	p.want(http.StatusOK, http.MethodPut, "/apps/"+app("other-1")+"/other-1?status=UP", "")
	p.want(http.StatusNoContent, http.MethodPost, "/apps/"+app("last-9"), registration("last-9", "198.51.100.9"))
	if code := p.wait(); code != 0 {
		t.Errorf("it ended with code %d", code)
	}
	p = run(t, "standalone", "--snapshot-file", file)
	var client registry
	client.fetch(p)
	if len(client.status) != len(ids)+1 || client.status[app("last-9")+"/last-9"] != "UP" {
		t.Errorf("%d instances afterwards, want %d; the last is %q", len(client.status), len(ids)+1, client.status[app("last-9")+"/last-9"])
	}
}
