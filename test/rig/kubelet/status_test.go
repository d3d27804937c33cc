package kubelet

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestMergeStatusKeepsWhatOthersWrote(t *testing.T) {
	before := metav1.NewTime(time.Unix(100, 0))
	now := metav1.NewTime(time.Unix(200, 0))
	live := corev1.PodStatus{
		QOSClass: corev1.PodQOSBestEffort,
		Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: before},
			{Type: corev1.ContainersReady, Status: corev1.ConditionTrue, LastTransitionTime: before},
			{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", LastTransitionTime: before},
		},
		PodIPs: []corev1.PodIP{{IP: "10.99.1.2"}},
	}
	own := corev1.PodStatus{
		Phase: corev1.PodRunning,
		Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "ContainersNotReady"},
			{Type: corev1.ContainersReady, Status: corev1.ConditionTrue},
		},
		PodIPs: []corev1.PodIP{{IP: "10.99.1.3"}},
	}
	want := corev1.PodStatus{
		Phase:    corev1.PodRunning,
		QOSClass: corev1.PodQOSBestEffort,
		Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "ContainersNotReady", LastTransitionTime: now},
			{Type: corev1.ContainersReady, Status: corev1.ConditionTrue, LastTransitionTime: before},
			{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", LastTransitionTime: before},
		},
		PodIPs: []corev1.PodIP{{IP: "10.99.1.3"}},
	}
	if diff := cmp.Diff(want, mergeStatus(live, own, now)); diff != "" {
		t.Errorf("merged status (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, mergeStatus(want, own, now)); diff != "" {
		t.Errorf("merging twice changes the status (-want +got):\n%s", diff)
	}
}

func TestRestartsSlowDown(t *testing.T) {
	timings := RealTimings()
	start := time.Unix(1000, 0)
	c := &container{}
	got := make([]time.Duration, 0, 9)
	for range 8 {
		c.started = apiTime(start)
		c.scheduleRestart(start, timings)
		got = append(got, c.startAt.Sub(start))
	}
	c.scheduleRestart(start.Add(healthyAfter), timings)
	got = append(got, c.startAt.Sub(start.Add(healthyAfter)))
	second := time.Second
	want := []time.Duration{
		900 * time.Millisecond, 10 * second, 20 * second, 40 * second, 80 * second, 160 * second, 300 * second, 300 * second,
		900 * time.Millisecond,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pauses before the restarts (-want +got):\n%s", diff)
	}
}
