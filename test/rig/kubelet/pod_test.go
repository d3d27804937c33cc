package kubelet_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kureka/kureka/test/rig/kubelet"
)

func TestPodRunsAndItsServiceGetsASlice(t *testing.T) {
	r := newRig(t, "run", 10)
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "orders", Namespace: "default"},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": "orders"},
			Ports:    []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}},
		},
	}
	if _, err := client.CoreV1().Services("default").Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.CoreV1().Services("default").Delete(context.WithoutCancel(t.Context()), "orders", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	pod := r.run(t, "orders")
	if pod.Status.Phase != corev1.PodRunning || pod.Status.HostIP != "10.99.0.10" || pod.Status.PodIP != "10.99.10.2" {
		t.Errorf("phase %s at %s on host %s, want Running at 10.99.10.2 on 10.99.0.10", pod.Status.Phase, pod.Status.PodIP, pod.Status.HostIP)
	}
	got := waitEndpoint(t, "orders")
	if got.Addresses[0] != pod.Status.PodIP || *got.NodeName != "run" || *got.Zone != "zone-a" || got.TargetRef.UID != pod.UID {
		t.Errorf("endpoint = %+v, want the pod at %s on its node and zone", got, pod.Status.PodIP)
	}
}

// waitEndpoint waits until the service has exactly one endpoint and that is ready.
func waitEndpoint(t *testing.T, service string) discoveryv1.Endpoint {
	t.Helper()
	var got []discoveryv1.Endpoint
	waitFor(t, "a ready endpoint", func(ctx context.Context) (bool, error) {
		slices, err := client.DiscoveryV1().EndpointSlices("default").List(ctx, metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + service})
		if err != nil || len(slices.Items) == 0 {
			return false, err
		}
		got = slices.Items[0].Endpoints
		return len(got) == 1 && *got[0].Conditions.Ready, nil
	}, func() any { return got })
	return got[0]
}

func TestGracefulDeletionShowsItsTimestampUntilTheProcessIsGone(t *testing.T) {
	r := newRig(t, "graceful", 11)
	r.memory.SetStubborn(true)
	pod := r.run(t, "graceful")
	grace := int64(1)
	deletePod(t, "graceful", metav1.DeleteOptions{GracePeriodSeconds: &grace})
	terminating := waitPod(t, "graceful", "terminating", func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil })
	if terminating.UID != pod.UID || !isReady(terminating) {
		t.Errorf("a terminating pod is ready until its process has ended; conditions %+v", terminating.Status.Conditions)
	}
	waitGone(t, "graceful", pod.UID)
	if r.memory.Running(pod.UID, "server") {
		t.Error("the object went before the process")
	}
}

