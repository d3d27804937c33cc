package truth

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kureka/kureka/internal/registry"
)

// check states what must hold after everything that the operator learns.
func (w *world) check() {
	op := w.op
	if w.failure != "" || !op.running || op.paused() {
		return
	}
	apps := map[string][]*registry.Instance{}
	for i := range op.cluster.Snapshot().All() {
		apps[i.App] = append(apps[i.App], i)
		w.checkBinding(i)
		w.checkMark(i)
		w.checkDead(i)
	}
	for _, app := range slices.Sorted(maps.Keys(apps)) {
		w.checkFloor(apps[app])
	}
}

// checkEverySecond states what must hold once everything has settled.
func (w *world) checkEverySecond() {
	if w.failure != "" || !w.op.running {
		return
	}
	snap := w.op.cluster.Snapshot()
	open := w.op.gate.Open(w.op.now())
	for _, c := range w.living() {
		w.checkReturned(c, open)
		w.checkStrictly(c)
		if w.excuse(c) != "" {
			continue
		}
		i := snap.Get(c.key)
		switch {
		case i == nil:
			w.wants(c.key, "UP", "of %s lives and is heard, and is gone%s", c.proc.id, w.explain(c))
		case i.Status != registry.Up:
			w.wants(c.key, "UP", "of %s lives and is heard, and is %s because %s", c.proc.id, i.Status, i.Verdict.Reason)
		}
	}
}

// checkStrictly accepts no excuse from somebody who registered a moment ago or more.
func (w *world) checkStrictly(c *client) {
	if w.plan.strict == 0 || w.now < w.plan.strict || c.registered < w.op.born || w.now-c.registered < 2*time.Second {
		return
	}
	if i := w.op.cluster.Snapshot().Get(c.key); i == nil || i.Status != registry.Up {
		w.wants(c.key, "UP", "of %s lives and is not UP (%s)", c.proc.id, w.excuse(c))
	}
}

// explain says what the product knows of somebody who is not listed.
func (w *world) explain(c *client) string {
	if e, known := w.op.cluster.Explain(w.op.now(), c.key); known {
		return ", unlisted: " + e.Unbound
	}
	return ""
}

// checkReturned looks whether lists are answered before everybody could come back
// to an operator that has just started.
func (w *world) checkReturned(c *client, open bool) {
	if !open || w.op.born == 0 || !c.isExpected() {
		return
	}
	away, alone := w.absence(c)
	// One that waits for answers may have been given up a moment ago, and pauses for
	// two intervals; and some were away before the operator was.
	if !alone || c.load.waits && away.to-away.from < 30*time.Second || c.heard < away.from-c.load.interval-time.Second {
		return
	}
	w.fail("lists are answered, and %s of %s has had no time to come back", c.key, c.proc.id)
}

// isExpected reports whether a client had registered with an operator before this
// one and has nothing else that keeps it away.
func (c *client) isExpected() bool {
	return c.registered >= 0 && c.registered < c.w.op.born && !c.alone && c.lost < 0 && !c.cancelled && c.reachesOp()
}

// absence is the time in which no operator ran before this one, and whether nothing
// else kept a client away.
func (w *world) absence(c *client) (away trouble, alone bool) {
	alone = true
	for _, t := range w.troubles {
		if t.to == w.op.born {
			away = t
		} else if t.to > c.heard && t.from < w.now {
			alone = false
		}
	}
	return away, alone
}

// checkBinding looks whether a record is bound to the pod it came from.
func (w *world) checkBinding(i *registry.Instance) {
	c := w.speaker(i)
	if i.PodUID == "" || c == nil || c.misplaced || i.PodUID == c.uid {
		return
	}
	if !w.mayConfuse(c, w.pod(i.PodUID)) {
		w.wants(i.Key(), "bound "+c.uid, "of %s (pod %q) is bound to pod %s", c.proc.id, c.uid, i.PodUID)
	}
	c.misplaced = true
}

