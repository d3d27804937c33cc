package truth

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kureka/kureka/internal/registry"
)

// due is what must be listed for a pod that somebody registers, by all that the
// operator has been shown.
type due int

const (
	dueAnything due = iota
	dueNothing      // not listed
	dueOut          // not UP, listed or not
	dueListed       // listed, UP or not
	dueFloor        // listed, and UP only for the floor of its application
	dueUp
)

// checkKept looks whether the pods that somebody registers are listed as they are:
// UP as long as they could serve, out while they could not, and gone with what
// registers them, with the pod, and when their own clients say what they are.
func (w *world) checkKept(apps map[string][]*registry.Instance) {
	if len(w.kept) == 0 {
		return
	}
	kept := map[string]*registry.Instance{}
	for _, list := range apps {
		for _, i := range list {
			if i.Kept {
				w.checkKeptFor(i)
				kept[i.PodUID] = i
			}
		}
	}
	for _, p := range w.pods {
		i := kept[p.uid]
		if p.load.keeper != nobody && (i != nil || p.over != w.op) {
			w.checkDue(p, i, apps[p.load.app])
		}
	}
}

// checkKeptFor looks whether a kept instance is bound to the pod that it is kept for.
func (w *world) checkKeptFor(i *registry.Instance) {
	for _, m := range i.Metadata {
		if m.Key == uidMetadata && m.Value == i.PodUID && w.op.view.pods[i.PodUID].obj != nil {
			return
		}
	}
	w.fail("%s is kept for %q, which it does not tell", i.Key(), i.PodUID)
}

// checkDue compares what is listed for a pod with what is due; i is nil if nothing is.
func (w *world) checkDue(p *pod, i *registry.Instance, listed []*registry.Instance) {
	d, why := w.due(p, listed)
	switch {
	case i != nil:
		w.checkListed(p, i, d, why)
		if up := i.Status == registry.Up; d == dueFloor && up && isSpared(listed) {
			w.wants(i.Key(), "OUT_OF_SERVICE because PodNotReady", "of %s is not ready and UP, and enough others of its application are", p.uid)
		}
	case d == dueNothing && w.op.view.pods[p.uid].gone:
		p.over = w.op
	case d >= dueListed && !w.op.isTaken(p.keptKey()):
		w.wants(p.keptKey(), "UP", "of %s could serve and is not kept", p.uid)
	}
}

// isTaken reports whether a client has registered an id that is kept for a pod.
func (op *operator) isTaken(key registry.Key) bool {
	i := op.cluster.Snapshot().Get(key)
	return i != nil && !i.Kept
}

func (w *world) checkListed(p *pod, i *registry.Instance, d due, why string) {
	switch up := i.Status == registry.Up; {
	case d == dueNothing:
		w.wants(i.Key(), "gone", "of %s is kept and %s, and it %s", p.uid, i.Status, why)
	case d == dueOut && up:
		w.wants(i.Key(), "OUT_OF_SERVICE", "of %s is kept and UP, and it %s", p.uid, why)
	case d == dueUp && !up:
		w.wants(i.Key(), "UP", "of %s could serve, is kept and %s because %s", p.uid, i.Status, i.Verdict.Reason)
	case w.isOverlooked(p):
		w.wants(i.Key(), "gone", "of %s is kept, and its pod has been gone for long", p.uid)
	}
}

// isSpared reports whether an application has more in service than its floor asks for.
func isSpared(listed []*registry.Instance) bool {
	up, live := 0, 0
	for _, i := range listed {
		if i.Verdict.Ending {
			continue
		}
		live++
		if i.Status == registry.Up {
			up++
		}
	}
	return up > max(1, live/2)
}

// isOverlooked reports whether a pod's object has been gone for so long that the
// operator must have learned it.
func (w *world) isOverlooked(p *pod) bool {
	return w.api.pod(p) == nil && w.now-max(w.op.steady(), w.goneAt(p.uid)) > w.op.lag+80*time.Second
}

// due is what must be listed for a pod, and why not more.
func (w *world) due(p *pod, listed []*registry.Instance) (due, string) {
	v := &w.op.view
	seen := v.pods[p.uid]
	switch {
	case w.op.hasReadMore(p.uid, seen):
		return dueAnything, ""
	case seen.obj == nil:
		return dueNothing, "has not been shown"
	case v.names[nameOf(seen.obj)] != p.uid:
		return dueNothing, "has a successor"
	case ended(seen.obj):
		return dueNothing, "has ended"
	case seen.gone:
		return w.dueVanished(seen)
	}
	if why := w.op.unclaimed(p, seen.obj); why != "" {
		return dueNothing, why
	}
	if d, why := w.dueOfClient(p, seen, listed); d != dueUp {
		return d, why
	}
	if d, why := w.dueOfAddress(p, seen); d != dueUp {
		return d, why
	}
	d, why := w.dueOfPod(seen)
	if left, because := w.dueOfNode(p.node); left < d {
		return left, because
	}
	return d, why
}

