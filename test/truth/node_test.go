package truth

import (
	"net/netip"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	leaseEvery = 10 * time.Second
	leaseLasts = 40 // seconds
)

// node is a machine with its kubelet and its links. Its object is the API server's.
type node struct {
	w          *world
	name, zone string
	ip         netip.Addr
	cidr       netip.Prefix
	clock      time.Duration // how far its clock is off
	dice       dice

	dark    int // reasons why the machine has no power
	hung    int // reasons why the kubelet does nothing
	cutAPI  int // reasons why it does not reach the API server
	cutOp   int // reasons why nothing on it reaches the operator
	pods    []*pod
	free    []netip.Addr  // of its range; the last one freed is given away first
	restart bool          // it had no power: every container is to be started again
	left    bool          // for good: its object does not come back
	notice  string        // it posts that it is shutting down
	doubted time.Duration // when silence may have taken its pods out; -1 never
	lost    time.Duration // when probes may have confirmed that; -1 never
}

func (n *node) powered() bool    { return n.dark == 0 }
func (n *node) reachesAPI() bool { return n.kubeletUp() && n.cutAPI == 0 && n.w.api.up() }
func (n *node) kubeletUp() bool  { return n.powered() && n.hung == 0 }
func (n *node) reachesOp() bool  { return n.powered() && n.cutOp == 0 }
func (n *node) wall() metav1.Time {
	return metav1.NewTime(wall(n.w.now, n.clock).Truncate(time.Second))
}

// start begins the kubelet's rhythm.
func (n *node) start(first time.Duration) {
	n.post()
	n.w.every(first, leaseEvery, func() bool {
		if n.reachesAPI() {
			n.renew()
			n.post()
			n.reconcile()
		}
		return true
	})
}

func (n *node) renew() {
	if n.w.api.node(n.name) == nil {
		return
	}
	lasts := int32(leaseLasts)
	renewed := metav1.NewMicroTime(wall(n.w.now, n.clock))
	n.w.api.leases.write(n.w.now, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: n.name},
		Spec:       coordinationv1.LeaseSpec{RenewTime: &renewed, LeaseDurationSeconds: &lasts},
	}, false)
	n.w.op.expect()
}

// post writes the node's status if it is not as the kubelet sees it. A node whose
// object was deleted comes back with the next status, unless it is gone for good.
func (n *node) post() {
	status, message := corev1.ConditionTrue, "kubelet is posting ready status"
	if n.notice != "" {
		status, message = corev1.ConditionFalse, n.notice
	}
	old := n.w.api.node(n.name)
	if old == nil {
		if !n.left {
			n.w.api.putNode(n.fresh(status, message))
		}
		return
	}
	if c := readiness(old); c.Status == status && c.Message == message {
		return
	}
	next := old.DeepCopy()
	next.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, Message: message}}
	n.w.api.putNode(next)
}

func (n *node) fresh(status corev1.ConditionStatus, message string) *corev1.Node {
	o := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.name, Labels: map[string]string{corev1.LabelTopologyZone: n.zone}},
		Status: corev1.NodeStatus{
			Addresses:  []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: n.ip.String()}},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, Message: message}},
		},
	}
	if n.w.plan.podRanges {
		o.Spec.PodCIDRs = []string{n.cidr.String()}
	}
	n.tellKubeletPort(o)
	return o
}

func readiness(o *corev1.Node) corev1.NodeCondition {
	for _, c := range o.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c
		}
	}
	return corev1.NodeCondition{Type: corev1.NodeReady}
}

// edit changes the node's object, if it exists.
func (n *node) edit(change func(*corev1.Node)) {
	if old := n.w.api.node(n.name); old != nil && n.w.api.up() {
		next := old.DeepCopy()
		change(next)
		n.w.api.putNode(next)
	}
}

func (n *node) taint(key string) {
	n.untaint(key)
	n.edit(func(o *corev1.Node) {
		o.Spec.Taints = append(o.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
	})
}

func (n *node) untaint(key string) {
	if old := n.w.api.node(n.name); old == nil || !tainted(old, key) {
		return
	}
	n.edit(func(o *corev1.Node) {
		o.Spec.Taints = slices.DeleteFunc(o.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key })
	})
}

func tainted(o *corev1.Node, key string) bool {
	return slices.ContainsFunc(o.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key })
}

// lose takes the power away; everything that runs is dead.
func (n *node) lose() {
	n.dark++
	n.restart = true
	for _, p := range n.pods {
		p.stop()
	}
}

// reconcile is the kubelet looking at its pods: what is new is started, what is
// to end is ended, and what has changed is written.
func (n *node) reconcile() {
	if !n.reachesAPI() {
		return
	}
	if n.restart {
		n.restart = false
		for _, p := range n.pods {
			if !p.ended {
				p.begin(n.dice.between(time.Second, 3*time.Second))
			}
		}
	}
	for _, p := range slices.Clone(n.pods) {
		p.sync()
	}
}

// address gives a pod an address: the one that was freed last.
func (n *node) address() netip.Addr {
	pool := &n.free
	if !n.w.plan.podRanges {
		pool = &n.w.free
	}
	if len(*pool) == 0 {
		return netip.Addr{}
	}
	a := (*pool)[len(*pool)-1]
	*pool = (*pool)[:len(*pool)-1]
	return a
}

func (n *node) release(a netip.Addr) {
	if !a.IsValid() {
		return
	}
	if n.w.plan.podRanges {
		n.free = append(n.free, a)
	} else {
		n.w.free = append(n.w.free, a)
	}
}
