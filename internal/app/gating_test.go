package app

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kureka/kureka/api/v1alpha1"
)

// runGated creates a pod that waits for the registry, as a kubelet would leave it:
// its containers are ready and it is not.
func (s *shop) runGated(namespace, name, ip string, labels map[string]string) *corev1.Pod {
	s.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: labels},
		Spec: corev1.PodSpec{
			NodeName:       shopNode,
			Containers:     []corev1.Container{{Name: "app", Image: "app", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}}}},
			ReadinessGates: []corev1.PodReadinessGate{{ConditionType: v1alpha1.PodRegistered}},
		},
	}
	s.must(s.admin.Create(s.t.Context(), pod))
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}, {Type: corev1.ContainersReady, Status: corev1.ConditionTrue}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: "app", ContainerID: "test://" + name, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}},
	}
	s.must(s.admin.Status().Update(s.t.Context(), pod))
	return pod
}

// released is the message of the pod's condition, empty while it waits.
func (s *shop) released(pod *corev1.Pod) string {
	s.t.Helper()
	s.must(s.admin.Get(s.t.Context(), client.ObjectKeyFromObject(pod), pod))
	for _, c := range pod.Status.Conditions {
		if c.Type == v1alpha1.PodRegistered && c.Status == corev1.ConditionTrue {
			return c.Reason + ": " + c.Message
		}
	}
	return ""
}

func (s *shop) isReleased(pod *corev1.Pod, because string) {
	s.t.Helper()
	s.eventually(pod.Name+" is released: "+because, func() bool { return strings.HasPrefix(s.released(pod), because) })
}

func (s *shop) register(id, ip string) {
	s.t.Helper()
	if code, _ := ask(s.t, s.app.Addr(), http.MethodPost, "/eureka/apps/DEMO", demoBody(id, ip)); code != http.StatusNoContent {
		s.t.Fatalf("registering: %d", code)
	}
}

// A pod that is registered once it is ready does not wait for itself, and one with a
// client waits for that.
func TestPodsWaitUntilTheyAreListed(t *testing.T) {
	s := openShop(t)
	s.must(s.admin.Create(t.Context(), images()))
	s.isReleased(s.runGated(metav1.NamespaceDefault, "images-1", "10.99.1.1", map[string]string{"app": "images"}), "Registered: Listed UP as IMAGES/images-1.default:images")

	own := s.runGated(metav1.NamespaceDefault, "orders-1", "10.99.1.2", nil)
	s.eventually("it is known to wait", func() bool { return len(s.app.cluster.Awaiting()) == 1 })
	if why := s.released(own); why != "" {
		t.Errorf("released before it registered: %s", why)
	}
	s.register(own.Name, "10.99.1.2")
	s.isReleased(own, "Registered: Listed UP as DEMO/orders-1")
	s.eventually("nobody waits", func() bool { return len(s.app.cluster.Awaiting()) == 0 })

	// What comes later is no business of the gate.
	if code, _ := ask(t, s.app.Addr(), http.MethodPut, "/eureka/apps/DEMO/orders-1/status?value=OUT_OF_SERVICE", ""); code != http.StatusOK {
		t.Fatalf("taking it out: %d", code)
	}
	s.shows("orders-1", "OUT_OF_SERVICE")
	if why := s.released(own); !strings.HasPrefix(why, "Registered") || len(s.app.cluster.Awaiting()) != 0 {
		t.Errorf("taken out: %q", why)
	}
}

// Pods that were created while the registry was away wait. When it is back, those
// that are older than their namespace's bound are released although nobody is
// listed yet, and others are not, although they register.
func TestPodsCreatedWhileTheRegistryIsAwayWaitForTheBoundOnly(t *testing.T) {
	s := openShop(t)
	s.must(s.stop())
	patient := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "patient"}}
	s.must(s.admin.Create(t.Context(), patient))
	s.must(s.admin.Create(t.Context(), &v1alpha1.RegistryPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.PolicyName, Namespace: metav1.NamespaceDefault},
		Spec:       v1alpha1.RegistryPolicySpec{ReadinessGate: &v1alpha1.ReadinessGate{MaxWaitSeconds: new(int32(1))}},
	}))
	old := s.runGated(metav1.NamespaceDefault, "a", "10.99.1.1", nil)
	young := s.runGated(patient.Name, "b", "10.99.1.2", nil)
	s.opts.StartGate = "10m"
	s.open()
	s.register(young.Name, "10.99.1.2")
	s.isReleased(old, "WaitedLongEnough: Not listed UP after 1s")
	s.eventually("its namespace's events warn of it", func() bool {
		var events eventsv1.EventList
		s.must(s.admin.List(t.Context(), &events, client.InNamespace(old.Namespace)))
		return slices.ContainsFunc(events.Items, func(e eventsv1.Event) bool {
			return e.Regarding.UID == old.UID && e.Type == corev1.EventTypeWarning && e.Reason == "WaitedLongEnough" &&
				strings.HasPrefix(e.Note, "Not listed UP after 1s")
		})
	})
	s.eventually("the other one is registered", func() bool {
		list := s.app.cluster.Awaiting()
		return len(list) == 1 && list[0].Up == "DEMO/b"
	})
	if why := s.released(young); why != "" {
		t.Errorf("released while lists are refused: %s", why)
	}
	s.must(s.stop())
	s.opts.StartGate = GateOff
	s.open()
	s.register(young.Name, "10.99.1.2")
	s.isReleased(young, "Registered")
}
