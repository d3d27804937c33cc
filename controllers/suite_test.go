package controllers

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/test/rig/controlplane"
)

// plane is the API server that all tests of this package share.
var plane *controlplane.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(controlplane.Run(m, func(_ context.Context, p *controlplane.ControlPlane) error {
		plane = p
		return nil
	}))
}

// world is one test's namespace, view and registry, fed by a running watcher.
type world struct {
	t       *testing.T
	ns      string
	admin   kubernetes.Interface
	reg     *registry.Engine
	cluster *cluster.Cluster
	watcher *Watcher
	stop    context.CancelFunc
	changes chan cluster.Change
}

// newWorld starts a watcher with the rights of the admin.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, admin: clientset(t, plane.Config()), changes: make(chan cluster.Change, 1000)}
	ns, err := w.admin.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "world-"}}, metav1.CreateOptions{})
	w.must(err)
	w.ns = ns.Name
	w.reg = registry.New(time.Now(), registry.Options{})
	w.cluster = cluster.New(w.reg, cluster.Options{Observer: func(ch cluster.Change) time.Duration { w.changes <- ch; return 0 }})
	w.watch(plane.Config())
	return w
}

func clientset(t *testing.T, cfg *rest.Config) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// watch starts a watcher on the world's view; w.stop ends it.
func (w *world) watch(cfg *rest.Config) {
	w.t.Helper()
	w.watchCanary(cfg, CanaryOptions{Namespace: w.ns, Name: "canary", Identity: "test"})
}

func (w *world) watchCanary(cfg *rest.Config, canary CanaryOptions) {
	w.t.Helper()
	w.watcher = NewWatcher(Options{
		Client: clientset(w.t, cfg), Cluster: w.cluster, Namespaces: []string{w.ns},
		Canary: canary, Clock: time.Now, Logger: testr.New(w.t),
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	mayRenew := make(chan struct{})
	close(mayRenew)
	go func() {
		defer close(done)
		w.watcher.Run(ctx, mayRenew)
	}()
	w.stop = func() {
		cancel()
		<-done
	}
	w.t.Cleanup(w.stop)
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// eventually polls until the condition holds. The deadline is for a test that
// fails; nothing is concluded from how long it took.
func (w *world) eventually(what string, condition func() bool) {
	w.t.Helper()
	err := wait.PollUntilContextTimeout(w.t.Context(), 5*time.Millisecond, 60*time.Second, true,
		func(context.Context) (bool, error) { return condition(), nil })
	if err != nil {
		w.t.Fatalf("waited in vain until %s; watches: %+v", what, w.watcher.States())
	}
}

// shows waits until the registry shows the status, "" for no instance.
func (w *world) shows(id, status string) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("%s is %q", id, status), func() bool { return w.status(id) == status })
}

func (w *world) status(id string) string {
	if i := w.reg.Snapshot().Get(registry.NewKey("DEMO", id)); i != nil {
		return i.Status.String()
	}
	return ""
}

// runPod creates a pod and writes the status that a kubelet would.
func (w *world) runPod(name, node, ip string) *corev1.Pod {
	w.t.Helper()
	api := w.admin.CoreV1().Pods(w.ns)
	pod, err := api.Create(w.t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			NodeName:   node,
			Containers: []corev1.Container{{Name: "app", Image: "app", Ports: []corev1.ContainerPort{{ContainerPort: 8080}}}},
		},
	}, metav1.CreateOptions{})
	w.must(err)
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: "app", ContainerID: "test://" + name + "-1", Ready: true,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}},
	}
	pod, err = api.UpdateStatus(w.t.Context(), pod, metav1.UpdateOptions{})
	w.must(err)
	return pod
}

// register sends a registration from the pod's own address and waits until it is
// bound to the pod.
func (w *world) register(pod *corev1.Pod) {
	w.t.Helper()
	w.eventually("the pod is known", func() bool {
		_, known := w.cluster.PodUID(pod.Namespace, pod.Name)
		return known
	})
	ip := netip.MustParseAddr(pod.Status.PodIP)
	rec := &registry.Record{
		App: "DEMO", ID: pod.Name, HostName: pod.Name, IPAddr: pod.Status.PodIP, Status: registry.Up,
		Port: registry.Port{Number: 8080, Enabled: true},
	}
	if got := w.cluster.Register(time.Now(), ip, rec); got != registry.Done {
		w.t.Fatalf("registering %s: %v", pod.Name, got)
	}
	w.eventually("the instance is bound", func() bool {
		i := w.reg.Snapshot().Get(rec.Key())
		return i != nil && i.PodUID == string(pod.UID)
	})
}

func (w *world) deletePod(name string, grace int64, uid types.UID) {
	w.t.Helper()
	w.must(w.admin.CoreV1().Pods(w.ns).Delete(w.t.Context(), name, metav1.DeleteOptions{
		GracePeriodSeconds: &grace, Preconditions: &metav1.Preconditions{UID: &uid},
	}))
}

// node creates a node of this world.
func (w *world) node() *corev1.Node {
	w.t.Helper()
	node, err := w.admin.CoreV1().Nodes().Create(w.t.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: w.ns + "-node"},
	}, metav1.CreateOptions{})
	w.must(err)
	return node
}

func (w *world) renewNodeLease(node string) {
	w.t.Helper()
	api := w.admin.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	now := metav1.NowMicro()
	l, err := api.Get(w.t.Context(), node, metav1.GetOptions{})
	if err != nil {
		_, err = api.Create(w.t.Context(), &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: node, Namespace: corev1.NamespaceNodeLease},
			Spec:       coordinationv1.LeaseSpec{RenewTime: &now},
		}, metav1.CreateOptions{})
		w.must(err)
		return
	}
	l.Spec.RenewTime = &now
	_, err = api.Update(w.t.Context(), l, metav1.UpdateOptions{})
	w.must(err)
}
