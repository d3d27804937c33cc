package cluster

import (
	"net/netip"
	"reflect"
	"slices"
	"time"

	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/internal/verdict"
)

// Why an instance that was kept for its pod is not any more, and why one is.
const (
	// ReasonRegistered lists a pod that an offer or its annotations register.
	ReasonRegistered = "PodRegistered"
	// ReasonNotChosen ends that: nothing registers the pod any more.
	ReasonNotChosen = "PodNotRegistered"
	// ReasonSelfRegistered ends it because the pod's own client registered.
	ReasonSelfRegistered = "ClientRegistered"
	// ReasonClientCancelled ends it because the pod's own client cancelled.
	ReasonClientCancelled = "ClientCancelled"
)

// follow does what follows from changes that were noted on the way: which
// instances are kept for pods, and which applications show whose instances.
func (c *Cluster) follow(now time.Time) {
	for len(c.stale)+len(c.contested) > 0 {
		pods, apps := c.stale, c.contested
		c.stale, c.contested = map[*pod]struct{}{}, map[string]struct{}{}
		for p := range pods {
			c.keep(now, p)
		}
		for app := range apps {
			c.showFirst(now, app)
		}
	}
}

// keep brings the instances that are kept for a pod in line with who claims it. A
// pod that is gone or has ended takes its instances along by proof.
func (c *Cluster) keep(now time.Time, p *pod) {
	delete(c.stale, p) // this is the look that was asked for
	if p.proven || p.Terminal() || c.pods[p.UID] != p {
		return
	}
	if p.gone != nil {
		c.makeRoom(now, p)
		return
	}
	held := map[string]*instance{}
	for in := range p.insts {
		if in.kept != nil {
			held[in.key.App] = in
		}
	}
	for _, cl := range p.claims {
		cl.in = nil
		if cl.problem.Reason == ProblemClaimed {
			continue
		}
		in := held[cl.listing.App]
		delete(held, cl.listing.App)
		c.keepClaim(now, p, cl, in)
	}
	for _, in := range held {
		if !in.isRecalled() || c.hiding.IsZero() {
			c.release(now, in, ReasonNotChosen)
		}
	}
}

// isRecalled reports whether nobody has claimed the instance since it was restored
// after a restart.
func (in *instance) isRecalled() bool {
	return in.kept != nil && in.kept.offer == nil && in.kept.listing != in.pod.own
}

// releaseRecalled releases what was kept before a restart and nobody has claimed
// since, although everything had the time to be seen.
func (c *Cluster) releaseRecalled() {
	for _, in := range c.insts {
		if in.isRecalled() {
			c.stale[in.pod] = struct{}{}
		}
	}
}

// makeRoom removes what is listed for a pod that vanished with its node once
// another pod has its address.
func (c *Cluster) makeRoom(now time.Time, p *pod) {
	for in := range p.insts {
		if in.kept != nil && !c.mayAnswer(p, in.rec) {
			c.release(now, in, ReasonAddressReused)
		}
	}
}

// keepClaim does so for one application; in is the instance so far, nil if none.
func (c *Cluster) keepClaim(now time.Time, p *pod, cl *claim, in *instance) {
	app := cl.listing.App
	cl.problem = Problem{}
	_, cancelled := p.cancelled[app]
	switch {
	case p.hasClient(app):
		c.release(now, in, ReasonSelfRegistered)
		return
	case cancelled:
		c.release(now, in, ReasonClientCancelled)
		return
	case len(p.IPs) == 0 || in == nil && !p.alive():
		cl.in = in // no address for a moment says nothing
		return
	}
	rec, problem := cl.listing.record(p, c.zoneOf(p))
	if problem.Reason != "" {
		cl.problem, cl.in = problem, in
		if in != nil {
			in.kept = cl
		}
		return
	}
	if !c.mayAnswer(p, rec) {
		c.release(now, in, ReasonAddressReused)
		return
	}
	c.show(now, p, cl, in, rec)
}

// hasClient reports whether the pod's own client has registered the application.
func (p *pod) hasClient(app string) bool {
	for in := range p.insts {
		if in.kept == nil && in.key.App == app {
			return true
		}
	}
	return false
}

func (c *Cluster) zoneOf(p *pod) string {
	if n := c.nodes[p.Node]; n != nil && p.Node != "" {
		return n.Zone
	}
	return ""
}

// mayAnswer reports whether no other pod owns the address that is to be listed.
func (c *Cluster) mayAnswer(p *pod, rec *registry.Record) bool {
	if !p.HostNetwork {
		owner := c.owners[netip.AddrPortFrom(p.IPs[0], 0)]
		return owner == nil || owner == p
	}
	return !slices.ContainsFunc(rec.Ports(), func(port int) bool {
		owner := c.owners[netip.AddrPortFrom(p.IPs[0], uint16(port))]
		return owner != nil && owner != p
	})
}

