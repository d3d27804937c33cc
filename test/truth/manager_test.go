package truth

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	nodeGrace    = 50 * time.Second // silence of a Lease until its node is Unknown
	tolerates    = 60 * time.Second // an unreachable node; 300 s in most clusters
	orphanAfter  = 40 * time.Second // a pod without its node
	taintUnreach = "node.kubernetes.io/unreachable"
	taintCordon  = "node.kubernetes.io/unschedulable"
	taintOut     = "node.kubernetes.io/out-of-service"
	taintPlanned = "ToBeDeletedByClusterAutoscaler"
	taintSpot    = "aws-node-termination-handler/spot-itn"
)

// workload is what a Deployment or a StatefulSet wants, and how its clients are.
type workload struct {
	ns, app     string
	port        int
	replicas    int
	stateful    bool
	hostNetwork bool
	named       bool // its clients' host name and id contain the pod's name
	proxied     bool // the operator does not see the source of its requests
	declares    bool // its port
	graceful    bool // its clients say goodbye
	refreshes   bool // its clients register again now and then
	timeless    bool // its clients' heartbeats do not tell when the client last changed
	fast        bool // its containers are started again, and its clients register, in no time
	waits       bool // its clients wait for an answer until they are given up
	interval    time.Duration
	spread      int
	keeper      keeper // who registers its pods, whatever their clients do
	keptID      bool   // its clients register the id that is kept for their pods without them
	clientless  bool   // its processes have no client
	alias       string // tells it from others of its application
}

// manager is the kube-controller-manager: what it concludes from Leases, and what
// it makes and removes.
type manager struct {
	w        *world
	seen     map[string]time.Duration // when a node's Lease changed last
	writes   int                      // how much of the Leases has been looked at
	unknown  map[string]time.Duration // since when a node is tainted
	orphaned map[string]time.Duration // since when a pod's node is missing
	scaled   int                      // how much had been written when all was as it should be
	dice     dice
}

func (m *manager) start() {
	m.w.every(m.dice.between(0, 5*time.Second), 5*time.Second, func() bool {
		if m.w.api.up() {
			m.watchNodes()
			m.collect()
		}
		return true
	})
	m.w.every(m.dice.between(0, time.Second), time.Second, func() bool {
		if m.w.api.up() && m.scaled != m.w.api.writes {
			m.scaled = m.w.api.writes
			for _, load := range slices.Concat(m.w.loads, m.w.clientless) {
				m.scale(load)
			}
		}
		return true
	})
}

// watchNodes concludes that nodes are Unknown when their Leases stop, marks their
// pods not ready, and evicts them later unless every node is like that.
func (m *manager) watchNodes() {
	leases := &m.w.api.leases
	for ; m.writes < len(leases.history); m.writes++ {
		m.seen[leases.history[m.writes].obj.Name] = m.w.now
	}
	ready := 0
	for _, o := range m.w.api.nodes.sorted() {
		if since, known := m.seen[o.Name]; !known || m.w.now-since < nodeGrace {
			m.recover(o)
			ready++
			continue
		}
		if readiness(o).Status != corev1.ConditionUnknown {
			m.loseNode(o)
		}
	}
	if ready > 0 {
		m.evict()
	}
}

// evict has the pods of nodes deleted that have been Unknown for long.
func (m *manager) evict() {
	for _, o := range m.w.api.nodes.sorted() {
		since, lost := m.unknown[o.Name]
		if !lost || m.w.now-since < tolerates {
			continue
		}
		for _, p := range m.w.podsOn(o.Name) {
			if obj := m.w.api.pod(p); obj != nil && obj.DeletionTimestamp == nil {
				p.disrupt("DeletionByTaintManager")
				p.remove(false)
			}
		}
	}
}

func (m *manager) loseNode(o *corev1.Node) {
	next := o.DeepCopy()
	next.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Message: "Kubelet stopped posting node status."}}
	next.Spec.Taints = append(next.Spec.Taints, corev1.Taint{Key: taintUnreach, Effect: corev1.TaintEffectNoExecute})
	m.w.api.putNode(next)
	m.unknown[o.Name] = m.w.now
	for _, p := range m.w.podsOn(o.Name) {
		if obj := m.w.api.pod(p); obj != nil && condition(obj, corev1.PodReady) {
			marked := obj.DeepCopy()
			setCondition(&marked.Status, corev1.PodReady, corev1.ConditionFalse, "")
			m.w.api.putPod(marked)
			p.dirty = true // the kubelet will say otherwise when it can
		}
	}
}

func (m *manager) recover(o *corev1.Node) {
	if _, lost := m.unknown[o.Name]; !lost {
		return
	}
	delete(m.unknown, o.Name)
	m.w.nodes[o.Name].untaint(taintUnreach)
}

// collect removes the pods of nodes that do not exist, by force.
func (m *manager) collect() {
	for _, o := range m.w.api.pods.sorted() {
		if m.w.api.node(o.Spec.NodeName) != nil {
			delete(m.orphaned, string(o.UID))
			continue
		}
		since, known := m.orphaned[string(o.UID)]
		if !known {
			m.orphaned[string(o.UID)] = m.w.now
		}
		if known && m.w.now-since >= orphanAfter {
			m.w.api.deletePod(o)
		}
	}
}

// scale makes the pods that are missing. A StatefulSet waits until the pod with the
// name is gone.
func (m *manager) scale(load *workload) {
	taken, n := m.count(load)
	for i := 0; n < load.replicas && i < load.replicas; i++ {
		node := m.place(load)
		if node == nil {
			return
		}
		if !load.stateful {
			m.w.newPod(load, m.w.nextName(load), node)
			n++
			continue
		}
		if name := fmt.Sprintf("%s-s%d", load.name(), i); !taken[name] {
			m.w.newPod(load, name, node)
			n++
		}
	}
}

// count finds the names that are taken and how many pods are at work. A StatefulSet
// removes those that have ended.
func (m *manager) count(load *workload) (taken map[string]bool, n int) {
	taken = map[string]bool{}
	for _, o := range m.w.api.pods.sorted() {
		p := m.w.pod(string(o.UID))
		if p.load != load {
			continue
		}
		taken[o.Name] = true
		if o.DeletionTimestamp == nil && !ended(o) {
			n++
		} else if load.stateful && o.DeletionTimestamp == nil {
			p.remove(false)
		}
	}
	return taken, n
}

// place picks a node in turn, of those that are Ready and take pods.
func (m *manager) place(load *workload) *node {
	var fit []*node
	for _, o := range m.w.api.nodes.sorted() {
		if readiness(o).Status != corev1.ConditionTrue || len(o.Spec.Taints) > 0 {
			continue
		}
		n := m.w.nodes[o.Name]
		if load.hostNetwork && slices.ContainsFunc(m.w.podsOn(o.Name), func(p *pod) bool { return p.load.hostNetwork && p.load.port == load.port }) {
			continue
		}
		fit = append(fit, n)
	}
	if len(fit) == 0 {
		return nil
	}
	load.spread++
	return fit[load.spread%len(fit)]
}

// podsOn is the pods whose objects name the node.
func (w *world) podsOn(name string) []*pod {
	var out []*pod
	for _, o := range w.api.pods.sorted() {
		if o.Spec.NodeName == name {
			out = append(out, w.pod(string(o.UID)))
		}
	}
	return out
}

func (w *world) pod(uid string) *pod {
	for _, p := range w.pods {
		if p.uid == uid {
			return p
		}
	}
	return nil
}
