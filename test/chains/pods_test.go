package chains

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kureka/kureka/test/rig/instance"
	"github.com/kureka/kureka/test/rig/stage"
)

// A pod is removed by force and its process lives on: it renews and registers, is
// answered as if all were well, and is never listed again.
func TestForceDeletedProcessLives(t *testing.T) {
	c := begin(t, plan{})
	rest := c.pods(0, 1)
	config := c.client()
	config.RenewalInterval, config.RegisterEvery, config.OnTerm = time.Second, 2, instance.Ignore
	zombie, err := c.Create(t.Context(), stage.PodSpec{Name: c.app + "-zombie", Instance: config})
	c.must(err)
	c.ready(zombie)
	c.KeepOrphans(true)
	c.Timeline.Mark("%s is deleted by force; its process lives on", zombie.Name)
	deleted, err := zombie.ForceDelete(t.Context())
	c.must(err)
	c.await(stage.Gone, zombie)
	c.because("removed", "PodGone", zombie)
	c.measured("force delete, instance gone", deleted, stage.Gone, zombie)
	gone := time.Now()
	c.until("it to register three times in vain", func() bool { return accepted(zombie, instance.Registered, gone) >= 3 })
	if n := accepted(zombie, instance.Renewed, gone); n < 3 {
		t.Errorf("%d heartbeats were accepted, want all", n)
	}
	c.courses(up, rest...)
	if course := c.view.Leaving(zombie.ID); course != "UP > gone" {
		t.Errorf("the zombie was %q", course)
	}
}

// accepted counts what a pod's process did since, with success.
func accepted(p *stage.Pod, op instance.Op, since time.Time) (n int) {
	for _, e := range p.Process().Events() {
		if e.Op == op && e.Accepted() && e.At.After(since) {
			n++
		}
	}
	return n
}

// The readiness probes of all pods of an application fail at once, again and again,
// because a dependency is away. By default readiness does nothing to instances that
// renew.
func TestReadinessFlap(t *testing.T) {
	c := begin(t, plan{})
	pods := c.pods(0, 0, 0, 1, 1, 1)
	for range 3 {
		c.Timeline.Mark("all pods are unready")
		c.setReady(false, pods...)
		c.until("the operator to see it", func() bool { return c.explain(pods[5]).Fires("PodNotReady") })
		c.pass(time.Second)
		c.setReady(true, pods...)
		c.until("the operator to see them ready", func() bool { return !c.explain(pods[5]).Fires("PodNotReady") })
	}
	c.courses(up, pods...)
	c.untouched(pods...)
}

func (c *chain) setReady(ready bool, pods ...*stage.Pod) {
	c.t.Helper()
	for _, p := range pods {
		pod, err := p.Get(c.t.Context())
		c.must(err)
		i := slices.IndexFunc(c.Nodes, func(n *stage.Node) bool { return n.Name == pod.Spec.NodeName })
		c.must(c.Nodes[i].SetReady(types.NamespacedName{Namespace: c.Namespace, Name: p.Name}, ready))
	}
}

// Both replicas are unready at once where the namespace has asked for readiness to
// count: one goes, the floor holds the other.
func TestBothReplicasUnready(t *testing.T) {
	c := begin(t, plan{})
	pods := c.pods(0, 1)
	c.policy(`{pods: {notReady: OutOfService}}`)
	fewest := newFewest(c)
	c.Timeline.Mark("both pods are unready")
	c.setReady(false, pods...)
	taken := func() (all []*stage.Pod) {
		for _, p := range pods {
			if slices.Contains(c.told(p), "taken-out PodNotReady") {
				all = append(all, p)
			}
		}
		return all
	}
	c.until("one to be taken out", func() bool { return len(taken()) == 1 })
	victim := taken()[0]
	held := pods[1-slices.Index(pods, victim)]
	c.because("noted", "HeldByFloor", held)
	c.pass(5 * time.Second)
	c.courses("UP > OUT_OF_SERVICE", victim)
	c.courses(up, held)
	c.Timeline.Mark("both pods are ready")
	c.setReady(true, pods...)
	c.await(up, pods...)
	if n := fewest(); n != 1 {
		t.Errorf("the fewest in an answer were %d, want 1", n)
	}
}

