package truth

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kureka/kureka/internal/registry"
)

// checkDead looks whether somebody is listed who is known to be dead.
func (w *world) checkDead(i *registry.Instance) {
	c := w.speaker(i)
	if c == nil || c.proc.pod == nil || !c.certain() || c.registered < w.op.born {
		return
	}
	seen := w.op.view.pods[c.uid]
	if seen.obj == nil {
		if w.isGhost(c) {
			w.wants(i.Key(), "gone", "of %s is listed, its pod has been gone for long, and its address is nobody's", c.proc.id)
		}
		return
	}
	w.notePlace(c, seen)
	if c.placed == w.op {
		w.checkEnded(i, c, seen)
	}
}

// notePlace remembers that the operator has been shown whose a client's address is.
func (w *world) notePlace(c *client, seen seenPod) {
	if seen.gone || ended(seen.obj) || !seenRight(seen, c) || !w.isOlder(seen, c) {
		return
	}
	if p := c.proc.pod; p.placed != w.op {
		p.placed, p.first = w.op, c.proc
	}
	c.placed = w.op
}

// isOlder reports whether the operator can tell that a pod is older than what its
// client said last, so that nobody else can have said it: the client names the pod,
// the pod was seen before, it was made before by the operator's clock, which may be
// behind the API server's, or a heartbeat came later from the pod's own address.
func (w *world) isOlder(seen seenPod, c *client) bool {
	created := seen.obj.CreationTimestamp.Sub(wall(0, seen.off))
	return c.names(c.proc.pod) || c.registered > seen.first || created+time.Second <= c.registered ||
		c.source.IsValid() && !c.load.hostNetwork && c.heard > seen.shown
}

func (w *world) checkEnded(i *registry.Instance, c *client, seen seenPod) {
	switch {
	case seen.gone && !w.mayLinger(c, seen):
		w.wants(i.Key(), "gone", "of %s is listed, and its pod is gone since %s", c.proc.id, seen.goneAt)
	case ended(seen.obj):
		w.wants(i.Key(), "gone", "of %s is listed, and its pod has ended", c.proc.id)
	case !seen.gone && w.overdue(c):
		w.wants(i.Key(), "gone", "of %s is listed, and its pod has been gone for long", c.proc.id)
	case i.Status == registry.Up && newer(container(seen.obj), c.proc.id) && !w.heardSince(c.proc.pod, seen.at) && !blurs(seen.obj, c):
		w.wants(i.Key(), "OUT_OF_SERVICE because ContainerRestarted", "of %s is UP, and the container is %s", c.proc.id, container(seen.obj))
	}
}

// overdue reports whether a pod's object is gone for so long that the operator must
// have learned it.
func (w *world) overdue(c *client) bool {
	return w.api.pod(c.proc.pod) == nil && w.now-max(w.op.steady(), w.goneAt(c.uid)) > w.op.lag+20*time.Second
}

// isGhost reports whether a view that is fresh must show that nobody has a client's
// address any more: it is in the range of a node that is shown.
func (w *world) isGhost(c *client) bool {
	if w.op.view.nodes[c.node.name] == nil || w.op.view.missing[c.node.name] {
		return false
	}
	return w.plan.podRanges && !c.load.hostNetwork && w.op.settled() && w.overdue(c) && w.goneAt(c.uid) < w.now-30*time.Second && !w.op.misplaces(c)
}

func ended(o *corev1.Pod) bool {
	return o.Status.Phase == corev1.PodFailed || o.Status.Phase == corev1.PodSucceeded
}

// newer reports whether a container came after another of its pod, or is that one
// and does not run.
func newer(seen, id string) bool {
	if seen == "" || seen == id {
		return false
	}
	return seen == id+" down" || len(seen) > len(id) || len(seen) == len(id) && seen > id
}

// blurs reports whether a client registered in the second in which its container
// ended and the next one began: nobody can tell whose registration that was.
func blurs(o *corev1.Pod, c *client) bool {
	s := o.Status.ContainerStatuses[0]
	if s.State.Running == nil || s.LastTerminationState.Terminated == nil {
		return false
	}
	over := s.LastTerminationState.Terminated.FinishedAt
	return s.State.Running.StartedAt.Equal(&over) && !wall(c.registered, c.node.clock).Before(over.Time)
}

// heardSince reports whether any process of the pod has been heard.
func (w *world) heardSince(p *pod, at time.Duration) bool {
	for _, c := range w.clients {
		if c.proc.pod == p && (c.heard > at || !c.proc.alive && c.heard > c.proc.died) { // or handled late, after its end
			return true
		}
	}
	return false
}

// mayLinger reports whether a pod that was found gone may be listed still: it went
// without a word while its node was missing or Unknown, and its client was heard.
func (w *world) mayLinger(c *client, seen seenPod) bool {
	if w.now < w.op.resumes+2*time.Second {
		return seen.abrupt() // no time has passed for the operator yet
	}
	return seen.abrupt() && w.now-seen.goneAt <= 61*time.Second && w.now-w.heardAs(c) <= c.rhythm()+5*time.Second
}

// heardAs is when the operator last heard a client or one that came after it in its
// pod, whose heartbeats renew what it registered.
func (w *world) heardAs(c *client) time.Duration {
	last := c.heard
	for _, o := range w.clients {
		if o.key == c.key && o.uid == c.uid {
			last = max(last, o.heard)
		}
	}
	return last
}

// checkGone looks, when a pod has just been found gone, whether one that vanished
// with its node was spared until its silence tells.
func (w *world) checkGone(op *operator, uid string) {
	seen := op.view.pods[uid]
	if seen.obj == nil || !seen.abrupt() || seen.goneAt != w.now {
		return
	}
	for _, c := range w.living() {
		if c.uid == uid && w.isSpared(c, seen) && op.cluster.Snapshot().Get(c.key) == nil {
			w.wants(c.key, "OUT_OF_SERVICE because PodGoneWithNode",
				"of %s was heard %s ago and is removed at once, its pod having vanished with its node", c.proc.id, w.now-c.heard)
		}
	}
}

// isSpared reports whether a client whose pod vanished with its node was there
// before and has been heard.
func (w *world) isSpared(c *client, seen seenPod) bool {
	if !c.certain() || c.placed != w.op || c.registered < w.op.born || c.lost >= 0 {
		return false
	}
	_, vouched := w.reasonOfNode(c.node)
	return !vouched && w.now-c.heard <= c.load.interval && seenRight(seen, c)
}

// goneAt is when a pod's object was removed.
func (w *world) goneAt(uid string) time.Duration {
	for _, c := range slices.Backward(w.api.pods.history) {
		if c.gone && string(c.obj.UID) == uid {
			return c.at
		}
	}
	return w.now
}

// wasMissing reports whether a node's object did not exist a moment ago.
func (w *world) wasMissing(name string) bool {
	for _, c := range slices.Backward(w.api.nodes.history) {
		if c.obj.Name == name && (c.gone || w.now-c.at > time.Second) {
			return c.gone
		}
	}
	return true
}
