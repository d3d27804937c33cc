package feed

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/internal/evidence"
)

func TestPodEvidence(t *testing.T) {
	yes := true
	finished := metav1.NewTime(time.Unix(1_700_000_000, 0))
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			UID: "u1", Namespace: "ns", Name: "a", CreationTimestamp: metav1.NewTime(time.Unix(1_600_000_000, 0)),
			OwnerReferences: []metav1.OwnerReference{{UID: "other"}, {UID: "rs", Controller: &yes}},
			Labels:          map[string]string{"app": "a"},
			Annotations:     map[string]string{"kureka.dev/app": "a", "metadata.kureka.dev/x": "y", "example.com/other": "z", "kureka.dev/drain-report": "{}"},
		},
		Spec: corev1.PodSpec{
			NodeName: "n1", Hostname: "a-0", Subdomain: "web",
			Containers: []corev1.Container{
				{Name: "app", Ports: []corev1.ContainerPort{
					{ContainerPort: 53, Protocol: corev1.ProtocolUDP}, {ContainerPort: 8080, Protocol: corev1.ProtocolTCP}, {ContainerPort: 8081, Name: "http"},
				}},
				{Name: "side", Ports: []corev1.ContainerPort{{ContainerPort: 9090}}},
			},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: "192.0.2.10", PodIPs: []corev1.PodIP{{IP: "192.0.2.10"}, {IP: "2001:db8::1"}},
			Conditions: []corev1.PodCondition{
				{Type: corev1.PodReady, Status: corev1.ConditionTrue},
				{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"},
			},
			ContainerStatuses: []corev1.ContainerStatus{
				{Name: "side", ContainerID: "x://s1", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}},
				{
					Name: "app", ContainerID: "x://a2", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: finished}},
					LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: finished}},
				},
			},
		},
	}
	want := evidence.Pod{
		UID: "u1", Namespace: "ns", Name: "a", Owner: "rs", Node: "n1", Hostname: "a-0", Subdomain: "web",
		Labels:      evidence.NewLabels(map[string]string{"app": "a"}),
		Annotations: map[string]string{"kureka.dev/app": "a", "metadata.kureka.dev/x": "y"},
		IPs:         []netip.Addr{netip.MustParseAddr("192.0.2.10"), netip.MustParseAddr("2001:db8::1")},
		Created:     time.Unix(1_600_000_000, 0), Phase: evidence.Running, Ready: true, Disruption: "EvictionByEvictionAPI",
		Containers: []evidence.Container{
			{Name: "app", Ports: []uint16{8080, 8081}, PortNames: []string{"", "http"}, ID: "x://a2", Running: true, Ended: true, Finished: finished.Time, Started: finished.Time},
			{Name: "side", Ports: []uint16{9090}, ID: "x://s1"},
		},
	}
	if d := cmp.Diff(want, podEvidence(pod), cmpopts.EquateComparable(netip.Addr{}, evidence.Labels{})); d != "" {
		t.Error(d)
	}
	deleted := metav1.Now()
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &deleted, new(int64(120))
	pod.Annotations[v1alpha1.DrainHoldAnnotation] = "t1"
	if got := podEvidence(pod); !got.Deleting || got.Forced || got.Grace != 2*time.Minute || got.DrainToken != "t1" {
		t.Errorf("deleting %v, forced %v, grace %v, token %q", got.Deleting, got.Forced, got.Grace, got.DrainToken)
	}
	pod.DeletionGracePeriodSeconds = new(int64(0))
	pod.Status.Conditions[1].Status = corev1.ConditionFalse
	if got := podEvidence(pod); !got.Deleting || !got.Forced || got.Disruption != "" {
		t.Errorf("deleting %v, disruption %q", got.Deleting, got.Disruption)
	}
}

// All combinations of the three conditions, each missing, false or true. Only
// terminating is asked, and missing means false: with publishNotReadyAddresses
// the others say ready of pods that are not.
func TestOnlyTerminatingTrueSaysThatAnEndpointEnds(t *testing.T) {
	no, yes := false, true
	values := map[string]*bool{"-": nil, "false": &no, "true": &yes}
	for ready, r := range values {
		for serving, s := range values {
			for terminating, x := range values {
				t.Run(fmt.Sprintf("%s/%s/%s", ready, serving, terminating), func(t *testing.T) {
					got := sliceEvidence(&discoveryv1.EndpointSlice{Endpoints: []discoveryv1.Endpoint{{
						Addresses:  []string{"192.0.2.10"},
						TargetRef:  &corev1.ObjectReference{Kind: "Pod", UID: "u1", Name: "a"},
						Conditions: discoveryv1.EndpointConditions{Ready: r, Serving: s, Terminating: x},
					}}})
					if len(got) != 1 || got[0].Terminating != (terminating == "true") {
						t.Errorf("got %+v", got)
					}
				})
			}
		}
	}
}

func TestEndpointsThatReferToNoPodSayNothing(t *testing.T) {
	yes := true
	got := sliceEvidence(&discoveryv1.EndpointSlice{Endpoints: []discoveryv1.Endpoint{
		{Addresses: []string{"192.0.2.10"}, Conditions: discoveryv1.EndpointConditions{Terminating: &yes}},
		{Addresses: []string{"192.0.2.11"}, TargetRef: &corev1.ObjectReference{Kind: "Node", UID: "n"}},
		{Addresses: []string{"192.0.2.12"}, TargetRef: &corev1.ObjectReference{Kind: "Pod"}},
	}})
	if len(got) != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestTheGateThatWaitsForTheRegistryIsToldApart(t *testing.T) {
	gates := func(kinds ...corev1.PodConditionType) (out []corev1.PodReadinessGate) {
		for _, k := range kinds {
			out = append(out, corev1.PodReadinessGate{ConditionType: k})
		}
		return out
	}
	met := func(kinds ...corev1.PodConditionType) (out []corev1.PodCondition) {
		for _, k := range kinds {
			out = append(out, corev1.PodCondition{Type: k, Status: corev1.ConditionTrue})
		}
		return out
	}
	const ours, theirs = "kureka.dev/registered", "example.com/open"
	tests := map[string]struct {
		gates         []corev1.PodReadinessGate
		met           []corev1.PodCondition
		awaits, unmet bool
	}{
		"none":              {},
		"neither is met":    {gates: gates(ours, theirs), awaits: true, unmet: true},
		"ours is met":       {gates: gates(ours, theirs), met: met(ours), unmet: true},
		"the other is met":  {gates: gates(theirs, ours), met: met(theirs), awaits: true},
		"both are met":      {gates: gates(ours, theirs), met: met(ours, theirs)},
		"only ours, and is": {gates: gates(ours), met: met(ours)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := podEvidence(&corev1.Pod{Spec: corev1.PodSpec{ReadinessGates: tc.gates}, Status: corev1.PodStatus{Conditions: tc.met}})
			if got.AwaitsRegistration != tc.awaits || got.GateUnmet != tc.unmet {
				t.Errorf("awaits %v, unmet %v", got.AwaitsRegistration, got.GateUnmet)
			}
		})
	}
}
