package cluster

import (
	"slices"
	"strings"
	"time"

	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/registry"
)

// attach binds an instance to the candidate, unless another living pod has
// registered the same id: then nobody's death may remove the record. A pod whose
// namespace has to stay back does not count. old is what is known of the id so far,
// the instance itself when it is bound anew.
func (c *Cluster) attach(in, old *instance, p *pod, why string) {
	var known instance
	if old != nil {
		known = *old
	}
	users := slices.DeleteFunc(livingOf(known.users), func(user *pod) bool {
		return p != nil && p.Namespace != user.Namespace && c.comesSecond(in.key.App, user)
	})
	if p != nil && !slices.Contains(users, p) {
		users = append(users, p)
	}
	c.leave(in)
	if p != known.pod {
		in.silent, in.rebooted = conclusion{}, time.Time{}
	}
	in.users = users
	if p != nil && len(users) > 1 {
		in.sharer, p, why = p, nil, UnboundSharedID
	}
	in.pod, in.unbound, in.byAddress = p, why, p != nil && p.answersAt(in)
	if in.unlisted = c.mustHide(in, old); in.unlisted {
		in.unbound = UnboundPodNotSeen
	}
	in.unlisted = in.unlisted || c.outranked(in)
	in.chooseContainer(known)
}

// mustHide reports whether an instance is not to be listed yet, because its pod is
// either still to be seen or gone. One that was listed is hidden only by a view that
// has settled: the watches come back one after the other. Where its address was a
// pod's that has ended, that pod's namespace says whether verdicts act; an address of
// nobody has no namespace.
func (c *Cluster) mustHide(in, old *instance) bool {
	if in.pod != nil || in.sharer != nil || !c.fresh {
		return false
	}
	if old != nil && !old.unlisted && !c.settled {
		return false
	}
	if in.unbound == UnboundPodNotSeen {
		p, _ := c.speaker(in)
		return !c.observes(p)
	}
	return !c.fallback.Observe && c.isGhost(in)
}

// isHidden reports whether the client's own record is not listed until its pod is seen.
func (in *instance) isHidden() bool {
	return in.unlisted && in.unbound == UnboundPodNotSeen && in.rec.From == ""
}

func livingOf(pods []*pod) []*pod {
	var out []*pod
	for _, p := range pods {
		if p.alive() {
			out = append(out, p)
		}
	}
	return out
}

// chooseContainer finds the instance's container in its pod. The incarnation that
// it belonged to so far, in the same pod, stays its baseline.
func (in *instance) chooseContainer(known instance) {
	in.container, in.baseline = "", ""
	if in.pod == nil {
		return
	}
	found := in.pod.containerOf(in)
	if found == nil {
		return
	}
	in.container, in.baseline = found.Name, found.ID
	if known.kept == nil && known.pod == in.pod && known.container == found.Name && known.baseline != "" {
		in.baseline = known.baseline
	}
}

func (p *pod) containerOf(in *instance) *evidence.Container {
	for _, port := range in.rec.Ports() {
		if p.Declares(port) {
			return p.ContainerFor(port)
		}
	}
	return p.ContainerFor(0)
}

// binding is what the registry needs to know.
func (c *Cluster) binding(in *instance) registry.Binding {
	b := registry.Binding{Partition: foreign(in.rec), Unlisted: in.unlisted, Contested: len(in.turnedAway) > 0, Verdict: c.inForce(in)}
	b.Unsure = in.unbound == UnboundYounger || in.isHidden()
	if p := in.pod; p != nil {
		b.Partition, b.PodUID, b.Node, b.PodReady = p.Namespace, p.UID, p.Node, p.WorksForKubelet()
		b.HostName = c.hostNameFor(in)
	}
	return b
}

// hostNameFor is the host name to show instead of the one that the client
// registered, empty to leave it: nobody else can resolve the name of a pod.
func (c *Cluster) hostNameFor(in *instance) string {
	p := in.pod
	if in.kept != nil || len(p.IPs) == 0 || !c.policyOf(p.Namespace).HostNamePodIP ||
		!strings.EqualFold(in.rec.HostName, p.Host()) && !strings.EqualFold(in.rec.HostName, p.Name) {
		return ""
	}
	if p.Has(in.ip) {
		return in.ip.String()
	}
	return p.IPs[0].String()
}

// foreign names the partition of what a peer sends: its silence is no sign about
// anybody else.
func foreign(rec *registry.Record) string {
	if rec.From == "" {
		return ""
	}
	return "peer:" + rec.From
}

// rebind looks again for the pod of a registration, now that more is known. The
// record of an id that several pods use goes with the pod that registered it
// last: the heartbeats of the others are then answered 404, and they register.
func (c *Cluster) rebind(now time.Time, in *instance) {
	if in.sharer != nil && !in.sharer.alive() {
		c.cancel(now, in, ReasonRegistrantGone)
		return
	}
	p, why := c.lateCandidate(now, in)
	if p != nil && c.intrudes(in, in, p, why) {
		c.cancel(now, in, ReasonRegistrantGone) // its address is a dying pod's by now
		return
	}
	before := *in
	c.place(now, in, &before, p, why)
	if in.pod == before.pod && in.sharer == before.sharer && in.unbound == before.unbound && in.unlisted == before.unlisted {
		c.track(in)
		return
	}
	c.reg.Rebind(now, in.key, c.binding(in))
	c.placed(now, in, &before)
	if in.pod != nil {
		c.evaluate(now, in.pod)
	}
	c.settle(now, in.key.App)
}

// place binds an instance and decides about it, before the registry is told.
func (c *Cluster) place(now time.Time, in, old *instance, p *pod, why string) {
	c.attach(in, old, p, why)
	c.decide(now, in)
	in.held = in.decided.Class.HasFloor() && c.mustStay(in, old)
}

// placed keeps an instance that the registry knows now, and tells what it brought:
// a verdict that was in force already, or that several living pods use one id.
func (c *Cluster) placed(now time.Time, in, before *instance) {
	c.track(in)
	if in.pod != nil {
		if before == nil || before.pod != in.pod {
			in.former = c.last[in.key]
		}
		c.last[in.key] = in.pod.ownerOrSelf()
		delete(in.pod.cancelled, in.key.App)
	}
	var was registry.Verdict
	shared := false
	if before != nil {
		was, shared = c.inForce(before), before.sharer != nil
	}
	if v := c.inForce(in); v != was && !in.unlisted {
		c.tell(now, in, v)
	}
	if p := in.sharer; p != nil && !shared {
		c.report(Change{
			At: now, Key: in.key, Namespace: p.Namespace, Pod: p.Name, PodUID: p.UID, Node: p.Node,
			Effect: Noted, Reason: UnboundSharedID, Witness: "registry", Detail: "other living pods register the same instance id",
		})
	}
}
