package kubelet

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// mergeStatus is what a kubelet makes of the status in the API: its own fields and
// conditions replaced, those of others kept, transition times moved only with the
// value.
func mergeStatus(live, own corev1.PodStatus, now metav1.Time) corev1.PodStatus {
	merged := *live.DeepCopy()
	merged.Phase, merged.Reason, merged.Message = own.Phase, own.Reason, own.Message
	merged.HostIP, merged.HostIPs = own.HostIP, own.HostIPs
	merged.PodIP, merged.PodIPs = own.PodIP, own.PodIPs
	merged.StartTime = own.StartTime
	merged.InitContainerStatuses = own.InitContainerStatuses
	merged.ContainerStatuses = own.ContainerStatuses
	for _, condition := range own.Conditions {
		merged.Conditions = setPodCondition(merged.Conditions, condition, now)
	}
	return merged
}

func setPodCondition(conditions []corev1.PodCondition, want corev1.PodCondition, now metav1.Time) []corev1.PodCondition {
	want.LastTransitionTime = now
	for i, have := range conditions {
		if have.Type != want.Type {
			continue
		}
		if have.Status == want.Status {
			want.LastTransitionTime = have.LastTransitionTime
		}
		want.LastProbeTime = have.LastProbeTime
		want.ObservedGeneration = have.ObservedGeneration
		conditions[i] = want
		return conditions
	}
	return append(conditions, want)
}

// status describes the pod as it is.
func (w *worker) status() corev1.PodStatus {
	s := corev1.PodStatus{
		Phase:     w.phase(),
		HostIP:    w.kubelet.options.NodeIP,
		HostIPs:   []corev1.HostIP{{IP: w.kubelet.options.NodeIP}},
		StartTime: w.started,
	}
	if w.ip != "" {
		s.PodIP, s.PodIPs = w.ip, []corev1.PodIP{{IP: w.ip}}
	}
	s.InitContainerStatuses = w.initStatuses()
	var unready []string
	for _, c := range w.containers {
		cs := c.status(w.unready)
		if !cs.Ready {
			unready = append(unready, c.spec.Name)
		}
		if !c.sidecar {
			s.ContainerStatuses = append(s.ContainerStatuses, cs)
		}
	}
	s.Conditions = w.conditions(s.Phase, unready)
	if w.failed != "" && w.ended {
		s.Reason = w.failed
		s.Message = "The pod was ended by its node: " + w.failed
	}
	return s
}

func (w *worker) phase() corev1.PodPhase {
	if !w.ended {
		for _, c := range w.containers {
			if c.process != nil || c.exited != nil {
				return corev1.PodRunning
			}
		}
		return corev1.PodPending
	}
	if w.failed != "" {
		return corev1.PodFailed
	}
	for _, c := range w.containers {
		if !c.sidecar && (c.exited == nil || c.exited.ExitCode != 0) {
			return corev1.PodFailed
		}
	}
	return corev1.PodSucceeded
}

func (w *worker) conditions(phase corev1.PodPhase, unready []string) []corev1.PodCondition {
	containersReady := readiness(phase, unready)
	containersReady.Type = corev1.ContainersReady
	ready := containersReady
	ready.Type = corev1.PodReady
	if ready.Status == corev1.ConditionTrue {
		if gates := w.unmetGates(); len(gates) > 0 {
			ready.Status = corev1.ConditionFalse
			ready.Reason = "ReadinessGatesNotReady"
			ready.Message = "corresponding condition of pod readiness gate " + strings.Join(gates, ", ") + " does not exist or is not True"
		}
	}
	sandbox := corev1.ConditionTrue
	if w.ip == "" || w.ended {
		sandbox = corev1.ConditionFalse
	}
	conditions := []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
		{Type: corev1.PodReadyToStartContainers, Status: sandbox},
		{Type: corev1.PodInitialized, Status: corev1.ConditionTrue},
		containersReady,
		ready,
	}
	if w.failed != "" && w.ended {
		conditions = append(conditions, corev1.PodCondition{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonTerminationByKubelet,
		})
	}
	return conditions
}

func readiness(phase corev1.PodPhase, unready []string) corev1.PodCondition {
	switch {
	case phase == corev1.PodSucceeded:
		return corev1.PodCondition{Status: corev1.ConditionFalse, Reason: "PodCompleted"}
	case phase == corev1.PodFailed:
		return corev1.PodCondition{Status: corev1.ConditionFalse, Reason: "PodFailed"}
	case len(unready) > 0:
		return corev1.PodCondition{
			Status:  corev1.ConditionFalse,
			Reason:  "ContainersNotReady",
			Message: "containers with unready status: [" + strings.Join(unready, " ") + "]",
		}
	}
	return corev1.PodCondition{Status: corev1.ConditionTrue}
}

// unmetGates are the readiness gates whose condition somebody else has yet to set.
func (w *worker) unmetGates() []string {
	var unmet []string
	for _, gate := range w.pod.Spec.ReadinessGates {
		met := false
		for _, condition := range w.pod.Status.Conditions {
			met = met || condition.Type == gate.ConditionType && condition.Status == corev1.ConditionTrue
		}
		if !met {
			unmet = append(unmet, string(gate.ConditionType))
		}
	}
	return unmet
}

// initStatuses has the sidecars as they are and ordinary init containers as
// completed, which is all this kubelet does about them.
func (w *worker) initStatuses() []corev1.ContainerStatus {
	var statuses []corev1.ContainerStatus
	for i := range w.pod.Spec.InitContainers {
		spec := &w.pod.Spec.InitContainers[i]
		if c := w.container(spec.Name); c != nil {
			statuses = append(statuses, c.status(w.unready))
			continue
		}
		completed := &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: *w.started, FinishedAt: *w.started}
		statuses = append(statuses, corev1.ContainerStatus{
			Name: spec.Name, Image: spec.Image, Ready: true, State: corev1.ContainerState{Terminated: completed},
		})
	}
	return statuses
}
