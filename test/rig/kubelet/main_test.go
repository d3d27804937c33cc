package kubelet_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/kureka/kureka/test/rig/controlplane"
	"github.com/kureka/kureka/test/rig/kubelet"
	"github.com/kureka/kureka/test/rig/netns"
)

const (
	patience = 60 * time.Second
	poll     = 20 * time.Millisecond
)

// The control plane of all tests; each has nodes and names of its own.
var (
	cluster *controlplane.ControlPlane
	client  kubernetes.Interface
)

func TestMain(m *testing.M) {
	// A download or build needs the network, so it comes before the namespace.
	if _, err := controlplane.Ensure(context.Background(), os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if _, err := netns.Enter(); err != nil {
		fmt.Fprintf(os.Stderr, "%v; no test here needs it, some check less\n", err)
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if cluster, err = controlplane.Start(context.Background(), controlplane.Options{}); err != nil {
		return 1, err
	}
	defer func() {
		if stopErr := cluster.Stop(); err == nil {
			err = stopErr
		}
	}()
	if client, err = kubernetes.NewForConfig(cluster.Config()); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// rig is one node with a runtime in memory.
type rig struct {
	*kubelet.Kubelet
	name   string
	memory *kubelet.Memory
}

// newRig starts a node whose pods get addresses of 10.99.<third>.0/24.
func newRig(t *testing.T, name string, third int, change ...func(*kubelet.Options)) rig {
	t.Helper()
	memory := kubelet.NewMemory()
	options := kubelet.Options{
		Name:          name,
		Zone:          "zone-a",
		NodeIP:        fmt.Sprintf("10.99.0.%d", third),
		PodCIDR:       fmt.Sprintf("10.99.%d.0/24", third),
		LeaseDuration: 2 * time.Second,
		Runtime:       memory,
		Timings:       kubelet.FastTimings(),
	}
	for _, c := range change {
		c(&options)
	}
	k, err := kubelet.New(cluster.Config(), options)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		k.Stop()
		if err := client.CoreV1().Nodes().Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})
	return rig{Kubelet: k, name: name, memory: memory}
}

// run creates a pod on the node and waits until it is ready.
func (r rig) run(t *testing.T, name string, change ...func(*corev1.Pod)) *corev1.Pod {
	t.Helper()
	r.create(t, name, change...)
	return waitPod(t, name, "ready", isReady)
}

func (r rig) create(t *testing.T, name string, change ...func(*corev1.Pod)) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{
			NodeName:                      r.name,
			TerminationGracePeriodSeconds: new(int64(30)),
			Containers:                    []corev1.Container{{Name: "server", Image: "server", Ports: []corev1.ContainerPort{{ContainerPort: 8080}}}},
		},
	}
	for _, c := range change {
		c(pod)
	}
	created, err := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// Without a kubelet nobody would acknowledge a graceful deletion.
		err := client.CoreV1().Pods("default").Delete(context.WithoutCancel(t.Context()), name, force())
		if err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})
	return created
}

func force() metav1.DeleteOptions { return metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))} }

func key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "default", Name: name}
}

func deletePod(t *testing.T, name string, options metav1.DeleteOptions) {
	t.Helper()
	if err := client.CoreV1().Pods("default").Delete(t.Context(), name, options); err != nil {
		t.Fatal(err)
	}
}

// waitPod polls until the pod satisfies done and returns it.
func waitPod(t *testing.T, name, what string, done func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	var pod *corev1.Pod
	waitFor(t, "pod "+name+" "+what, func(ctx context.Context) (bool, error) {
		got, err := client.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		pod = got
		return done(pod), nil
	}, func() any { return pod.Status })
	return pod
}

func waitGone(t *testing.T, name string, uid types.UID) {
	t.Helper()
	waitFor(t, "pod "+name+" gone", func(ctx context.Context) (bool, error) {
		pod, err := client.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return err == nil && pod.UID != uid, err
	}, nil)
}

func waitNode(t *testing.T, name, what string, done func(*corev1.Node) bool) *corev1.Node {
	t.Helper()
	var node *corev1.Node
	waitFor(t, "node "+name+" "+what, func(ctx context.Context) (bool, error) {
		got, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		node = got
		return done(node), nil
	}, func() any { return node.Status.Conditions })
	return node
}

func waitFor(t *testing.T, what string, done wait.ConditionWithContextFunc, state func() any) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), poll, patience, true, done)
	if err == nil {
		return
	}
	if state == nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
	t.Fatalf("waiting for %s: %v; it is %+v", what, err, state())
}

func isReady(pod *corev1.Pod) bool { return podCondition(pod, corev1.PodReady) == corev1.ConditionTrue }

func podCondition(pod *corev1.Pod, name corev1.PodConditionType) corev1.ConditionStatus {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == name {
			return condition.Status
		}
	}
	return corev1.ConditionUnknown
}

func nodeReady(node *corev1.Node) corev1.NodeCondition {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition
		}
	}
	return corev1.NodeCondition{}
}