func TestTerminalStatusPrecedesTheRemoval(t *testing.T) {
	r := newRig(t, "terminal", 12)
	pod := r.run(t, "terminal")
	watch, err := client.CoreV1().Pods("default").Watch(t.Context(), metav1.ListOptions{
		FieldSelector: "metadata.name=terminal", ResourceVersion: pod.ResourceVersion,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	deletePod(t, "terminal", metav1.DeleteOptions{})
	var phases []corev1.PodPhase
	for event := range watch.ResultChan() {
		pod, ok := event.Object.(*corev1.Pod)
		if !ok {
			t.Fatalf("unexpected event %+v", event)
		}
		phases = append(phases, pod.Status.Phase)
		if event.Type == "DELETED" {
			break
		}
	}
	if len(phases) < 3 || phases[0] != corev1.PodRunning || phases[len(phases)-1] != corev1.PodSucceeded {
		t.Errorf("phases until the removal = %v, want Running (terminating), Succeeded, Succeeded (removed)", phases)
	}
}

func TestForceDeletedPodLeavesItsProcess(t *testing.T) {
	r := newRig(t, "force", 13)
	r.KeepOrphans(true)
	first := r.run(t, "force")
	deletePod(t, "force", force())
	waitGone(t, "force", first.UID)
	if !r.memory.Running(first.UID, "server") {
		t.Error("the process ended with the object")
	}
	second := r.run(t, "force")
	if second.UID == first.UID || second.Status.PodIP == first.Status.PodIP {
		t.Errorf("the second pod is %s at %s, the first was %s at %s", second.UID, second.Status.PodIP, first.UID, first.Status.PodIP)
	}
	r.KeepOrphans(false)
	waitFor(t, "the orphan's end", func(context.Context) (bool, error) { return !r.memory.Running(first.UID, "server"), nil }, nil)
	if !r.memory.Running(second.UID, "server") {
		t.Error("the second pod's process ended with the orphan")
	}
}

func TestStubbornProcessOutlivesItsForceDeletedObject(t *testing.T) {
	r := newRig(t, "stubborn", 32)
	r.memory.SetStubborn(true)
	pod := r.run(t, "stubborn")
	deletePod(t, "stubborn", force())
	waitGone(t, "stubborn", pod.UID)
	if !r.memory.Running(pod.UID, "server") {
		t.Error("the process ended with the object")
	}
	waitFor(t, "the process to be killed", func(context.Context) (bool, error) { return !r.memory.Running(pod.UID, "server"), nil }, nil)
}

func TestCrashedContainerRestartsAsAnotherIncarnation(t *testing.T) {
	r := newRig(t, "crash", 14)
	before := r.run(t, "crash")
	if err := r.CrashContainer(key("crash"), "server"); err != nil {
		t.Fatal(err)
	}
	after := waitPod(t, "crash", "ready again", func(pod *corev1.Pod) bool {
		return isReady(pod) && pod.Status.ContainerStatuses[0].RestartCount == 1
	})
	was, is := before.Status.ContainerStatuses[0], after.Status.ContainerStatuses[0]
	if is.ContainerID == was.ContainerID || is.ContainerID == "" {
		t.Errorf("container ID %q after %q, want another", is.ContainerID, was.ContainerID)
	}
	last := is.LastTerminationState.Terminated
	if last == nil || last.ExitCode != 137 || last.ContainerID != was.ContainerID || last.FinishedAt.IsZero() {
		t.Errorf("last state = %+v, want exit 137 of the first container", last)
	}
	if after.UID != before.UID || after.Status.PodIP != before.Status.PodIP {
		t.Error("a crash changed the pod's UID or address")
	}
}

func TestSecondCrashWaits(t *testing.T) {
	r := newRig(t, "backoff", 15)
	r.run(t, "backoff")
	for restarts := range int32(2) {
		waitPod(t, "backoff", "ready", func(pod *corev1.Pod) bool {
			return isReady(pod) && pod.Status.ContainerStatuses[0].RestartCount == restarts
		})
		if err := r.CrashContainer(key("backoff"), "server"); err != nil {
			t.Fatal(err)
		}
	}
	waitPod(t, "backoff", "waiting", func(pod *corev1.Pod) bool {
		waiting := pod.Status.ContainerStatuses[0].State.Waiting
		return waiting != nil && waiting.Reason == "CrashLoopBackOff"
	})
}

func TestPodWhoseContainersMayNotRestartEnds(t *testing.T) {
	r := newRig(t, "never", 16)
	r.run(t, "never", func(pod *corev1.Pod) { pod.Spec.RestartPolicy = corev1.RestartPolicyNever })
	if err := r.CrashContainer(key("never"), "server"); err != nil {
		t.Fatal(err)
	}
	failed := waitPod(t, "never", "failed", func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodFailed })
	if failed.Status.PodIP == "" || failed.DeletionTimestamp != nil {
		t.Error("a failed pod keeps its address in the status and is not deleted")
	}
}

func TestAskedAddressIsGivenAgain(t *testing.T) {
	r := newRig(t, "reuse", 17)
	first := r.run(t, "first", func(pod *corev1.Pod) { pod.Spec.RestartPolicy = corev1.RestartPolicyNever })
	if err := r.FailPod(key("first"), "Evicted"); err != nil {
		t.Fatal(err)
	}
	waitPod(t, "first", "failed", func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodFailed })
	second := r.run(t, "second", func(pod *corev1.Pod) {
		pod.Annotations = map[string]string{kubelet.AddressAnnotation: first.Status.PodIP}
	})
	if second.Status.PodIP != first.Status.PodIP {
		t.Errorf("address %s, want %s again", second.Status.PodIP, first.Status.PodIP)
	}
}

func TestHostNetworkPodHasTheNodesAddress(t *testing.T) {
	r := newRig(t, "hostnet", 18)
	pod := r.run(t, "hostnet", func(pod *corev1.Pod) { pod.Spec.HostNetwork = true })
	if pod.Status.PodIP != "10.99.0.18" {
		t.Errorf("pod IP %s, want the node's", pod.Status.PodIP)
	}
}

func TestSidecarKeepsThePodAliveUntilItsApplicationHasEnded(t *testing.T) {
	r := newRig(t, "sidecar", 19)
	always := corev1.ContainerRestartPolicyAlways
	pod := r.run(t, "sidecar", func(pod *corev1.Pod) {
		pod.Spec.InitContainers = []corev1.Container{{Name: "setup", Image: "setup"}, {Name: "proxy", Image: "proxy", RestartPolicy: &always}}
	})
	if !r.memory.Running(pod.UID, "proxy") || r.memory.Running(pod.UID, "setup") {
		t.Error("want the sidecar running and the init container completed")
	}
	deletePod(t, "sidecar", metav1.DeleteOptions{})
	waitGone(t, "sidecar", pod.UID)
	if r.memory.Running(pod.UID, "proxy") {
		t.Error("the sidecar outlived its pod")
	}
}
