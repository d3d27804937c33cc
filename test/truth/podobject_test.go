package truth

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// publish writes the pod's status. Conditions that others wrote stay.
func (p *pod) publish(old *corev1.Pod) {
	p.dirty = false
	next := old.DeepCopy()
	s := &next.Status
	s.Phase = p.phase
	if p.ip.IsValid() {
		s.PodIP, s.PodIPs = p.ip.String(), []corev1.PodIP{{IP: p.ip.String()}}
	}
	runs := p.proc != nil && p.proc.alive
	status := corev1.ConditionFalse
	if runs && !p.unready {
		status = corev1.ConditionTrue
	}
	setCondition(s, corev1.PodReady, status, "")
	setCondition(s, corev1.ContainersReady, status, "")
	if p.proc == nil {
		p.w.api.putPod(next)
		return
	}
	c := corev1.ContainerStatus{Name: "app", ContainerID: p.proc.id, Ready: runs && !p.unready}
	if runs {
		c.State.Running = &corev1.ContainerStateRunning{StartedAt: p.proc.began}
		if p.finished != nil {
			c.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{FinishedAt: *p.finished}
		}
	} else {
		c.State.Terminated = &corev1.ContainerStateTerminated{FinishedAt: *p.finished}
	}
	s.ContainerStatuses = []corev1.ContainerStatus{c}
	p.w.api.putPod(next)
}

func setCondition(s *corev1.PodStatus, kind corev1.PodConditionType, status corev1.ConditionStatus, reason string) {
	s.Conditions = slices.DeleteFunc(slices.Clone(s.Conditions), func(c corev1.PodCondition) bool { return c.Type == kind })
	s.Conditions = append(s.Conditions, corev1.PodCondition{Type: kind, Status: status, Reason: reason})
}

func condition(o *corev1.Pod, kind corev1.PodConditionType) bool {
	for _, c := range o.Status.Conditions {
		if c.Type == kind {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// remove asks the API server to delete the pod, with a grace period or by force.
func (p *pod) remove(force bool) {
	o := p.w.api.pod(p)
	if o == nil || !p.w.api.up() {
		return
	}
	if force {
		p.w.api.deletePod(o)
		return
	}
	if o.DeletionTimestamp != nil {
		return
	}
	next := o.DeepCopy()
	at, grace := metav1.NewTime(wall(p.w.now, 30*time.Second)), int64(30)
	next.DeletionTimestamp, next.DeletionGracePeriodSeconds = &at, &grace
	p.w.api.putPod(next)
}

// disrupt writes or takes back that somebody means to delete the pod.
func (p *pod) disrupt(reason string) {
	o := p.w.api.pod(p)
	if o == nil || !p.w.api.up() {
		return
	}
	next, status := o.DeepCopy(), corev1.ConditionTrue
	if reason == "" {
		status = corev1.ConditionFalse
	}
	setCondition(&next.Status, corev1.DisruptionTarget, status, reason)
	p.w.api.putPod(next)
}