// Four of ten die at once, in the ways there are; six live. The deaths are proven,
// so self-preservation has nothing to say.
func TestFortyPercentDie(t *testing.T) {
	c := begin(t, plan{})
	pods := c.pods(0, 0, 0, 0, 0, 1, 1, 1, 1, 1)
	forced, evicted, rest := pods[:2], pods[5:7], slices.Concat(pods[2:5], pods[7:])
	engaged := c.WatchEngaged(t.Context())
	c.Timeline.Mark("two pods are killed and deleted by force, two are evicted by their kubelet")
	dead := time.Now()
	for _, p := range evicted {
		c.must(c.Nodes[1].FailPod(types.NamespacedName{Namespace: c.Namespace, Name: p.Name}, "Evicted"))
	}
	c.crash(forced...)
	c.await(stage.Gone, slices.Concat(forced, evicted)...)
	c.because("removed", "PodGone", forced...)
	c.because("removed", "PodFinished", evicted...)
	c.measured("force delete of dead pods, instances gone", dead, stage.Gone, forced...)
	c.pass(10 * time.Second)
	c.courses(up, rest...)
	c.untouched(rest...)
	_, err := c.Operator.Engaged(t.Context(), c.Namespace)
	c.must(err) // what cannot be read was not watched
	if engaged() {
		t.Error("self-preservation was engaged by proven deaths")
	}
}

// Karpenter drains a node with the only two replicas of an application, and a
// disruption budget refuses both evictions until a replacement is ready.
func TestDrainBlockedByBudget(t *testing.T) {
	c := begin(t, plan{})
	pods := c.pods(0, 0)
	fewest := newFewest(c)
	c.budget(2)

	c.Timeline.Mark("Karpenter taints the node and deletes it; its finalizer holds the object")
	c.drain(0)
	c.must(c.Nodes[0].AddTaint(t.Context(), corev1.Taint{Key: "karpenter.sh/disrupted", Effect: corev1.TaintEffectNoSchedule}))
	c.must(c.Rig.Client.CoreV1().Nodes().Delete(t.Context(), c.Nodes[0].Name, metav1.DeleteOptions{}))
	var first, last *stage.Pod
	c.until("one replica to go out", func() bool {
		for i, p := range pods {
			if slices.Contains(c.told(p), "taken-out NodeDeleting") {
				first, last = p, pods[1-i]
			}
		}
		return first != nil
	})
	c.because("noted", "HeldByFloor", last)
	for _, p := range pods {
		if err := c.evict(p); !apierrors.IsTooManyRequests(err) {
			t.Errorf("evicting %s: %v, want it refused", p.Name, err)
		}
	}
	c.pass(5 * time.Second)
	c.courses("UP > OUT_OF_SERVICE", first)
	c.courses(up, last)

	c.Timeline.Mark("replacements come up elsewhere and the drain goes on")
	more := []*stage.Pod{c.pod(c.app+"-3", 1), c.pod(c.app+"-4", 1)}
	c.ready(more...)
	c.await(out, last) // now the floor has room
	for _, p := range pods {
		c.until("the eviction of "+p.Name+" to be granted", func() bool { return c.evict(p) == nil })
	}
	c.await(stage.Gone, pods...)
	c.courses(up, more...)
	if n := fewest(); n < 1 {
		t.Errorf("an answer listed %d UP, want one at least in every one", n)
	}
}

// drain gives a node the finalizer with which Karpenter holds its object while it
// is drained, and takes it away with the chain.
func (c *chain) drain(i int) {
	c.t.Helper()
	finalizers := func(value string) {
		patch := []byte(`{"metadata":{"finalizers":` + value + `}}`)
		_, err := c.Rig.Client.CoreV1().Nodes().Patch(c.t.Context(), c.Nodes[i].Name, types.MergePatchType, patch, metav1.PatchOptions{})
		c.must(err)
	}
	finalizers(`["karpenter.sh/termination"]`)
	c.OnClose(func() {
		patch := []byte(`{"metadata":{"finalizers":null}}`)
		_, _ = c.Rig.Client.CoreV1().Nodes().Patch(c.t.Context(), c.Nodes[i].Name, types.MergePatchType, patch, metav1.PatchOptions{})
	})
}

// budget lets evictions happen only while that many pods of the application stay
// ready, and returns once it is in force.
func (c *chain) budget(available int) {
	c.t.Helper()
	budgets := c.Rig.Client.PolicyV1().PodDisruptionBudgets(c.Namespace)
	manifest := fmt.Sprintf("apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: budget, namespace: %s}\n"+
		"spec: {minAvailable: %d, selector: {matchLabels: {app: %s}}}\n", c.Namespace, available, c.app)
	c.must(apply(c.t.Context(), c.Rig, manifest))
	c.until("the budget to be in force", func() bool {
		b, err := budgets.Get(c.t.Context(), "budget", metav1.GetOptions{})
		return err == nil && b.Status.ObservedGeneration == b.Generation && b.Status.CurrentHealthy >= int32(available)
	})
}

// evict asks as a drain does.
func (c *chain) evict(p *stage.Pod) error {
	return c.Rig.Client.PolicyV1().Evictions(c.Namespace).Evict(c.t.Context(), &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: p.Name},
	})
}
