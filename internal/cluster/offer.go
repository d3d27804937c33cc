package cluster

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/registry"
)

// Offer registers pods that have no client: what one EurekaRegistration says.
type Offer struct {
	Namespace, Name string
	// Revision changes with everything else here.
	Revision string
	// Created decides which of two offers for the same pod and application holds:
	// the older one.
	Created time.Time
	// Selects chooses pods of the namespace by their labels; nil if Service does.
	Selects func(evidence.Labels) bool
	// Service is the Service of the namespace whose pods are chosen.
	Service string
	Listing
}

// Listing is what an instance without a client shows.
type Listing struct {
	App string // upper case
	// The ports, of which Port or SecurePort is set.
	Port, SecurePort, ManagementPort PortRef
	// VIP and SecureVIP are empty for the built-in values.
	VIP, SecureVIP string
	// Metadata of every instance, by key.
	Metadata []registry.Pair
	// FromLabels adds labels of the pod where Metadata has no such key.
	FromLabels []LabelCopy
	// Paths of the pages; empty for none.
	HomePage, StatusPage, HealthCheck string
	// PodDNS names a pod that has a name in the cluster's DNS by it.
	PodDNS bool
}

// AddMetadata adds a pair that every instance has.
func (l *Listing) AddMetadata(name, value string) {
	l.Metadata = append(l.Metadata, registry.Pair{Key: name, Value: value})
}

// PortRef is a port by number or by the name of a container port; zero for none.
type PortRef struct {
	Number int
	Name   string
}

// LabelCopy makes a label metadata.
type LabelCopy struct{ Label, Name string }

// claim is one offer's hold on one pod.
type claim struct {
	offer   *offer // nil for the pod's own annotations
	listing *Listing
	problem Problem // why there is no instance, or not as the offer says now
	in      *instance
}

// by names the source of a claim, for people.
func (cl *claim) by() string {
	if cl.offer == nil {
		return "annotations of the pod"
	}
	return "EurekaRegistration " + cl.offer.key()
}

type offer struct {
	Offer
	pods map[*pod]struct{}
}

func (o *offer) key() string { return o.Namespace + "/" + o.Name }

// Problem is why a pod that an offer chooses is not registered by it.
type Problem struct {
	// Reason is one of the Problem constants, empty if there is no problem.
	Reason string
	// Detail is a part of a sentence.
	Detail string
}

// Reasons of problems.
const (
	// ProblemPort is a port name that no container of the pod declares.
	ProblemPort = "PortNotFound"
	// ProblemClaimed is an older offer for the same pod and application.
	ProblemClaimed = "AlreadyRegistered"
	// ProblemID is an instance id that some client uses.
	ProblemID = "InstanceIDTaken"
	// ProblemFull is a registry that takes no more instances.
	ProblemFull = "RegistryFull"
	// ProblemService is a Service that does not exist.
	ProblemService = "ServiceNotFound"
)

// SetOffers puts the complete set of offers in force. What follows is in the
// registry when the call returns.
func (c *Cluster) SetOffers(now time.Time, offers []Offer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.follow(now)
	next := map[string][]*offer{}
	for i := range offers {
		o := &offer{Offer: offers[i], pods: map[*pod]struct{}{}}
		next[o.Namespace] = append(next[o.Namespace], o)
	}
	changed := map[string]bool{}
	for namespace, list := range next {
		slices.SortFunc(list, func(a, b *offer) int {
			return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.Name, b.Name))
		})
		if old := c.offers[namespace]; slices.EqualFunc(old, list, sameOffer) {
			next[namespace] = old
		} else {
			changed[namespace] = true
		}
	}
	for namespace := range c.offers {
		changed[namespace] = changed[namespace] || next[namespace] == nil
	}
	c.offers = next
	c.nameServices(now)
	for _, p := range c.pods {
		if changed[p.Namespace] {
			c.claim(p)
		}
	}
}

func sameOffer(a, b *offer) bool { return a.Name == b.Name && a.Revision == b.Revision }

