package chains

import (
	"context"
	"slices"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kureka/kureka/test/rig/netns"
	"github.com/kureka/kureka/test/rig/stage"
)

// Kubelet and processes die at the same moment and nobody says a word. Silence
// takes the instances out; what removes them is a lease that expires, or somebody
// who vouches for the node's end.
func TestPowerLoss(t *testing.T) {
	c := begin(t, plan{nodes: 5}) // two dead ones are few enough to be believed
	c.policy(`{leases: {maxEvictionPercent: 100}}`)
	pods := c.pods(0, 0, 1, 1, 2, 3)
	first, second, rest := pods[:2], pods[2:4], pods[4:]

	c.Timeline.Mark("%s loses power", c.Nodes[0].Name)
	off := time.Now()
	c.Nodes[0].PowerOff()
	c.await(out, first...)
	c.because("taken-out", "NodeSilent", first...)
	c.measured("silent node (14 s), instances out of service", off, out, first...)
	c.await(stage.Gone, first...)
	c.courses("UP > OUT_OF_SERVICE > gone", first...)

	c.Timeline.Mark("%s loses power", c.Nodes[1].Name)
	off = time.Now()
	c.Nodes[1].PowerOff()
	c.await(out, second...)
	c.because("taken-out", "NodeSilent", second...)
	c.measured("silent node (14 s), instances out of service", off, out, second...)
	// The taint needs a node that is not Ready, as its documentation says.
	c.until("the control plane to give the node up", func() bool { return c.nodeReady(1) == corev1.ConditionUnknown })
	vouched := time.Now()
	taint := corev1.Taint{Key: corev1.TaintNodeOutOfService, Value: "nodeshutdown", Effect: corev1.TaintEffectNoExecute}
	c.must(c.Nodes[1].AddTaint(t.Context(), taint))
	c.await(stage.Gone, second...)
	c.measured("taint out-of-service, instances gone", vouched, stage.Gone, second...)
	c.courses("UP > OUT_OF_SERVICE > gone", second...)
	c.courses("UP", rest...)
	c.untouched(rest...)
}

// nodeReady is the status of a node's condition Ready, empty if there is no node.
func (c *chain) nodeReady(i int) corev1.ConditionStatus {
	c.t.Helper()
	node, err := c.Rig.Client.CoreV1().Nodes().Get(c.t.Context(), c.Nodes[i].Name, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status
		}
	}
	return ""
}

func (c *chain) tainted(i int, key string) bool {
	c.t.Helper()
	node, err := c.Rig.Client.CoreV1().Nodes().Get(c.t.Context(), c.Nodes[i].Name, metav1.GetOptions{})
	c.must(err)
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key })
}

// cutOff silences nodes for everybody: no Lease, no heartbeat, and yet everything
// on them lives. It returns what ends that.
func (c *chain) cutOff(pods []*stage.Pod, nodes ...int) (restore func()) {
	c.t.Helper()
	for _, i := range nodes {
		c.Nodes[i].Silence(true)
	}
	for _, p := range pods {
		p.Process().Signal(syscall.SIGSTOP)
	}
	return func() {
		for _, p := range pods {
			p.Process().Signal(syscall.SIGCONT)
		}
		for _, i := range nodes {
			c.Nodes[i].Silence(false)
		}
	}
}

// No node and no client is heard, for longer than any lease: the network is the
// likelier cause. The control plane calls all nodes Unknown.
func TestAllNodesSilent(t *testing.T) {
	c := begin(t, plan{nodes: 3, alone: true})
	pods := c.pods(0, 0, 1, 1, 2, 2)
	c.Timeline.Mark("all nodes are cut off; everything on them lives")
	restore := c.cutOff(pods, 0, 1, 2)
	for i := range c.Nodes {
		c.until("the node to be Unknown", func() bool { return c.nodeReady(i) == corev1.ConditionUnknown })
	}
	c.fresh(false) // no node Lease arrives any more
	c.pass(stale)
	c.courses(up, pods...)
	c.Timeline.Mark("the network is back")
	restore()
	c.fresh(true)
	c.pass(10 * time.Second)
	c.courses(up, pods...)
	c.untouched(pods...)

	c.Timeline.Mark("afterwards a death is a death")
	c.crash(pods[0])
	c.await(stage.Gone, pods[0])
	c.because("removed", "PodGone", pods[0])
	c.courses(up, pods[1:]...)
}

// All nodes of one zone fall silent, with everything on them; other zones are well,
// so the view is fresh throughout.
func TestOneZoneSilent(t *testing.T) {
	c := begin(t, plan{nodes: 6, zones: []string{"far", "far", "far", "near", "near", "near"}})
	pods := c.pods(0, 1, 2, 3, 4, 5)
	far := pods[:3]
	c.Timeline.Mark("the far zone is cut off; everything in it lives")
	restore := c.cutOff(far, 0, 1, 2)
	for i := range 3 {
		c.until("the node to be Unknown", func() bool { return c.nodeReady(i) == corev1.ConditionUnknown })
	}
	c.pass(stale)
	c.courses(up, pods...)
	if e := c.explain(far[0]); e.Verdict.Reason != "" || !e.ViewFresh {
		t.Errorf("explained as %+v, want nothing against it in a fresh view", e)
	}
	c.Timeline.Mark("the network is back")
	restore()
	c.pass(10 * time.Second)
	c.courses(up, pods...)
	c.untouched(pods...)
}

