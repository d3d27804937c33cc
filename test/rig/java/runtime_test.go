package java

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kureka/kureka/test/rig/kubelet"
)

// podIP is an address of the loopback device other than the one that calls come
// from unless told otherwise.
const podIP = "127.0.0.9"

func TestAContainerIsToldWhoItIs(t *testing.T) {
	p := start(t, "http://127.0.0.1:1/eureka")
	executor := p.(kubelet.Executor)
	const question = `echo "$POD_NAME $POD_IP $OWN"; exit 1`
	err := executor.Exec(t.Context(), []string{"sh", "-c", question})
	if want := "orders-1 127.0.0.9 orders-1@127.0.0.9"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the container was told %v, want %s", err, want)
	}
	if err := executor.Exec(t.Context(), nil); err == nil {
		t.Error("no command is no error")
	}
}

func TestTheRegistryIsCalledFromThePodsAddress(t *testing.T) {
	seen := make(chan string, 1)
	registry := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		source, _, err := net.SplitHostPort(r.RemoteAddr)
		seen <- fmt.Sprint(source, " ", r.URL.Path, " ", err)
	}))
	defer registry.Close()
	p := start(t, registry.URL+"/eureka").(*process)
	var url string
	for _, env := range p.env {
		if value, found := strings.CutPrefix(env, "KUREKA_URL="); found {
			url = value
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"apps", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if got, want := <-seen, podIP+" /eureka/apps <nil>"; got != want {
		t.Errorf("the registry saw %q, want %q", got, want)
	}
}

func TestACommandEndsWithItsContainer(t *testing.T) {
	p := start(t, "http://127.0.0.1:1/eureka")
	ended := make(chan error, 1)
	go func() { ended <- p.(kubelet.Executor).Exec(t.Context(), []string{"sleep", "600"}) }()
	p.Kill()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("the command ended by itself")
		}
	case <-t.Context().Done():
		t.Fatal("the command goes on")
	}
	if state := <-p.Done(); state.Code != 137 {
		t.Errorf("the container ended with %d, want 137", state.Code)
	}
}

func TestAnImageWithoutAProgramIsRefused(t *testing.T) {
	if _, err := new(Runtime).StartContainer(t.Context(), &corev1.Pod{}, &corev1.Container{Image: "other"}, podIP); err == nil {
		t.Error("it was started")
	}
}

// start runs a container that does nothing until it is killed.
func start(t *testing.T, registry string) kubelet.Process {
	t.Helper()
	r := &Runtime{Programs: map[string][]string{"orders": {"sleep", "600"}}, Registry: registry, ProbeEvery: time.Second}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "orders-1", Namespace: "shop"}}
	p, err := r.StartContainer(t.Context(), pod, &corev1.Container{
		Name: "app", Image: "orders", Env: []corev1.EnvVar{{Name: "OWN", Value: "$(POD_NAME)@$(POD_IP)"}},
		ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/"}}},
	}, podIP)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}
