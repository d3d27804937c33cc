package controllers

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kureka/kureka/controllers/feed"
)

func TestAForceDeletedPodLeavesAtOnceAndTheOthersStay(t *testing.T) {
	w := newWorld(t)
	a, b := w.runPod("a", "n1", "192.0.2.10"), w.runPod("b", "n1", "192.0.2.11")
	w.register(a)
	w.register(b)
	w.deletePod("a", 0, a.UID)
	w.shows("a", "")
	w.shows("b", "UP")
}

func TestAPodIsOutOfServiceFromItsDeletionTimestampOn(t *testing.T) {
	w := newWorld(t)
	pod := w.runPod("a", "n1", "192.0.2.10")
	w.register(pod)
	w.deletePod("a", 30, pod.UID)
	w.shows("a", "OUT_OF_SERVICE")
	w.deletePod("a", 0, pod.UID) // as the kubelet does when the containers have stopped
	w.shows("a", "")
}

func TestAPodThatFailedWithoutADeletionIsGone(t *testing.T) {
	w := newWorld(t)
	pod := w.runPod("a", "n1", "192.0.2.10")
	w.register(pod)
	pod.Status.Phase = corev1.PodFailed
	_, err := w.admin.CoreV1().Pods(w.ns).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
	w.must(err)
	w.shows("a", "")
}

func TestASpotTaintTakesTheNodesInstancesOutWhileItIsThere(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	a, b := w.runPod("a", node.Name, "192.0.2.10"), w.runPod("b", "other", "192.0.2.11")
	w.register(a)
	w.register(b)
	node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: "aws-node-termination-handler/spot-itn", Effect: corev1.TaintEffectNoSchedule})
	node, err := w.admin.CoreV1().Nodes().Update(t.Context(), node, metav1.UpdateOptions{})
	w.must(err)
	w.shows("a", "OUT_OF_SERVICE")
	w.shows("b", "UP")
	node.Spec.Taints = nil
	_, err = w.admin.CoreV1().Nodes().Update(t.Context(), node, metav1.UpdateOptions{})
	w.must(err)
	w.shows("a", "UP")
}

func TestADeletedNodeIsConfirmedAndTakesItsInstancesOut(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	a, b := w.runPod("a", node.Name, "192.0.2.10"), w.runPod("b", "other", "192.0.2.11")
	w.register(a)
	w.register(b)
	w.must(w.admin.CoreV1().Nodes().Delete(t.Context(), node.Name, metav1.DeleteOptions{}))
	w.shows("a", "OUT_OF_SERVICE")
	w.shows("b", "UP")
}

func TestARemovalInAWatchGapIsFoundByTheListAndConfirmed(t *testing.T) {
	for name, count := range map[string]int{"read one by one": 2, "read by a list": feed.ConfirmByGet + 2} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			pods := make([]*corev1.Pod, 0, count)
			for i := range count {
				pods = append(pods, w.runPod("a"+string(rune('a'+i)), "n1", "192.0.2.1"+string(rune('0'+i))))
				w.register(pods[i])
			}
			w.stop()
			for _, p := range pods[1:] {
				w.deletePod(p.Name, 0, p.UID)
			}
			w.watch(plane.Config())
			for _, p := range pods[1:] {
				w.shows(p.Name, "")
			}
			w.shows(pods[0].Name, "UP")
		})
	}
}

func TestANameThatCameBackWithANewUIDInAWatchGapIsAnotherPod(t *testing.T) {
	w := newWorld(t)
	pod := w.runPod("web-0", "n1", "192.0.2.10")
	w.register(pod)
	w.stop()
	w.deletePod("web-0", 0, pod.UID)
	again := w.runPod("web-0", "n1", "192.0.2.11")
	w.watch(plane.Config())
	w.shows("web-0", "")
	w.register(again)
	w.shows("web-0", "UP")
}

func TestWhatCannotBeConfirmedStays(t *testing.T) {
	w := newWorld(t)
	pod := w.runPod("a", "n1", "192.0.2.10")
	w.register(pod)
	w.stop()
	w.deletePod("a", 0, pod.UID)
	user := w.user("reader", rule("pods", "list", "watch"), rule("nodes", "list", "watch")) // but may not get a pod
	w.watch(user)
	w.eventually("pods are listed", func() bool { return w.state("pods/" + w.ns).Synced })
	w.eventually("the confirmation was refused and is waiting", func() bool {
		pods, _ := w.watcher.feed.Doubts()
		return pods > 0
	})
	if got := w.status("a"); got != "UP" {
		t.Errorf("unconfirmed, and yet %q", got)
	}
	w.grant("reader", rule("pods", "get"))
	w.shows("a", "")
}

