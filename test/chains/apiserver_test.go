package chains

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kureka/kureka/test/rig/faultproxy"
	"github.com/kureka/kureka/test/rig/instance"
	"github.com/kureka/kureka/test/rig/stage"
)

// The API server is away for the operator only, in every way there is, for longer
// than a view stays fresh. Whoever renews stays; who dies meanwhile is removed once
// it is back, by proof.
func TestAPIServerAway(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]faultproxy.Mode{
		"refused": faultproxy.Refuse, "blackhole": faultproxy.BlackHole, "toomany": faultproxy.TooMany,
	} {
		t.Run(name, func(t *testing.T) {
			c := begin(t, plan{proxied: true})
			c.lease = 2 * time.Minute
			pods := c.pods(0, 0, 1, 1)
			c.fresh(true)
			c.mode(mode, "the API server is away for the operator: "+name)
			c.crash(pods[0])
			c.fresh(false)
			c.pass(5 * time.Second)
			c.courses(up, pods...) // the dead one by its lease, which is long
			if e := c.explain(pods[0]); e.ViewFresh {
				t.Error("the explanation does not say that the view is stale")
			}
			back := time.Now()
			c.mode(faultproxy.Pass, "the API server is back")
			c.await(stage.Gone, pods[0])
			c.because("removed", "PodGone", pods[0])
			c.measured("API server away ("+name+") and back, dead instance gone", back, stage.Gone, pods[0])
			c.fresh(true)
			c.t.Logf("measured: API server away (%s) and back, view fresh: %s", name, time.Since(back).Round(10*time.Millisecond))
			c.courses(up, pods[1:]...)
			c.untouched(pods[1:]...)
		})
	}
}

// Every watch that would go on is answered 410, so that everything is listed again
// and again, and pods come and go meanwhile.
func TestWatchesExpired(t *testing.T) {
	c := begin(t, plan{proxied: true})
	pods := c.pods(0, 0, 1, 1)
	for i := range 3 {
		c.mode(faultproxy.Expired, "all watches end and are too old to go on")
		c.crash(pods[i])
		c.await(stage.Gone, pods[i])
		c.because("removed", "PodGone", pods[i])
	}
	late := c.pod(c.app+"-late", 0)
	c.mode(faultproxy.Expired, "all watches end once more")
	c.ready(late)
	c.courses(up, late, pods[3])
	c.untouched(late, pods[3])
	c.fresh(true)
}

// Watches are cut again and again, and once for longer than a view stays fresh,
// while pods live and die.
func TestWatchCut(t *testing.T) {
	c := begin(t, plan{proxied: true})
	c.lease = 2 * time.Minute
	pods := c.pods(0, 0, 1, 1)
	for range 5 {
		c.must(c.proxy.Cut(t.Context()))
		c.pass(500 * time.Millisecond)
	}
	c.crash(pods[0])
	c.await(stage.Gone, pods[0])
	c.mode(faultproxy.Refuse, "watches are cut for long")
	c.fresh(false)
	c.crash(pods[1])
	c.pass(5 * time.Second)
	c.courses(up, pods[1:]...)
	c.mode(faultproxy.Pass, "watches are back")
	c.await(stage.Gone, pods[1])
	c.because("removed", "PodGone", pods[:2]...)
	c.fresh(true)
	c.courses(up, pods[2:]...)
	c.untouched(pods[2:]...)
}

// The API server is killed for everybody and started again: kubelets, controllers
// and the operator lose it alike. Leases of nodes stand still meanwhile.
func TestAPIServerDown(t *testing.T) {
	c := begin(t, plan{nodes: 3, alone: true})
	c.lease = 2 * time.Minute
	pods := c.pods(0, 0, 1, 1, 2, 2)
	c.fresh(true)
	c.Timeline.Mark("the API server is killed")
	c.Rig.Plane.StopAPIServer()
	pods[0].Kill() // its kubelet starts it again, and cannot tell anybody
	c.fresh(false)
	c.pass(10 * time.Second)
	c.courses(up, pods...)
	c.Timeline.Mark("the API server is started again")
	c.must(c.Rig.Plane.StartAPIServer(t.Context()))
	c.fresh(true)
	c.pass(10 * time.Second)
	c.courses(up, pods...) // the new process has registered, which is more than its kubelet knows
	c.Timeline.Mark("a death is seen again")
	c.crash(pods[1])
	c.await(stage.Gone, pods[1])
	c.because("removed", "PodGone", pods[1])
	c.untouched(pods[2:]...)
}

