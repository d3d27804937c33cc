package truth

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kureka/kureka/internal/cluster"
)

// view is what has been delivered to the operator: the objects as it saw them
// last. The model compares with it what the operator may believe.
type view struct {
	next    struct{ pods, nodes, leases, canary, offers int } // writes that have been delivered
	listed  bool
	pods    map[string]seenPod // by UID
	nodes   map[string]*corev1.Node
	missing map[string]bool          // nodes that a live read did not find
	leases  map[string]time.Duration // when the Lease of a node was delivered last
	renewed map[string]time.Duration // when one was that had been written lately, which ends a silence
	anyAt   time.Duration            // when any was
	written time.Duration            // when the canary that was delivered last had been written
	stale   time.Duration            // since when they are not
	fresh   time.Duration            // since when the watches are in time; -1 while they are not
	read    map[string]int           // versions that live reads have shown, of pods by UID and nodes by name
	offers  map[string]*offering     // by name, with their namespace
	names   map[string]string        // of pods, with their namespace, to the UID that was shown last
}

type seenPod struct {
	obj      *corev1.Pod
	first    time.Duration // when it was delivered first
	shown    time.Duration // since when its address is
	off      time.Duration // how far the operator's clock was off then
	at       time.Duration // when the container last changed
	lived    bool          // it was not shown as ended only
	awaited  bool          // it was seen to end with a grace period
	gone     bool
	goneAt   time.Duration
	nodeLost bool   // when it went, its node was seen missing or Unknown
	readyIn  string // the container in which it was last shown ready
}

// measure follows by the model's own eyes whether the watches deliver in time.
func (op *operator) measure() {
	v := &op.view
	inTime := v.listed && op.w.now-v.written <= cluster.FreshFor && op.w.now-v.anyAt <= cluster.FreshFor
	switch {
	case !inTime:
		if v.fresh >= 0 {
			v.stale = op.w.now
		}
		v.fresh = -1
	case v.fresh < 0:
		v.fresh = op.w.now
	}
}

func (op *operator) seeNode(o *corev1.Node) {
	op.tape.node(op.w.now, o)
	if old := op.view.nodes[o.Name]; old != nil && past(o, old) {
		return // a list from the past tells nothing new
	}
	op.view.nodes[o.Name] = o
	delete(op.view.missing, o.Name)
}

func (op *operator) seePod(o *corev1.Pod) {
	op.tape.pod(op.w.now, o)
	old, known := op.view.pods[string(o.UID)]
	if old.gone || known && past(o, old.obj) {
		return
	}
	next := old
	next.obj, next.lived = o, old.lived || !ended(o)
	next.awaited = old.awaited || o.DeletionTimestamp != nil && *o.DeletionGracePeriodSeconds > 0
	if !known {
		next.first = op.w.now
	}
	if !known || old.obj.Status.PodIP != o.Status.PodIP {
		next.shown, next.off = op.w.now, op.stepped
	}
	if known && container(old.obj) != container(o) {
		next.at = op.w.now
	}
	op.view.pods[string(o.UID)] = next.noteReady()
	op.noteName(o)
}

// past reports whether an object is older than another state of it.
func past(o, than metav1.Object) bool {
	return versionOf(o) < versionOf(than)
}

func versionOf(o metav1.Object) int {
	v, _ := strconv.Atoi(o.GetResourceVersion())
	return v
}

// container is the pod's container and whether it runs.
func container(o *corev1.Pod) string {
	if len(o.Status.ContainerStatuses) == 0 {
		return ""
	}
	s := o.Status.ContainerStatuses[0]
	if s.State.Running == nil {
		return s.ContainerID + " down"
	}
	return s.ContainerID
}

// loses remembers that a pod was found gone.
func (op *operator) loses(uid string) {
	p, known := op.view.pods[uid]
	if !known || p.gone {
		return
	}
	n := op.view.nodes[p.obj.Spec.NodeName]
	p.gone, p.goneAt = true, op.w.now
	p.nodeLost = op.view.missing[p.obj.Spec.NodeName] || n != nil && readiness(n).Status == corev1.ConditionUnknown
	op.view.pods[uid] = p
}

// misplaces reports whether the operator must take the client's address for
// somebody else's, by what it has been shown.
func (op *operator) misplaces(c *client) bool {
	own := op.view.pods[c.uid]
	shown := !own.gone && own.obj != nil && seenRight(own, c)
	for uid, p := range op.view.pods {
		if p.gone || uid == c.uid || ended(p.obj) || p.obj.Status.PodIP != c.rec.IPAddr || p.obj.Spec.HostNetwork && !declares(p.obj, c.load.port) {
			continue
		}
		if !shown || outlasts(p.obj, own.obj) {
			return true
		}
	}
	return false
}

// hasSeenDie reports whether a pod with an address was shown while it lived and is
// over: what comes from there may be its process still.
func (op *operator) hasSeenDie(ip string) bool {
	for _, p := range op.view.pods {
		if p.lived && (p.gone || ended(p.obj)) && p.obj.Status.PodIP == ip {
			return true
		}
	}
	return false
}

// knowsDead reports whether the operator has been shown whose an id behind a proxy is,
// and then that he died: nobody else has the name that the id is made of. It is proven at once,
// or after a minute if the pod vanished with its node.
func (op *operator) knowsDead(c *client) bool {
	seen := op.view.pods[c.uid]
	if c.placed != op || c.misplaced || !c.load.proxied || !c.load.named || c.load.stateful || c.load.hostNetwork || !seen.gone {
		return false
	}
	return c.registered < seen.goneAt && (!seen.abrupt() || op.w.now-seen.goneAt > 62*time.Second)
}

// outlasts reports whether of two pods with one address the first must be believed to
// have it: nobody gives an address away that is in use, so it is the one whose end has
// not begun, and the younger one if that is so of both or neither. Creation is told in
// whole seconds.
func outlasts(o, other *corev1.Pod) bool {
	if ending := o.DeletionTimestamp != nil; ending != (other.DeletionTimestamp != nil) {
		return !ending
	}
	return !o.CreationTimestamp.Time.Before(other.CreationTimestamp.Time)
}

func declares(o *corev1.Pod, port int) bool {
	for _, p := range o.Spec.Containers[0].Ports {
		if int(p.ContainerPort) == port {
			return true
		}
	}
	return false
}

func (s seenPod) abrupt() bool { return s.nodeLost && !s.awaited && !ended(s.obj) }

func seenRight(seen seenPod, c *client) bool {
	return container(seen.obj) == c.proc.id && seen.obj.Status.PodIP == c.rec.IPAddr
}