// checkMark looks whether somebody who lives and whom the network keeps away is out
// because it is silent: only others of its node tell the one from the other, or, if
// there are none, most others. That is asked when it is taken out: those who told it
// may be gone when it works again.
func (w *world) checkMark(i *registry.Instance) {
	c, marked := w.speaker(i), i.Verdict.Reason == registry.ReasonHeldExpired
	if c == nil {
		return
	}
	before := c.marked
	c.marked = marked
	if !marked || before || !c.proc.works() || c.misplaced {
		return
	}
	if !w.othersSpeak(c) {
		w.wants(i.Key(), "UP", "of %s is out for its silence, and nobody on its node has been heard since", c.proc.id)
	}
}

// othersSpeak reports whether another client of a client's node has been heard since
// its lease ended or, if it is alone there, at least half of all others.
func (w *world) othersSpeak(c *client) bool {
	alone, others, heard := true, 0, 0
	for _, o := range w.clients {
		if o == c || w.op.cluster.Snapshot().Get(o.key) == nil {
			continue
		}
		others++
		speaks := o.heard > c.heard+leaseDuration
		if speaks {
			heard++
		}
		if o.node == c.node {
			alone = false
			if speaks {
				return true
			}
		}
	}
	return alone && 2*heard >= others
}

// mayConfuse reports whether the operator cannot tell a client from one of another
// pod: an address and a port are all that is told, and the workload is the same; or
// its own pod has not been shown, so another one has its address. One that was made
// after the client had spoken is no such pod, unless it goes by the same name.
func (w *world) mayConfuse(c *client, with *pod) bool {
	if !c.source.IsValid() && !c.load.named && with.load == c.load {
		return true
	}
	p := c.proc.pod
	if p == nil {
		return false
	}
	seen := w.op.view.pods[c.uid].obj
	if seen == nil {
		return w.stepped || c.names(with) || with.created <= c.registered+time.Second
	}
	return container(seen) != c.proc.id || p.told.IsValid() && p.placed != w.op
}

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
	case i.Status == registry.Up && newer(container(seen.obj), c.proc.id) && !w.heardSince(c.proc.pod, seen.at):
		w.wants(i.Key(), "OUT_OF_SERVICE because ContainerRestarted", "of %s is UP, and the container is %s", c.proc.id, container(seen.obj))
	}
}

// overdue reports whether a pod's object is gone for so long that the operator must
// have learned it.
func (w *world) overdue(c *client) bool {
	return w.api.pod(c.proc.pod) == nil && w.now-max(w.op.steady(), w.goneAt(c.uid)) > w.op.lag+20*time.Second
}

// isGhost reports whether a view that is fresh must show that nobody has a client's
// address any more.
func (w *world) isGhost(c *client) bool {
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

func (s seenPod) abrupt() bool { return s.nodeLost && !s.awaited && !ended(s.obj) }

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

func seenRight(seen seenPod, c *client) bool {
	return container(seen.obj) == c.proc.id && seen.obj.Status.PodIP == c.rec.IPAddr
}

// checkFloor looks whether notices and conclusions leave an application enough.
func (w *world) checkFloor(listed []*registry.Instance) {
	up, livingOnes := 0, 0
	var last, planned *registry.Instance
	for _, i := range listed {
		if i.Status == registry.Up {
			up++
		}
		if w.ends(i) {
			continue
		}
		livingOnes++
		if !couldServe(i) {
			continue
		}
		last = i
		if c := w.speaker(i); c.node == nil || !w.hasHardNotice(c.node) {
			planned = i
		}
	}
	switch {
	case up == 0 && last != nil:
		w.wants(last.Key(), "UP because HeldByFloor", "is out because %s, and nobody else of its application is in service", last.Verdict.Reason)
	case up < livingOnes/2 && planned != nil:
		w.wants(planned.Key(), "UP because HeldByFloor", "is out because %s, and only %d of %d are in service",
			planned.Verdict.Reason, up, livingOnes)
	}
}

// couldServe reports whether an instance is out of service against its own will.
func couldServe(i *registry.Instance) bool {
	return i.Status == registry.OutOfService && i.Client == registry.Up && i.Override == registry.None
}

func (w *world) hasHardNotice(n *node) bool {
	o := w.op.view.nodes[n.name]
	return o == nil || hardNotice(o) || w.op.view.missing[n.name]
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