// claim finds out anew who claims a pod. Of several claims under one application
// the first holds: the pod's own word, then the oldest offer.
func (c *Cluster) claim(p *pod) {
	old := p.claims
	p.claims = nil
	if p.own != nil {
		p.claims = append(p.claims, &claim{listing: p.own})
	}
	for _, o := range c.offers[p.Namespace] {
		if c.chooses(o, p, old) {
			p.claims = append(p.claims, &claim{offer: o, listing: &o.Listing})
		}
	}
	holders := map[string]*claim{}
	for _, cl := range p.claims {
		if first := holders[cl.listing.App]; first != nil {
			cl.problem = Problem{ProblemClaimed, "registered as " + first.listing.App + " by the " + first.by()}
			continue
		}
		holders[cl.listing.App] = cl
	}
	for _, cl := range old {
		if cl.offer != nil {
			delete(cl.offer.pods, p)
		}
	}
	for _, cl := range p.claims {
		if cl.offer != nil {
			cl.offer.pods[p] = struct{}{}
		}
	}
	if len(old)+len(p.claims) > 0 {
		c.stale[p] = struct{}{}
	}
}

// chooses reports whether an offer is for the pod. A pod that left its Service
// stays the offer's while it is listed, out of service.
func (c *Cluster) chooses(o *offer, p *pod, old []*claim) bool {
	if o.Service == "" {
		return o.Selects != nil && o.Selects(p.Labels)
	}
	if s := c.services[o.Namespace+"/"+o.Service]; s != nil && s.named[p.UID] > 0 {
		return true
	}
	return slices.ContainsFunc(old, func(cl *claim) bool {
		return cl.in != nil && cl.offer != nil && cl.offer.Name == o.Name && cl.offer.Service == o.Service
	})
}

// unclaim forgets a pod that is forgotten.
func (c *Cluster) unclaim(p *pod) {
	for _, cl := range p.claims {
		if cl.offer != nil {
			delete(cl.offer.pods, p)
		}
	}
	p.claims = nil
	delete(c.stale, p)
	for _, o := range c.offers[p.Namespace] {
		if s := c.services[o.Namespace+"/"+o.Service]; s != nil {
			delete(s.left, p.UID)
		}
	}
}

// OfferState is what became of an offer.
type OfferState struct {
	// Matched is how many pods it chooses, Registered how many of them are listed by
	// it.
	Matched, Registered int
	// Of the others, Own counts pods whose own client has registered, Cancelled those
	// whose own client has cancelled, and Waiting those that have no address yet.
	Own, Cancelled, Waiting int
	// Problems say what is wrong, one for each reason, by reason.
	Problems []OfferProblem
}

// OfferProblem is one problem of some pods of an offer.
type OfferProblem struct {
	Problem
	// Pods is how many pods have it, Pod the name of one; both empty for a problem of
	// the offer itself.
	Pods int
	Pod  string
}

// OfferState returns what became of an offer, false if there is no such offer.
func (c *Cluster) OfferState(namespace, name string) (state OfferState, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	at := slices.IndexFunc(c.offers[namespace], func(o *offer) bool { return o.Name == name })
	if at < 0 {
		return OfferState{}, false
	}
	o := c.offers[namespace][at]
	found := map[string]*OfferProblem{}
	if o.Service != "" && c.serviceMissing(namespace+"/"+o.Service) {
		found[ProblemService] = &OfferProblem{Problem: Problem{ProblemService, "there is no Service " + o.Service}}
	}
	for p := range o.pods {
		state.add(o, p, found)
	}
	for _, reason := range slices.Sorted(maps.Keys(found)) {
		state.Problems = append(state.Problems, *found[reason])
	}
	return state, true
}

func (s *OfferState) add(o *offer, p *pod, found map[string]*OfferProblem) {
	at := slices.IndexFunc(p.claims, func(cl *claim) bool { return cl.offer == o })
	if at < 0 || p.gone != nil || p.Terminal() {
		return
	}
	cl := p.claims[at]
	s.Matched++
	_, cancelled := p.cancelled[cl.listing.App]
	switch {
	case cl.in != nil:
		s.Registered++
	case p.hasClient(cl.listing.App):
		s.Own++
	case cancelled:
		s.Cancelled++
	case len(p.IPs) == 0:
		s.Waiting++
	}
	if cl.problem.Reason == "" {
		return
	}
	if found[cl.problem.Reason] == nil {
		found[cl.problem.Reason] = &OfferProblem{Problem: cl.problem, Pod: p.Name}
	}
	problem := found[cl.problem.Reason]
	problem.Pods++
	if p.Name < problem.Pod { // the same one every time
		problem.Problem, problem.Pod = cl.problem, p.Name
	}
}
