package kubelet_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestSilentNodeBecomesUnknownAndComesBack(t *testing.T) {
	r := newRig(t, "silent", 20)
	newRig(t, "witness", 21) // with all nodes silent the controllers would not evict
	pod := r.run(t, "silent", func(pod *corev1.Pod) {
		pod.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	})
	r.Silence(true)
	waitNode(t, "silent", "Unknown", func(node *corev1.Node) bool {
		return nodeReady(node).Status == corev1.ConditionUnknown && len(node.Spec.Taints) > 0
	})
	inferred := waitPod(t, "silent", "inferred not ready", func(pod *corev1.Pod) bool { return !isReady(pod) })
	if podCondition(inferred, corev1.ContainersReady) != corev1.ConditionTrue {
		t.Error("an inference changes Ready and leaves ContainersReady alone")
	}
	if !r.memory.Running(pod.UID, "server") {
		t.Error("the process ended with the kubelet")
	}
	r.Silence(false)
	waitNode(t, "silent", "ready again", func(node *corev1.Node) bool { return nodeReady(node).Status == corev1.ConditionTrue })
	waitPod(t, "silent", "ready again", isReady)
}

func TestSilentNodesPodsAreEvictedAndStayTerminating(t *testing.T) {
	r := newRig(t, "evicted", 22)
	newRig(t, "survivor", 23)
	pod := r.run(t, "evicted")
	r.Silence(true)
	waitPod(t, "evicted", "terminating", func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil })
	if !r.memory.Running(pod.UID, "server") {
		t.Error("a node that is cut off keeps its processes")
	}
	r.Silence(false)
	waitGone(t, "evicted", pod.UID)
}

func TestAPIServerOutageChangesNothing(t *testing.T) {
	r := newRig(t, "outage", 24)
	before := r.run(t, "outage")
	cluster.StopAPIServer()
	if err := cluster.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := waitPod(t, "outage", "there", func(*corev1.Pod) bool { return true })
	if after.UID != before.UID || !r.memory.Running(before.UID, "server") {
		t.Error("the outage changed the pod or its process")
	}
	deletePod(t, "outage", metav1.DeleteOptions{})
	waitGone(t, "outage", before.UID)
}

func TestRebootKeepsPodsAndChangesBootIDAndAddresses(t *testing.T) {
	r := newRig(t, "reboot", 25)
	pod := r.run(t, "reboot")
	node := waitNode(t, "reboot", "ready", func(node *corev1.Node) bool { return nodeReady(node).Status == corev1.ConditionTrue })
	r.Reboot()
	after := waitPod(t, "reboot", "ready after the boot", func(pod *corev1.Pod) bool {
		return isReady(pod) && pod.Status.ContainerStatuses[0].RestartCount == 1
	})
	last := after.Status.ContainerStatuses[0].LastTerminationState.Terminated
	if last == nil || last.ExitCode != 255 || last.Reason != "Unknown" {
		t.Errorf("last state = %+v, want exit 255, Unknown", last)
	}
	if after.UID != pod.UID || after.Status.PodIP == pod.Status.PodIP {
		t.Errorf("UID %s at %s after the boot, was %s at %s; want the same at another address",
			after.UID, after.Status.PodIP, pod.UID, pod.Status.PodIP)
	}
	waitNode(t, "reboot", "with another boot ID", func(n *corev1.Node) bool {
		return n.Status.NodeInfo.BootID != node.Status.NodeInfo.BootID
	})
}

func TestPodDeletedWhileTheNodeIsOffEndsWhenItIsBack(t *testing.T) {
	r := newRig(t, "off", 26)
	pod := r.run(t, "off")
	r.PowerOff()
	waitFor(t, "the processes' end", func(context.Context) (bool, error) { return !r.memory.Running(pod.UID, "server"), nil }, nil)
	deletePod(t, "off", metav1.DeleteOptions{})
	if got := waitPod(t, "off", "there", func(*corev1.Pod) bool { return true }); got.Status.Phase != corev1.PodRunning {
		t.Errorf("phase %s, want Running: nobody can say otherwise", got.Status.Phase)
	}
	r.PowerOn()
	waitGone(t, "off", pod.UID)
}