// The operator lists again and is answered from the past: pods that came since are
// missing from the list, and one that is gone is in it.
func TestStaleRelist(t *testing.T) {
	c := begin(t, plan{proxied: true})
	old := c.pods(0, 1)
	c.must(c.proxy.Record(t.Context(), "/api/v1/pods", "/api/v1/nodes", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"))
	young := []*stage.Pod{c.pod(podName(c.app, 2), 0), c.pod(podName(c.app, 3), 1), c.pod(podName(c.app, 4), 1)}
	c.ready(young...)
	c.crash(old[0])
	c.await(stage.Gone, old[0])
	c.mode(faultproxy.Stale, "everything is listed again and answered from the past")
	c.until("the operator to list", func() bool { return c.proxy.Replayed("/api/v1/pods") > 0 && c.proxy.Replayed("/api/v1/nodes") > 0 })
	c.pass(5 * time.Second)
	c.courses(up, young...)
	c.courses(up, old[1])
	if course := c.view.Leaving(old[0].ID); course != "UP > gone" {
		t.Errorf("the dead one was %q", course)
	}
	c.mode(faultproxy.Pass, "lists tell the truth")
	c.crash(young[0])
	c.await(stage.Gone, young[0])
	c.because("removed", "PodGone", young[0])
	c.courses(up, young[1], young[2], old[1])
	c.untouched(young[1], young[2], old[1])
}

// A StatefulSet's pod is deleted and made again, with the same name and so the same
// instance id, while the operator sees nothing. It finds another pod under the name.
func TestStatefulSetPodRecreatedInAGap(t *testing.T) {
	c := begin(t, plan{proxied: true})
	c.lease = time.Minute
	c.must(c.statefulSet(2))
	pods := []*stage.Pod{c.find(c.app + "-0"), c.find(c.app + "-1")}
	c.ready(pods...)
	c.mode(faultproxy.Refuse, "the operator sees nothing")
	_, err := pods[0].Delete(t.Context())
	c.must(err)
	var successor *stage.Pod
	c.until("the pod to be made again", func() bool {
		successor, err = c.Find(t.Context(), pods[0].Name, c.app)
		c.must(err)
		return successor != nil && successor.UID != pods[0].UID
	})
	c.must(successor.AwaitReady(t.Context()))
	c.until("the new process to be accepted", func() bool { return !successor.HeardAt().IsZero() })
	c.fresh(false)
	back := time.Now()
	c.mode(faultproxy.Pass, "the operator sees again")
	c.ready(successor)
	c.t.Logf("measured: StatefulSet pod made again in a watch gap, bound to the new pod: %s", time.Since(back).Round(10*time.Millisecond))
	c.pass(10 * time.Second)
	c.courses(up, pods[1])
	c.untouched(pods[1])
	if course := c.view.Course(successor.ID); course != up && course != "UP > OUT_OF_SERVICE > UP" {
		t.Errorf("the id was %q, want it never gone: the new process registered while nothing was seen", course)
	}
	if e := c.explain(successor); e.Status != up || e.Binding.Pod == nil || e.Binding.Pod.UID != string(successor.UID) {
		t.Errorf("explained as %+v, want UP and bound to %s", e, successor.UID)
	}
	c.Timeline.Mark("the new pod dies")
	c.must(c.Rig.Client.AppsV1().StatefulSets(c.Namespace).Delete(t.Context(), c.app, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationOrphan)}))
	c.crash(successor)
	c.await(stage.Gone, successor)
	c.because("removed", "PodGone", successor)
	c.courses(up, pods[1])
}

// statefulSet makes a StatefulSet whose pods all run on the first node: there is no
// scheduler.
func (c *chain) statefulSet(replicas int32) error {
	config := c.client()
	config.Registry = c.Operator.URL()
	container, err := instance.Container(config, stage.InstancePort)
	if err != nil {
		return err
	}
	labels := map[string]string{"app": c.app}
	_, err = c.Rig.Client.AppsV1().StatefulSets(c.Namespace).Create(c.t.Context(), &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: c.app},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, ServiceName: c.app, PodManagementPolicy: appsv1.ParallelPodManagement,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					NodeName: c.Nodes[0].Name, Containers: []corev1.Container{container}, TerminationGracePeriodSeconds: new(int64(1)),
				},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("creating a StatefulSet: %w", err)
	}
	return nil
}

// find waits for a pod that somebody else creates.
func (c *chain) find(name string) (p *stage.Pod) {
	c.t.Helper()
	c.until("pod "+name+" to be there", func() bool {
		var err error
		p, err = c.Find(c.t.Context(), name, c.app)
		c.must(err)
		return p != nil
	})
	return p
}
