package truth

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kureka/kureka/internal/registry"
)

// excuse says why a client may be not UP, or nothing if nothing that is written or
// that happened allows that. What is said only about its node, or concluded from
// it, is a notice; floors are checked apart from it.
func (w *world) excuse(c *client) string {
	why, lasting := w.reason(c)
	if why != "" {
		if lasting {
			c.lost = w.now
		}
		return why
	}
	// What was removed for a reason that is over comes back with its next request.
	if c.lost >= 0 && (c.asked <= c.lost || w.now-c.asked < 2*time.Second) {
		return "has had no chance to come back"
	}
	c.lost = -1
	return ""
}

// reason is excuse for this very moment. A lasting one allows to remove the record.
func (w *world) reason(c *client) (why string, lasting bool) {
	switch {
	case !c.proc.works() || c.done || c.cancelled:
		return "does not live", true
	case c.registered >= w.op.born && w.now-max(c.heard, c.asked) > w.patience(c):
		return "is silent", true
	case !c.reachesOp():
		if c.proc.pod != nil {
			why, lasting = w.reasonInCluster(c) // which it can do nothing about meanwhile
		}
		return cmp.Or(why, "cannot be reached"), lasting
	case c.told < w.op.born:
		return "has not registered", false
	case c.misplaced:
		return "registered from an address that was shown as another's", true
	case w.isDisplaced(c):
		return "has not been heard since it was shown who registered its id", false
	case c.proc.pod == nil:
		return "", false
	}
	return w.reasonInCluster(c)
}

// isDisplaced reports whether a client's record may be another's, who registered the id
// in a stale view: it comes back with its first request after the watches have told.
func (w *world) isDisplaced(c *client) bool {
	if c.displaced < 0 || c.registered > c.displaced {
		return false
	}
	told := max(c.displaced, w.op.view.fresh) + 12*time.Second
	return w.op.view.fresh < 0 || c.asked < told || w.now-c.asked < 2*time.Second
}

// reasonInCluster looks at what is written about pod and node, and at silence.
func (w *world) reasonInCluster(c *client) (why string, lasting bool) {
	if why, lasting = w.reasonOfPod(c); why != "" {
		return why, lasting
	}
	if why, lasting = w.reasonOfNode(c.node); why != "" {
		return why, lasting
	}
	if c.doubted >= 0 && c.heard <= c.doubted && w.op.view.renewed[c.node.name] <= c.doubted {
		return "its node is silent", false
	}
	return "", false
}

// leaseDuration is the default; the clients of the model ask for no other.
const leaseDuration = 90 * time.Second

// patience is how long a client may be silent before its lease may expire.
func (w *world) patience(c *client) time.Duration {
	lease := leaseDuration
	if w.outageExplains(c) {
		return time.Hour
	}
	v := &w.op.view
	if c.proc.pod == nil || !c.certain() || v.fresh < 0 || w.now-v.fresh < 2*time.Second {
		return lease
	}
	seen := v.pods[c.uid]
	if obj := w.api.pod(c.proc.pod); obj == nil || seen.obj == nil || !condition(seen.obj, corev1.ContainersReady) {
		return lease
	}
	return lease + 90*time.Second // readyGraceSeconds
}

// outageExplains reports whether a client is silent only because nobody could reach
// the operator, and cannot be expected back yet: a client backs off for about as
// long as the outage lasted, at most 300 s.
func (w *world) outageExplains(c *client) bool {
	if c.alone || w.plan.unprotected {
		return false
	}
	for _, t := range w.troubles {
		first := c.heard + c.load.interval + c.waits() + time.Second // when a beat was missed at the latest
		if t.to-t.from >= 30*time.Second && t.to > c.heard && t.from <= first && w.now <= t.to+10*c.load.interval+20*time.Second {
			return true
		}
	}
	return false
}

// reasonOfPod looks at what is written about the pod, now or as it was delivered.
func (w *world) reasonOfPod(c *client) (why string, lasting bool) {
	p := c.proc.pod
	obj, seen := w.api.pod(p), w.op.view.pods[p.uid]
	switch {
	case obj == nil || seen.gone:
		return "its pod is gone", true
	case seen.obj == nil && (w.op.view.fresh >= 0 || w.now-w.op.view.stale < 2*time.Second):
		return "its pod has not been shown", false
	case seen.obj == nil && w.op.hasSeenDie(c.rec.IPAddr):
		return "its address is that of one who has been seen to die", false
	case seen.obj == nil:
		return "", false // in a stale view nobody is hidden
	case seen.at >= max(c.heard, c.asked) && !w.registrationTells(c):
		return "has not been heard since its container changed", false
	}
	if why, lasting = reasonInPod(obj, c); why != "" {
		return why, lasting
	}
	return reasonInPod(seen.obj, c)
}

// reasonInPod looks at one state of the pod.
func reasonInPod(o *corev1.Pod, c *client) (why string, lasting bool) {
	switch {
	case ended(o):
		return "its pod has ended", true
	case o.DeletionTimestamp != nil:
		return "its pod is to end", false
	case condition(o, corev1.DisruptionTarget):
		return "its pod is to be disrupted", false
	case container(o) != c.proc.id:
		return "its container is not the one that is written", false
	case o.Status.PodIP != c.rec.IPAddr:
		return "its address is not its pod's", true
	}
	return "", false
}

