package cluster

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/registry"
)

// Why a registration is bound to no pod.
const (
	UnboundNoOwner    = "NoPodOwnsAddress"
	UnboundForeign    = "AddressIsNotTheSource's"
	UnboundOneFact    = "AddressIsTheOnlyFact"
	UnboundSharedID   = "SharedInstanceID"
	UnboundPodNotSeen = "PodNotSeenYet"
	UnboundObserved   = "PodGoneButOnlyObserved"
	UnboundYounger    = "PodMayBeYounger"
	UnboundReplicated = "CopiedFromAPeer"
)

// candidate finds the pod that a registration belongs to, or says why there is
// none. A pod that has ended keeps its address, which the next one may have
// already although the watch has not shown that.
func (c *Cluster) candidate(in *instance) (*pod, string) {
	p, why := c.speaker(in)
	if p != nil && p.Terminal() {
		return nil, UnboundPodNotSeen
	}
	return p, why
}

// lateCandidate is candidate for a registration that came before its pod was seen.
// The pod that has the address by now may be the next one, so it must be older than
// the registration or be named in it. Creation is told in whole seconds.
func (c *Cluster) lateCandidate(in *instance) (*pod, string) {
	p, why := c.candidate(in)
	if p == nil || in.pod != nil || in.mentions(p) || slices.Contains(in.users, p) {
		return p, why
	}
	if p.Created.Add(time.Second).After(in.registration) {
		return nil, UnboundYounger
	}
	return p, why
}

// speaker finds the pod that a registration speaks of. One sent by a pod itself is
// believed on its address. Where the sender is unknown an address alone proves
// nothing, because addresses are reused while old configuration lives on: a
// second fact is needed.
// What a peer sends binds nothing, but does not undo what the client's own
// registration bound.
func (c *Cluster) speaker(in *instance) (*pod, string) {
	if in.rec.From != "" {
		if in.pod != nil {
			return in.pod, ""
		}
		return nil, UnboundReplicated
	}
	owner := c.ownerOf(in)
	if sender := c.sender(in.source); sender != nil {
		switch {
		case sender.Has(in.ip):
			return sender, ""
		case owner == nil && in.mentions(sender):
			return sender, ""
		}
		return nil, UnboundForeign
	}
	switch {
	case owner == nil:
		return nil, UnboundNoOwner
	case owner.HostNetwork: // owned by address and declared port: two facts already
		return owner, ""
	case in.mentions(owner), c.portConfirms(in, owner):
		return owner, ""
	}
	return nil, UnboundOneFact
}

// PodAt returns the namespace and name of the pod that alone sends from an address,
// divided by a slash, "" if there is none.
func (c *Cluster) PodAt(src netip.Addr) string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	p := c.sender(src)
	if p == nil || p.proven {
		return ""
	}
	return p.Namespace + "/" + p.Name
}

// sender is the pod that a source address identifies, nil when it does not.
func (c *Cluster) sender(src netip.Addr) *pod {
	if !src.IsValid() {
		return nil
	}
	return c.owners[netip.AddrPortFrom(src, 0)]
}

// ownerOf is the pod that owns the registered address, for a pod on the host
// network together with a port.
func (c *Cluster) ownerOf(in *instance) *pod {
	if !in.ip.IsValid() {
		return nil
	}
	if p := c.owners[netip.AddrPortFrom(in.ip, 0)]; p != nil {
		return p
	}
	for _, port := range in.rec.Ports() {
		if p := c.owners[netip.AddrPortFrom(in.ip, uint16(port))]; p != nil {
			return p
		}
	}
	return nil
}

// answersAt reports whether the pod has the address that the instance registered.
func (p *pod) answersAt(in *instance) bool {
	if !p.Has(in.ip) {
		return false
	}
	return !p.HostNetwork || slices.ContainsFunc(in.rec.Ports(), p.Declares)
}

// mentions reports whether the host name or the id contains the pod's name, as
// they do with the default settings of most clients.
func (in *instance) mentions(p *pod) bool {
	return strings.Contains(in.rec.HostName, p.Name) || strings.Contains(in.rec.ID, p.Name)
}

// portConfirms takes a declared port as the second fact, but not for an id that
// belonged to another workload's pod: both may well declare 8080.
func (c *Cluster) portConfirms(in *instance, p *pod) bool {
	if l, known := c.last[in.key]; known && l != p.ownerOrSelf() {
		return false
	}
	return slices.ContainsFunc(in.rec.Ports(), p.Declares)
}

func (p *pod) ownerOrSelf() string {
	if p.Owner != "" {
		return p.Owner
	}
	return p.UID
}

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
	in.container, in.baseline, in.since = found.Name, found.ID, in.registration
	if known.kept == nil && known.pod == in.pod && known.container == found.Name && known.baseline != "" {
		in.baseline, in.since = known.baseline, known.since
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
	b := registry.Binding{Partition: foreign(in.rec), Unlisted: in.unlisted, Verdict: c.inForce(in)}
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
	p, why := c.lateCandidate(in)
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
