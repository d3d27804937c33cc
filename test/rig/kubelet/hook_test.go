package kubelet_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kureka/kureka/test/rig/kubelet"
	"github.com/kureka/kureka/test/rig/netns"
)

func TestPreStopHookIsAnsweredBeforeTheProcessIsAskedToEnd(t *testing.T) {
	called := make(chan *http.Request, 1)
	answer := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		called <- r
		<-answer
		w.WriteHeader(http.StatusInternalServerError) // what it says does not matter
	}))
	defer server.Close()
	r := newRig(t, "hook", 40)
	pod := r.run(t, "hook", preStop(t, server.Listener.Addr(), 30))
	deletePod(t, "hook", metav1.DeleteOptions{})
	select {
	case req := <-called:
		if req.Method != http.MethodGet || req.URL.String() != "/drain?now=1" || req.Header.Get("X-Token") != "abc" {
			t.Errorf("hook = %s %s with token %q, want GET /drain?now=1 with abc", req.Method, req.URL, req.Header.Get("X-Token"))
		}
		if source, _, err := net.SplitHostPort(req.RemoteAddr); netns.Inside() && source != "10.99.0.40" {
			t.Errorf("the hook came from %s (%v), want the node's address", source, err)
		}
	case <-t.Context().Done():
		t.Fatal("the hook was not called")
	}
	if !r.memory.Running(pod.UID, "server") {
		t.Error("the process ended before the hook was answered")
	}
	close(answer)
	waitGone(t, "hook", pod.UID)
}

func TestARefusedHookIsOverAtOnce(t *testing.T) {
	closed, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, "refused", 45)
	const tooLong = 600 // seconds, if the hook were waited for
	pod := r.run(t, "refused", preStop(t, closed.Addr(), tooLong))
	deletePod(t, "refused", metav1.DeleteOptions{})
	waitGone(t, "refused", pod.UID)
}

func TestAHookFollowsRedirectsOnItsHostOnly(t *testing.T) {
	var elsewhere atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Store(true) }))
	defer other.Close()
	away := strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
	called := make(chan string, 2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		called <- r.URL.Path
		if r.URL.Path == "/drain" {
			http.Redirect(w, r, "/there", http.StatusFound)
			return
		}
		http.Redirect(w, r, away, http.StatusFound)
	}))
	defer server.Close()
	r := newRig(t, "redirect", 47)
	pod := r.run(t, "redirect", preStop(t, server.Listener.Addr(), 30))
	deletePod(t, "redirect", metav1.DeleteOptions{})
	waitGone(t, "redirect", pod.UID)
	if first, second := <-called, <-called; first != "/drain" || second != "/there" || elsewhere.Load() {
		t.Errorf("the hook called %s and %s, and the other host: %t; want /drain and /there only", first, second, elsewhere.Load())
	}
}

func TestEveryContainerHasItsHookCalled(t *testing.T) {
	called := make(chan string, 2)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { called <- r.Header.Get("X-Token") }))
	defer server.Close()
	r := newRig(t, "hooks", 46)
	pod := r.run(t, "hooks", preStop(t, server.Listener.Addr(), 30), func(pod *corev1.Pod) {
		second := pod.Spec.Containers[0].DeepCopy()
		second.Name, second.Ports = "second", nil
		second.Lifecycle.PreStop.HTTPGet.HTTPHeaders[0].Value = "second"
		pod.Spec.Containers = append(pod.Spec.Containers, *second)
	})
	deletePod(t, "hooks", metav1.DeleteOptions{})
	waitGone(t, "hooks", pod.UID)
	got := []string{<-called, <-called}
	slices.Sort(got)
	if want := []string{"abc", "second"}; !slices.Equal(got, want) {
		t.Errorf("the hooks of %q were called, want %q", got, want)
	}
}

