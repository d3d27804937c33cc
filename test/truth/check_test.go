package truth

import (
	"maps"
	"slices"
	"time"

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
	w.checkKept(apps)
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
	if i.PodUID == "" || c == nil || i.PodUID == c.uid {
		return
	}
	with := w.pod(i.PodUID)
	if w.knowsID(c) && with.load != c.load {
		w.wants(i.Key(), "unbound AddressIsTheOnlyFact", "of %s (pod %q) is bound to pod %s, of another workload", c.proc.id, c.uid, i.PodUID)
	}
	if !c.misplaced && !w.mayConfuse(c, with) {
		w.wants(i.Key(), "bound "+c.uid, "of %s (pod %q) is bound to pod %s", c.proc.id, c.uid, i.PodUID)
	}
	c.misplaced = true
}

// knowsID reports whether the operator has been shown, of a client behind a proxy,
// whose pod it was when its pod's first client registered the same id.
func (w *world) knowsID(c *client) bool {
	p := c.proc.pod
	return p != nil && c.load.proxied && p.placed == w.op && p.first.c.key == c.key
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
		if n := w.nodeOf(i); n == nil || !w.hasHardNotice(n) && !w.isLost(n) {
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

// isLost reports whether probes may have confirmed that a node is silent.
func (w *world) isLost(n *node) bool { return n.lost >= 0 && w.op.view.renewed[n.name] <= n.lost }

func (w *world) hasHardNotice(n *node) bool {
	o := w.op.view.nodes[n.name]
	return o == nil || hardNotice(o) || w.op.view.missing[n.name]
}