// All machines of one zone lose power. Their silence alone is taken for one of the
// network; that none of them answers, while machines elsewhere do, confirms it.
func TestOneZoneDies(t *testing.T) {
	netns.Require(t) // elsewhere a machine without power refuses connections
	c := begin(t, plan{nodes: 6, zones: []string{"far", "far", "far", "near", "near", "near"}})
	c.lease = 2 * time.Minute // who is out by a verdict is protected no more, and a short lease would be over by then
	pods := c.pods(0, 1, 2, 3, 4, 5)
	far, near := pods[:3], pods[3:]
	c.Timeline.Mark("the far zone loses power")
	off := time.Now()
	for _, n := range c.Nodes[:3] {
		n.PowerOff()
	}
	c.await(out, far...)
	c.because("taken-out", "NodeSilent", far...)
	c.measured("zone without power (14 s), instances out of service", off, out, far...)
	c.courses(up, near...)
	c.untouched(near...)
}

// The kubelet itself says that it is not ready, which proves that it lives; the
// control plane taints the node. Later the node dies.
func TestKubeletNotReadyThenDeath(t *testing.T) {
	c := begin(t, plan{nodes: 3})
	pods := c.pods(0, 0, 1, 1, 2, 2)
	sick, rest := pods[:2], pods[2:]
	c.Timeline.Mark("the kubelet of %s says that it is not ready", c.Nodes[0].Name)
	c.Nodes[0].PostNotReady("container runtime is down")
	c.until("the control plane to taint the node", func() bool { return c.tainted(0, corev1.TaintNodeNotReady) })
	c.pass(stale)
	c.courses(up, pods...)
	c.untouched(pods...)

	c.Timeline.Mark("the node dies")
	off := time.Now()
	c.Nodes[0].PowerOff()
	c.await(out, sick...)
	c.because("taken-out", "NodeSilent", sick...)
	c.measured("silent node (14 s) after NotReady, instances out of service", off, out, sick...)
	c.courses(up, rest...)
	c.untouched(rest...)
}

// A kubelet shuts its machine down in order: it says so, and then ends its pods
// without deleting them.
func TestGracefulNodeShutdown(t *testing.T) {
	c := begin(t, plan{})
	pods := c.pods(0, 0, 1, 1)
	ending, rest := pods[:2], pods[2:]
	c.Timeline.Mark("%s is shutting down", c.Nodes[0].Name)
	said := time.Now()
	c.Nodes[0].PostNotReady("node is shutting down")
	c.await(out, ending...)
	c.because("taken-out", "NodeShuttingDown", ending...)
	c.measured("node is shutting down, instances out of service", said, out, ending...)
	for _, p := range ending {
		c.must(c.Nodes[0].FailPod(types.NamespacedName{Namespace: c.Namespace, Name: p.Name}, "Terminated"))
	}
	c.await(stage.Gone, ending...)
	c.courses("UP > OUT_OF_SERVICE > gone", ending...)
	c.courses(up, rest...)
	c.untouched(rest...)
}

// Somebody deletes all Node objects, while kubelets and processes live. The last
// visible instance of the application stays.
func TestAllNodeObjectsDeleted(t *testing.T) {
	c := begin(t, plan{nodes: 3, alone: true})
	pods := c.pods(0, 1, 2)
	fewest := newFewest(c)
	c.Timeline.Mark("all Node objects are deleted")
	deleted := time.Now()
	for _, n := range c.Nodes {
		c.must(c.Rig.Client.CoreV1().Nodes().Delete(t.Context(), n.Name, metav1.DeleteOptions{}))
	}
	var left []*stage.Pod
	c.until("all but one to be out", func() bool {
		left = nil
		for _, p := range pods {
			if c.view.First(p.ID, out).IsZero() {
				left = append(left, p)
			}
		}
		return len(left) == 1
	})
	for _, p := range pods {
		if p != left[0] {
			c.because("taken-out", "NodeDeleted", p)
			c.measured("all Node objects deleted, out of service", deleted, out, p)
		}
	}
	c.because("noted", "HeldByFloor", left[0])
	c.pass(5 * time.Second)
	c.courses(up, left[0])
	c.Timeline.Mark("the kubelets are restarted and register their nodes again")
	for _, n := range c.Nodes {
		c.must(n.Register(context.WithoutCancel(t.Context())))
	}
	// As soon as another is in service, the one that was held goes out until its own
	// node is back.
	c.await(up, pods...)
	for _, p := range pods {
		if p != left[0] {
			c.because("put-back", "Recovered", p)
		}
	}
	if n := fewest(); n < 1 {
		t.Errorf("an answer listed %d UP, want one at least in every one", n)
	}
}