// show lists an instance, or what changed about it.
func (c *Cluster) show(now time.Time, p *pod, cl *claim, in *instance, rec *registry.Record) {
	if other := c.insts[rec.Key()]; other != nil && other != in {
		cl.problem = Problem{ProblemID, "another client has registered as " + rec.Key().String()}
		return
	}
	fresh := in == nil
	if fresh {
		in = &instance{key: rec.Key(), registration: now, request: now, pod: p, kept: cl, rec: rec}
	}
	container := p.containerOf(&instance{rec: rec})
	rec.Status = in.readiness(p, c.readyOrNot(cl), container)
	rec.Dirty = now.UnixMilli()
	if !fresh && sameListing(in.rec, rec) {
		in.kept, cl.in = cl, in
		return
	}
	was := c.inForce(in)
	c.discard(in)
	in.kept, in.rec, in.ip, in.pod = cl, rec, p.IPs[0], p
	in.container = ""
	if container != nil {
		in.container = container.Name
	}
	c.redecide(now, in)
	in.unlisted = c.outranked(in)
	if c.reg.Keep(now, rec, c.binding(in)) != registry.Done {
		cl.problem = Problem{ProblemFull, "the registry holds as many instances as it may"}
		drop(c.noticed, in.key.App, in)
		return
	}
	cl.in = in
	c.track(in)
	if fresh {
		ch := change(now, in, verdict.Verdict{Reason: ReasonRegistered, Witness: verdict.WitnessPod, Detail: "by the " + cl.by()})
		ch.Effect = Listed
		c.report(ch)
	}
	if v := c.inForce(in); v != was && !in.unlisted {
		c.tell(now, in, v)
	}
	c.settle(now, in.key.App)
}

// redecide decides about an instance before the registry is told.
func (c *Cluster) redecide(now time.Time, in *instance) {
	limited := in.decided.Class.HasFloor()
	if c.decide(now, in); !limited {
		in.held = in.decided.Class.HasFloor() && c.mustStay(in, nil)
	}
}

// sameListing compares two records but for the time of the last change.
func sameListing(a, b *registry.Record) bool {
	x := *b
	x.Dirty = a.Dirty
	return reflect.DeepEqual(*a, x)
}

// readiness is the pod's own word about its status: STARTING until the incarnation
// of its container has been ready once. From then on evidence decides.
func (in *instance) readiness(p *pod, always bool, container *evidence.Container) registry.Status {
	id := ""
	if container != nil {
		id = container.ID
	}
	if p.WorksForKubelet() || always {
		in.everReady, in.readyIn = true, id
	}
	if in.everReady && in.readyIn == id {
		return registry.Up
	}
	return registry.Starting
}

// readyOrNot reports whether the claim's Service publishes pods that are not ready.
func (c *Cluster) readyOrNot(cl *claim) bool {
	return cl.offer != nil && cl.offer.Service != "" && c.known[cl.offer.Namespace+"/"+cl.offer.Service]
}

// release takes an instance off the registry that is not kept any more.
func (c *Cluster) release(now time.Time, in *instance, reason string) {
	if in == nil {
		return
	}
	ch := change(now, in, verdict.Verdict{Reason: reason, Witness: verdict.WitnessPod})
	ch.Effect = Unlisted
	c.reg.Remove(now, in.key)
	c.discard(in)
	delete(c.insts, in.key)
	c.report(ch)
	c.settle(now, in.key.App)
}

// keptEvidence is what the rules are told about an instance that has no client.
func (c *Cluster) keptEvidence(in *instance) *verdict.Kept {
	k := &verdict.Kept{NeedsNoReadiness: c.readyOrNot(in.kept) || in.rec.Status != registry.Up}
	o := in.kept.offer
	// What is missing from a view that does not deliver says nothing new.
	if o != nil && o.Service != "" && (c.fresh || in.decided.Reason == verdict.ReasonLeftService) {
		k.LeftService = c.leftSince(o.Namespace+"/"+o.Service, in.pod)
	}
	return k
}

// maxCancelled bounds what a pod can have remembered of itself: far more than it
// has clients. What it cancels beyond that is listed if something claims it.
const maxCancelled = 64

// noteCancel remembers that a pod cancelled an application, as its sender or by its
// id: it is not kept for the pod until the client returns or its container
// restarts.
func (c *Cluster) noteCancel(app string, sender *pod, in *instance) {
	container := ""
	pods := []*pod{sender}
	if in != nil && in.pod != nil {
		pods, container = append(pods, in.pod), in.container
	}
	for _, p := range pods {
		if p != nil {
			p.noteCancelled(app, container)
			c.mark(p)
		}
	}
}

// noteCancelled does so for one pod. Applications that no claim can name concern
// nobody.
func (p *pod) noteCancelled(app, container string) {
	if _, known := p.cancelled[app]; !known && (len(p.cancelled) >= maxCancelled || len(app) > maxAppLength) {
		return
	}
	if p.cancelled == nil {
		p.cancelled = map[string]string{}
	}
	p.cancelled[app] = container
}

// changedClient has a pod looked at again whose client registered or left.
func (c *Cluster) changedClient(in *instance) {
	if in.kept == nil {
		c.mark(in.pod)
	}
}

// mark has a pod's kept instances looked at again.
func (c *Cluster) mark(p *pod) {
	if p != nil && len(p.claims) > 0 {
		c.stale[p] = struct{}{}
	}
}