func TestUnansweredHookCostsTheGracePeriodAndNoMore(t *testing.T) {
	silence := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-silence }))
	defer server.Close()
	defer close(silence)
	r := newRig(t, "hang", 41)
	pod := r.run(t, "hang", preStop(t, server.Listener.Addr(), 1))
	deletePod(t, "hang", metav1.DeleteOptions{})
	waitGone(t, "hang", pod.UID)
}

func TestACommandRunsBesideTheProcessBeforeThatIsAskedToEnd(t *testing.T) {
	commands, answer := make(chan []string, 1), make(chan struct{})
	r := newRig(t, "exec", 44, func(options *kubelet.Options) {
		options.Runtime = executingRuntime{Runtime: options.Runtime, commands: commands, answer: answer}
	})
	want := []string{"sh", "-c", "leave"}
	pod := r.run(t, "exec", func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: want}}}
	})
	deletePod(t, "exec", metav1.DeleteOptions{})
	select {
	case got := <-commands:
		if !slices.Equal(got, want) {
			t.Errorf("the command is %q, want %q", got, want)
		}
	case <-t.Context().Done():
		t.Fatal("the command was not run")
	}
	if !r.memory.Running(pod.UID, "server") {
		t.Error("the process ended before the command did")
	}
	close(answer) // with an error, which does not matter
	waitGone(t, "exec", pod.UID)
}

func TestProberDecidesReadiness(t *testing.T) {
	var ready atomic.Bool
	r := newRig(t, "prober", 42, func(options *kubelet.Options) {
		options.Runtime = probedRuntime{Runtime: options.Runtime, ready: &ready}
	})
	r.create(t, "prober")
	pod := waitPod(t, "prober", "running", func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodRunning })
	if isReady(pod) {
		t.Error("ready although the process says it is not")
	}
	ready.Store(true)
	waitPod(t, "prober", "ready", isReady)
	ready.Store(false)
	waitPod(t, "prober", "not ready", func(pod *corev1.Pod) bool { return !isReady(pod) })
}

func preStop(t *testing.T, addr net.Addr, grace int64) func(*corev1.Pod) {
	t.Helper()
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.ParseInt(port, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return func(pod *corev1.Pod) {
		pod.Spec.TerminationGracePeriodSeconds = &grace
		pod.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{
			Host: host, Port: intstr.FromInt32(int32(number)), Path: "/drain?now=1",
			HTTPHeaders: []corev1.HTTPHeader{{Name: "X-Token", Value: "abc"}},
		}}}
	}
}

// executingRuntime lets commands be run in the containers of another runtime; they
// fail once answer is closed.
type executingRuntime struct {
	kubelet.Runtime
	commands chan<- []string
	answer   <-chan struct{}
}

type executingProcess struct {
	kubelet.Process
	runtime executingRuntime
}

func (p executingProcess) Exec(_ context.Context, command []string) error {
	p.runtime.commands <- command
	<-p.runtime.answer
	return errors.New("the command failed")
}

func (r executingRuntime) StartContainer(ctx context.Context, pod *corev1.Pod, container *corev1.Container, ip string) (kubelet.Process, error) {
	process, err := r.Runtime.StartContainer(ctx, pod, container, ip)
	if err != nil {
		return nil, err
	}
	return executingProcess{Process: process, runtime: r}, nil
}

// probedRuntime adds a readiness probe to the containers of another runtime.
type probedRuntime struct {
	kubelet.Runtime
	ready *atomic.Bool
}

type probedProcess struct {
	kubelet.Process
	ready *atomic.Bool
}

func (p probedProcess) Ready() bool { return p.ready.Load() }

func (r probedRuntime) StartContainer(ctx context.Context, pod *corev1.Pod, container *corev1.Container, ip string) (kubelet.Process, error) {
	process, err := r.Runtime.StartContainer(ctx, pod, container, ip)
	if err != nil {
		return nil, err
	}
	return probedProcess{Process: process, ready: r.ready}, nil
}