func TestNodeSaysItIsShuttingDown(t *testing.T) {
	r := newRig(t, "shutdown", 27)
	pod := r.run(t, "shutdown")
	r.PostNotReady("node is shutting down")
	waitNode(t, "shutdown", "not ready", func(node *corev1.Node) bool {
		return nodeReady(node).Status == corev1.ConditionFalse && nodeReady(node).Message == "node is shutting down"
	})
	if err := r.FailPod(key("shutdown"), "Terminated"); err != nil {
		t.Fatal(err)
	}
	failed := waitPod(t, "shutdown", "failed", func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodFailed })
	if failed.Status.Reason != "Terminated" || failed.DeletionTimestamp != nil || podCondition(failed, corev1.DisruptionTarget) != corev1.ConditionTrue {
		t.Errorf("status %+v, want reason Terminated and DisruptionTarget, without a deletion timestamp", failed.Status)
	}
	if r.memory.Running(pod.UID, "server") {
		t.Error("the status was published before the process had ended")
	}
	r.PostReady()
	waitNode(t, "shutdown", "ready", func(node *corev1.Node) bool { return nodeReady(node).Status == corev1.ConditionTrue })
}

func TestReadinessFollowsTheProbe(t *testing.T) {
	r := newRig(t, "probe", 28)
	r.run(t, "probe")
	if err := r.SetReady(key("probe"), false); err != nil {
		t.Fatal(err)
	}
	observed := waitPod(t, "probe", "not ready", func(pod *corev1.Pod) bool { return !isReady(pod) })
	if podCondition(observed, corev1.ContainersReady) != corev1.ConditionFalse {
		t.Error("an observation changes ContainersReady, too")
	}
	if err := r.SetReady(key("probe"), true); err != nil {
		t.Fatal(err)
	}
	waitPod(t, "probe", "ready again", isReady)
}

func TestReadinessGateHoldsReadyBack(t *testing.T) {
	r := newRig(t, "gate", 29)
	r.create(t, "gate", func(pod *corev1.Pod) {
		pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/open"}}
	})
	pod := waitPod(t, "gate", "with ready containers", func(pod *corev1.Pod) bool {
		return podCondition(pod, corev1.ContainersReady) == corev1.ConditionTrue
	})
	if isReady(pod) {
		t.Error("ready in spite of the gate")
	}
	patch := []byte(`{"status":{"conditions":[{"type":"example.com/open","status":"True"}]}}`)
	if _, err := client.CoreV1().Pods("default").Patch(t.Context(), "gate", "application/strategic-merge-patch+json", patch, metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	waitPod(t, "gate", "ready", isReady)
}

func TestTaintsComeAndGo(t *testing.T) {
	r := newRig(t, "taint", 30)
	taint := corev1.Taint{Key: "example.com/maintenance", Effect: corev1.TaintEffectNoSchedule}
	has := func(node *corev1.Node) bool {
		for _, t := range node.Spec.Taints {
			if t.MatchTaint(&taint) {
				return true
			}
		}
		return false
	}
	if err := r.AddTaint(t.Context(), taint); err != nil {
		t.Fatal(err)
	}
	waitNode(t, "taint", "tainted", has)
	if err := r.RemoveTaint(t.Context(), taint.Key); err != nil {
		t.Fatal(err)
	}
	waitNode(t, "taint", "untainted", func(node *corev1.Node) bool { return !has(node) })
}

func TestClockStepsShowInTheLease(t *testing.T) {
	r := newRig(t, "clock", 32)
	for _, step := range []time.Duration{time.Hour, -time.Hour} {
		r.StepClock(step)
		waitFor(t, "the lease to show another time", func(ctx context.Context) (bool, error) {
			lease, err := client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(ctx, "clock", metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			ahead := time.Until(lease.Spec.RenewTime.Time)
			return step > 0 && ahead > step/2 || step < 0 && ahead < step/2, nil
		}, nil)
	}
}

func TestDeletedNodeStaysDeleted(t *testing.T) {
	r := newRig(t, "deleted", 31)
	r.run(t, "deleted")
	if err := client.CoreV1().Nodes().Delete(t.Context(), "deleted", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r.PostNotReady("nobody hears this")
	waitFor(t, "the lease to be collected", func(ctx context.Context) (bool, error) {
		_, err := client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(ctx, "deleted", metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	}, nil)
	if _, err := client.CoreV1().Nodes().Get(t.Context(), "deleted", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("reading the deleted node: %v, want not found", err)
	}
	if err := r.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitNode(t, "deleted", "there again", func(*corev1.Node) bool { return true })
}