func TestAMissingPermissionDisablesOnlyItsOwnEvidenceAndSaysSo(t *testing.T) {
	w := newWorld(t)
	w.stop()
	w.watch(w.user("no-nodes", rule("pods", "get", "list", "watch")))
	w.eventually("the missing right is named", func() bool {
		s := w.state("nodes")
		return strings.Contains(s.Problem, "not allowed to list and watch nodes") && strings.Contains(s.Problem, "config/rbac/role.yaml")
	})
	pod := w.runPod("a", "n1", "192.0.2.10")
	w.register(pod)
	w.deletePod("a", 0, pod.UID)
	w.shows("a", "")

	w.grant("no-nodes", rule("nodes", "list", "watch"))
	w.eventually("nodes are watched once they may be, and inferences allowed", func() bool { return w.state("nodes").Synced && w.cluster.View().NodesReadable })
}

func TestAPermissionRevokedLaterDisablesOnlyItsOwnEvidence(t *testing.T) {
	w := newWorld(t)
	w.stop()
	user := w.user("all", rule("pods", "get", "list", "watch"))
	nodes := w.grant("all", rule("nodes", "list", "watch"))
	w.watch(user)
	w.eventually("nodes are watched", func() bool { return w.state("nodes").Synced && w.cluster.View().NodesReadable })
	pod := w.runPod("a", "n1", "192.0.2.10")
	w.register(pod)
	w.must(w.admin.RbacV1().ClusterRoleBindings().Delete(t.Context(), nodes, metav1.DeleteOptions{}))
	plane.StopAPIServer() // a watch that is open is not asked again
	w.must(plane.StartAPIServer(t.Context()))
	w.eventually("the missing right is named", func() bool {
		s := w.state("nodes")
		return !s.Synced && strings.Contains(s.Problem, "not allowed to list and watch nodes")
	})
	w.eventually("nothing is inferred", func() bool { return !w.cluster.View().NodesReadable })
	if got := w.status("a"); got != "UP" {
		t.Errorf("a is %q", got)
	}
	w.eventually("pods are watched", func() bool { return w.state("pods/"+w.ns).Problem == "" })
	w.deletePod("a", 0, pod.UID)
	w.shows("a", "")
}

func TestTheAPIServerMayGoAwayAndComeBack(t *testing.T) {
	w := newWorld(t)
	a, b := w.runPod("a", "n1", "192.0.2.10"), w.runPod("b", "n1", "192.0.2.11")
	w.register(a)
	w.register(b)
	plane.StopAPIServer()
	w.eventually("the outage is noticed", func() bool { return w.state("pods/"+w.ns).Problem != "" })
	if w.status("a") != "UP" || w.status("b") != "UP" {
		t.Errorf("an outage removed an instance: %q %q", w.status("a"), w.status("b"))
	}
	w.must(plane.StartAPIServer(t.Context()))
	w.eventually("the watch works again", func() bool { return w.state("pods/"+w.ns).Problem == "" })
	w.eventually("the API server takes the deletion", func() bool {
		grace := int64(0)
		return w.admin.CoreV1().Pods(w.ns).Delete(t.Context(), "a", metav1.DeleteOptions{GracePeriodSeconds: &grace}) == nil
	})
	w.shows("a", "")
	w.shows("b", "UP")
}

func TestTheViewIsFreshWhileCanaryAndNodeLeasesArrive(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	w.eventually("the view is fresh", func() bool {
		w.renewNodeLease(node.Name)
		w.cluster.Tick(time.Now())
		return w.cluster.Fresh()
	})
	w.cluster.Tick(time.Now().Add(16 * time.Second))
	if w.cluster.Fresh() {
		t.Error("fresh without a word for 16 s")
	}
}