// registrationTells reports whether the time of a client's registration must tell
// the operator that it is the new container's. It knows a node's clock no better than by
// what a Lease takes to arrive.
func (w *world) registrationTells(c *client) bool {
	p := c.proc.pod
	if wall(c.registered-w.op.lag, c.node.clock).Before(c.proc.began.Time) {
		return false
	}
	return p.placed == w.op && p.first != c.proc && c.registered >= w.op.born && w.op.settled() && w.now-w.op.view.leases[c.node.name] < 15*time.Second
}

// reasonOfNode looks at what is written about the node.
func (w *world) reasonOfNode(n *node) (why string, lasting bool) {
	if w.op.view.missing[n.name] {
		return "its node is missing", false
	}
	for _, o := range []*corev1.Node{w.api.node(n.name), w.op.view.nodes[n.name]} {
		switch {
		case o == nil:
			return "its node is missing", false
		case tainted(o, taintOut) && readiness(o).Status != corev1.ConditionTrue:
			return "somebody vouches that its node is down", true
		case hardNotice(o), tainted(o, taintPlanned):
			return "its node has notice", false
		}
	}
	return "", false
}

func hardNotice(o *corev1.Node) bool {
	return tainted(o, taintSpot) || readiness(o).Message == "node is shutting down"
}

// certain reports whether the operator can tell which pod the client belongs to. A
// declared port tells nothing of an id that was another workload's before.
func (c *client) certain() bool {
	return !c.misplaced && (c.source.IsValid() && !c.load.hostNetwork || c.load.declares && !c.foreign || c.load.named && !c.load.hostNetwork)
}

// suspect notes which clients may be taken out because their nodes are silent: in a
// view that has been in time long enough, a Lease that has not come for long, on a
// node from which a heartbeat is missing and none has come, unless so many nodes
// are silent together that the network is the likelier cause.
func (w *world) suspect() {
	v := &w.op.view
	if v.fresh < 0 || w.now-v.fresh < 19*time.Second {
		return
	}
	for _, n := range w.order {
		last, leased := v.leases[n.name]
		if o := v.nodes[n.name]; !leased && (o == nil || readiness(o).Status != corev1.ConditionUnknown) || w.now-max(last, v.fresh) < 20*time.Second || !w.confirms(n, max(last, v.fresh)) {
			continue
		}
		n.doubted = w.now
		for _, c := range w.clients {
			if c.node == n {
				c.doubted = w.now
			}
		}
	}
}

// confirms reports whether a second witness may say that a node is silent: probes, or
// a heartbeat that is missing on a node that no probe has shown to live.
func (w *world) confirms(n *node, silent time.Duration) bool {
	if w.op.provenSilent(n) {
		n.lost = w.now
		return true
	}
	return !w.op.provenAlive(n) && !w.frozen(n) && w.misses(n, silent)
}

// frozen reports whether certainly too many nodes are silent together with one.
func (w *world) frozen(n *node) bool {
	v := &w.op.view
	var zone, zoneSilent, all, silent int
	for _, o := range w.order {
		last, leased := v.leases[o.name]
		if !leased || v.nodes[o.name] == nil || v.missing[o.name] {
			continue
		}
		quiet := 0
		if w.now-max(last, v.fresh) > 13*time.Second {
			quiet = 1
		}
		all++
		silent += quiet
		if o.zone == n.zone {
			zone++
			zoneSilent += quiet
		}
	}
	return zone >= 3 && zoneSilent*100 >= zone*55 || all >= 2 && silent*100 >= all*55
}

// misses reports whether a heartbeat from the node may count as missing, and none
// has come that speaks for the node. That does only one which was heard later than the
// Lease would have been seen renewed: nobody knows of renewals in a view that was not
// fresh, so its Lease is silent only since the view is. And nobody knows where somebody
// is whose pod has not been shown with the address, unless that is in the node's range.
func (w *world) misses(n *node, silent time.Duration) bool {
	missing := false
	for _, c := range w.clients {
		i := w.op.cluster.Snapshot().Get(c.key)
		if c.node != n || c.heard < w.op.born || i == nil {
			continue
		}
		placed := i.Node == n.name || w.plan.podRanges && c.source.IsValid()
		if placed && c.heard > silent+13*time.Second {
			return false
		}
		missing = missing || w.now-c.heard >= c.load.interval+2*time.Second
	}
	return missing
}

// ends reports whether what was delivered says that an instance's own end has
// begun, or that its process is another one by now.
func (w *world) ends(i *registry.Instance) bool {
	if i.Kept {
		return w.op.keptEnds(w.op.view.pods[i.PodUID])
	}
	c := w.speaker(i)
	if c == nil || c.proc.pod == nil {
		return false
	}
	if c.misplaced {
		return true // as far as the operator can know
	}
	seen := w.op.view.pods[c.uid]
	if seen.obj == nil {
		return false
	}
	return seen.gone || seen.obj.DeletionTimestamp != nil || condition(seen.obj, corev1.DisruptionTarget) ||
		container(seen.obj) != "" && (container(seen.obj) != c.proc.id || seen.at >= c.heard)
}