// hasReadMore reports whether a live read has told more of a pod than the watch.
func (op *operator) hasReadMore(uid string, seen seenPod) bool {
	read, known := op.view.read[uid]
	return known && (seen.obj == nil || read > versionOf(seen.obj))
}

// dueVanished is for one whose object is gone: if it vanished with its node it is out,
// and gone after a minute.
func (w *world) dueVanished(seen seenPod) (due, string) {
	switch {
	case !seen.abrupt():
		return dueNothing, "is gone"
	case w.now-seen.goneAt > 62*time.Second && w.now > w.op.resumes+2*time.Second:
		return dueNothing, "vanished with its node long ago"
	case w.now-seen.goneAt < time.Second:
		return dueAnything, "" // found by a live read, which is still being told
	}
	return dueOut, "vanished with its node"
}

// unclaimed says why nobody registers a pod, by what has been shown.
func (op *operator) unclaimed(p *pod, o *corev1.Pod) string {
	if p.load.keeper == annotations && o.Annotations[appAnnotation] == "" {
		return "has no annotations any more"
	}
	if p.load.keeper == offers && op.offered(p.load) == nil {
		return "is registered by nobody any more"
	}
	return ""
}

// offered is the object that registers a workload, as it has been shown.
func (op *operator) offered(load *workload) *offering {
	for _, o := range op.view.offers {
		if o.load == load {
			return o
		}
	}
	return nil
}

// dueOfClient is for a pod whose own client has its say: its record is listed, or it
// has cancelled. Whether a record is bound to the right pod is not asked here.
func (w *world) dueOfClient(p *pod, seen seenPod, listed []*registry.Instance) (due, string) {
	for _, i := range listed {
		if !i.Kept && i.PodUID == p.uid {
			return dueNothing, "has registered itself"
		}
	}
	for _, c := range w.clients {
		if c.proc.pod != p || c.told < w.op.born {
			continue
		}
		if c.cancelled && c.placed == w.op && c.certain() && container(seen.obj) == c.proc.id {
			return dueNothing, "has cancelled"
		}
		return dueAnything, ""
	}
	return dueUp, ""
}

// dueOfAddress is for a pod whose address may be another's.
func (w *world) dueOfAddress(p *pod, seen seenPod) (due, string) {
	ip := seen.obj.Status.PodIP
	if ip == "" {
		return dueAnything, ""
	}
	for uid, other := range w.op.view.pods {
		if uid == p.uid || other.obj.Status.PodIP != ip || !other.claims() {
			continue
		}
		known := !other.gone && w.op.view.names[nameOf(other.obj)] == uid && !w.op.hasReadMore(uid, other)
		switch theirs, ours := outlasts(other.obj, seen.obj), outlasts(seen.obj, other.obj); {
		case !known, theirs && ours: // made in the same second
			return dueAnything, ""
		case theirs:
			return dueNothing, "has an address that is another's"
		}
	}
	return dueUp, ""
}

// claims reports whether a pod may have the address that it was shown with.
func (s seenPod) claims() bool {
	return (!s.gone || s.abrupt()) && !ended(s.obj) && !s.obj.Spec.HostNetwork
}

// dueOfPod is what a pod is due by its own state.
func (w *world) dueOfPod(seen seenPod) (due, string) {
	o := seen.obj
	switch {
	case w.op.keptEnds(seen):
		return dueOut, "is to end"
	case container(o) == "":
		return dueOut, "has not started"
	case condition(o, corev1.ContainersReady):
		return dueUp, ""
	case seen.readyIn == container(o):
		return dueFloor, "is not ready"
	}
	return dueOut, "has not been ready in this container"
}

// noteReady remembers in which container a pod was last shown ready.
func (s seenPod) noteReady() seenPod {
	if condition(s.obj, corev1.ContainersReady) {
		s.readyIn = container(s.obj)
	}
	return s
}

// keptEnds reports whether what has been shown says that a pod's end has begun, or
// that of its container.
func (op *operator) keptEnds(seen seenPod) bool {
	o := seen.obj
	return o == nil || seen.gone || o.DeletionTimestamp != nil || condition(o, corev1.DisruptionTarget) ||
		len(o.Status.ContainerStatuses) > 0 && o.Status.ContainerStatuses[0].State.Running == nil
}

// dueOfNode is what a node's state and silence leave to its pods.
func (w *world) dueOfNode(n *node) (due, string) {
	v := &w.op.view
	o := v.nodes[n.name]
	switch {
	case o == nil:
		return dueUp, "" // nothing is known of it
	case v.missing[n.name], v.read[n.name] > versionOf(o):
		return dueAnything, ""
	case tainted(o, taintOut) && readiness(o).Status != corev1.ConditionTrue:
		return dueNothing, "is on a node that is vouched to be down"
	case hardNotice(o), tainted(o, taintPlanned), n.doubted >= 0 && v.renewed[n.name] <= n.doubted:
		return dueListed, ""
	}
	return dueUp, ""
}

// nodeOf is where an instance is, nil outside.
func (w *world) nodeOf(i *registry.Instance) *node {
	if i.Kept {
		return w.nodes[i.Node]
	}
	return w.speaker(i).node
}