func TestTheCanaryTellsTheNextProcessOfTheAbsenceBeforeThisOne(t *testing.T) {
	w := newWorld(t)
	canary := CanaryOptions{Namespace: w.ns, Name: "another", Identity: "test"}
	read := func(at time.Time) Absence {
		t.Helper()
		a, err := ReadAbsence(t.Context(), w.admin, canary, at)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	now := time.Now().Truncate(time.Second)
	if a := read(now); a != (Absence{}) {
		t.Errorf("without a canary: %+v", a)
	}
	for _, listsFrom := range []time.Time{now.Add(5 * time.Minute), now.Add(45 * time.Second)} { // created, then updated
		canary.ListsFrom = func() time.Time { return listsFrom }
		if err := renewCanary(t.Context(), w.admin, canary, now); err != nil {
			t.Fatal(err)
		}
		if a := read(now.Add(time.Hour)); a.Age != time.Hour || !a.ListsFrom.Equal(listsFrom) {
			t.Errorf("got %+v, want an hour and %v", a, listsFrom)
		}
	}
	lease, err := w.admin.CoordinationV1().Leases(w.ns).Get(t.Context(), canary.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	lease.Annotations[listsFromAnnotation] = "soon"
	if _, err := w.admin.CoordinationV1().Leases(w.ns).Update(t.Context(), lease, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if a := read(now); !a.ListsFrom.IsZero() {
		t.Errorf("believed nonsense: %+v", a)
	}
}

func TestOneEventTellsOfOneCauseApplicationAndReason(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	for _, name := range []string{"a", "b"} {
		w.register(w.runPod(name, node.Name, "192.0.2.1"+map[string]string{"a": "0", "b": "1"}[name]))
	}
	c, d := w.runPod("c", "other", "192.0.2.12"), w.runPod("d", "other", "192.0.2.13")
	w.register(c)
	w.register(d)
	events := NewEvents(w.admin, "test", w.watcher.opts.Logger)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go events.Run(ctx)
	node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: "aws-node-termination-handler/spot-itn", Effect: corev1.TaintEffectNoSchedule})
	_, err := w.admin.CoreV1().Nodes().Update(t.Context(), node, metav1.UpdateOptions{})
	w.must(err)
	for range 2 {
		events.Changed(<-w.changes)
	}
	w.deletePod("c", 0, c.UID)
	for ch := range w.changes { // an API server may show the deletion before the removal
		if events.Changed(ch); ch.Reason == "PodGone" {
			break
		}
	}
	var reasons []string
	w.eventually("the last Event is there", func() bool {
		list, err := w.admin.EventsV1().Events("").List(t.Context(), metav1.ListOptions{})
		w.must(err)
		reasons = nil
		for _, e := range list.Items {
			if e.ReportingController == reportingController && (e.Regarding.Name == node.Name || e.Regarding.Namespace == w.ns) {
				reasons = append(reasons, e.Regarding.Kind+" "+e.Reason+" "+e.Action)
			}
		}
		return slices.Contains(reasons, "Pod PodGone Cancel")
	})
	reasons = slices.DeleteFunc(reasons, func(r string) bool { return r == "Pod PodDeleting TakeOutOfService" })
	slices.Sort(reasons)
	if want := []string{"Node NodeSpotInterruption TakeOutOfService", "Pod PodGone Cancel"}; !slices.Equal(reasons, want) {
		t.Errorf("events: %v", reasons)
	}
}

func (w *world) state(resource string) WatchState {
	for _, s := range w.watcher.States() {
		if s.Resource == resource {
			return s
		}
	}
	return WatchState{}
}

func rule(resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{resource}, Verbs: verbs}
}

// user returns the credentials of a new user with just these rights.
func (w *world) user(name string, rules ...rbacv1.PolicyRule) *rest.Config {
	w.t.Helper()
	cfg, err := plane.AddUser(w.ns + "-" + name)
	w.must(err)
	for _, r := range rules {
		w.grant(name, r)
	}
	return cfg
}

// grant gives a user a right and returns the name of the binding that does.
func (w *world) grant(name string, r rbacv1.PolicyRule) string {
	w.t.Helper()
	user := w.ns + "-" + name
	role, err := w.admin.RbacV1().ClusterRoles().Create(w.t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{GenerateName: user + "-"}, Rules: []rbacv1.PolicyRule{r},
	}, metav1.CreateOptions{})
	w.must(err)
	_, err = w.admin.RbacV1().ClusterRoleBindings().Create(w.t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: user, APIGroup: rbacv1.GroupName}},
	}, metav1.CreateOptions{})
	w.must(err)
	return role.Name
}
