package cluster

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/internal/verdict"
)

// historyLength is how many changes are kept for people to ask about.
const historyLength = 10_000

// changeLog is a ring of the newest changes.
type changeLog struct {
	ring []Change
	next int
}

func (h *changeLog) add(ch Change) {
	if len(h.ring) < historyLength {
		h.ring = append(h.ring, ch)
		return
	}
	h.ring[h.next] = ch
	h.next = (h.next + 1) % historyLength
}

// report keeps a change and tells the observer.
func (c *Cluster) report(ch Change) {
	ch.Took = c.opts.Observer(ch)
	c.changes.add(ch)
}

// Changes returns the newest changes that match, the newest first, at most limit.
func (c *Cluster) Changes(limit int, match func(Change) bool) []Change {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.changes.newest(limit, match)
}

func (h *changeLog) newest(limit int, match func(Change) bool) []Change {
	var out []Change
	for i := range h.ring {
		ch := h.ring[(h.next+len(h.ring)-1-i)%len(h.ring)]
		if len(out) >= limit {
			break
		}
		if match(ch) {
			out = append(out, ch)
		}
	}
	return out
}

// explainedChanges is how many changes an explanation tells of.
const explainedChanges = 20

// Explanation is everything that is known about one instance and why it is shown
// as it is.
type Explanation struct {
	Key registry.Key
	// Shown is the instance as listed; nil when it is not.
	Shown *registry.Instance
	// Source is the address the registration came from, empty if unknown.
	Source string
	// Pod is the pod it is bound to; nil when Unbound says why there is none.
	Pod     *ExplainedPod
	Unbound string
	// KeptBy says who registers an instance that has no client, empty for others.
	KeptBy string
	// Hidden is the namespace that came first, for an instance that is not listed
	// because of it.
	Hidden string
	// Rivals are the living pods that have registered the id, if there are several.
	Rivals []string
	// Checks is what every check says, in the order of deciding; Verdict is what
	// follows.
	Checks  []verdict.Answer
	Verdict verdict.Verdict
	// Policy is what is in force for the instance; it is the namespace's own if
	// OwnPolicy is set, else the cluster's.
	Policy    verdict.Policy
	OwnPolicy bool
	// Changes are the last changes of this id, the newest first.
	Changes []Change
	// InService and Live count the application's instances, Floor is how many of
	// them planned notices leave in service.
	InService, Live, Floor int
	LastRenewal            time.Time
	ViewFresh              bool
}

// ExplainedPod is a pod as far as an explanation tells of it.
type ExplainedPod struct {
	Namespace, Name, UID, Node string
	Phase                      string
	Ready, Deleting            bool
	// Container is the instance's container, if it has one of its own.
	Container string
}

// Explain returns what is known about an instance, false if there is none.
func (c *Cluster) Explain(now time.Time, key registry.Key) (Explanation, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	in := c.insts[key]
	if in == nil {
		return Explanation{}, false
	}
	e := Explanation{
		Key: key, Shown: c.reg.Snapshot().Get(key), Unbound: in.unbound,
		Verdict: in.decided, ViewFresh: c.fresh, Checks: verdict.Explain(c.inputFor(now, in)),
	}
	if in.source.IsValid() {
		e.Source = in.source.String()
	}
	if in.kept != nil {
		e.KeptBy = in.kept.by()
	}
	if s := c.spreads[key.App]; s != nil && c.outranked(in) {
		e.Hidden = s.first
	}
	e.LastRenewal, _ = c.reg.LastSeen(key)
	e.InService, e.Live = c.reg.InService(key.App)
	e.Floor = c.floor(e.Live)
	e.Policy = c.fallback
	e.Changes = c.changes.newest(explainedChanges, func(ch Change) bool { return ch.Key == key })
	if in.sharer != nil {
		for _, p := range in.users {
			e.Rivals = append(e.Rivals, p.Namespace+"/"+p.Name)
		}
	}
	if p := in.pod; p != nil {
		e.Policy = *c.policyOf(p.Namespace)
		_, e.OwnPolicy = c.policies[p.Namespace]
		pod := explainedPod(p)
		pod.Container = in.container
		e.Pod = &pod
	}
	return e, true
}

// PodExplanation is everything that is known about a pod and its instances.
type PodExplanation struct {
	ExplainedPod
	Claims []ExplainedClaim
	// Faults say what is wrong with its annotations.
	Faults []string
	// Instances are those bound to it, by key.
	Instances []registry.Key
}

// ExplainedClaim is somebody who registers the pod.
type ExplainedClaim struct {
	App, By string
	// Listed is the id of the instance, empty if there is none.
	Listed string
	// Problem says why there is none, or not as the claim says now. Its reason is
	// ReasonSelfRegistered or ReasonClientCancelled where the pod's client decides.
	Problem
}

// ExplainPod returns what is known about a pod, false if there is none of the name.
func (c *Cluster) ExplainPod(namespace, name string) (PodExplanation, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	p := c.pods[c.names[namespace+"/"+name]]
	if p == nil {
		return PodExplanation{}, false
	}
	e := PodExplanation{ExplainedPod: explainedPod(p), Faults: p.faults}
	for _, cl := range p.claims {
		e.Claims = append(e.Claims, explainedClaim(p, cl))
	}
	for in := range p.insts {
		e.Instances = append(e.Instances, in.key)
	}
	slices.SortFunc(e.Instances, func(a, b registry.Key) int {
		return cmp.Or(strings.Compare(a.App, b.App), strings.Compare(a.ID, b.ID))
	})
	return e, true
}

func explainedClaim(p *pod, cl *claim) ExplainedClaim {
	e := ExplainedClaim{App: cl.listing.App, By: cl.by(), Problem: cl.problem}
	_, cancelled := p.cancelled[e.App]
	switch {
	case cl.in != nil:
		e.Listed = cl.in.key.ID
	case e.Reason != "":
	case p.hasClient(e.App):
		e.Problem = Problem{ReasonSelfRegistered, "the pod's own client has registered"}
	case cancelled:
		e.Problem = Problem{ReasonClientCancelled, "the pod's own client has cancelled"}
	}
	return e
}

func explainedPod(p *pod) ExplainedPod {
	return ExplainedPod{
		Namespace: p.Namespace, Name: p.Name, UID: p.UID, Node: p.Node, Phase: string(p.Phase), Ready: p.Ready, Deleting: p.Deleting,
	}
}

// View is how well the cluster is seen.
type View struct {
	// NodesReadable says that the nodes' list was delivered; nothing is inferred
	// before, or while the view is not fresh.
	Fresh, PodsReadable, NodesReadable bool
	LastCanary, LastLease              time.Time // zero if never
	Pods, Nodes                        int
	Instances                          int
	// SharedApps counts applications that pods of several namespaces register.
	SharedApps int
}

// View returns how well the cluster is seen.
func (c *Cluster) View() View {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return View{
		Fresh: c.fresh, PodsReadable: c.readable, NodesReadable: c.nodesReadable, LastCanary: c.canary, LastLease: c.leases,
		Pods: len(c.pods), Nodes: len(c.nodes), Instances: len(c.insts), SharedApps: c.sharedApps(),
	}
}
