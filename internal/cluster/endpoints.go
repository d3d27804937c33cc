package cluster

import (
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Endpoint is one endpoint of an EndpointSlice that refers to a pod.
type Endpoint struct {
	// Service is the name of the slice's Service, empty if it has none.
	Service     string
	UID         string
	IPs         []netip.Addr
	Terminating bool
}

// endpointRetention is how long it is remembered that a pod was terminating after
// no slice names it any more. A termination is not taken back.
const endpointRetention = 10 * time.Minute

// endpoints is what EndpointSlices say. They speak later than pods and are
// rewritten in pieces, so they only count for pods that cannot be read, and there
// only what they say for certain: that a pod is terminating. That an endpoint is
// missing means nothing, and nothing is ever removed because of a slice.
type endpoints struct {
	slices map[string][]Endpoint // by namespace/name of the slice
	pods   map[string]*endpoint  // by UID
	at     map[netip.Addr]map[*endpoint]struct{}
	left   []*endpoint // terminating ones that no slice names, oldest first
}

// endpoint is one pod as the slices together show it.
type endpoint struct {
	uid         string
	ips         []netip.Addr
	named       int // slices that name it
	terminating bool
	leftAt      time.Time
}

func newEndpoints() endpoints {
	return endpoints{map[string][]Endpoint{}, map[string]*endpoint{}, map[netip.Addr]map[*endpoint]struct{}{}, nil}
}

// podEnds reports whether a slice showed the pod terminating.
func (e *endpoints) podEnds(uid string) bool {
	p := e.pods[uid]
	return p != nil && p.terminating
}

// addressEnds reports whether an address belonged to a pod that is terminating,
// and to no other since.
func (e *endpoints) addressEnds(a netip.Addr) bool {
	ends := false
	for p := range e.at[a] {
		if !p.terminating {
			return false
		}
		ends = true
	}
	return ends
}

// replace takes in the endpoints of one slice and returns the pods and addresses
// it speaks or spoke of.
func (e *endpoints) replace(now time.Time, slice string, current []Endpoint) (uids []string, ips []netip.Addr) {
	old := e.slices[slice]
	for _, p := range current {
		e.name(p)
	}
	for _, p := range old {
		e.unname(now, p)
	}
	e.slices[slice] = current
	if len(current) == 0 {
		delete(e.slices, slice)
	}
	for _, list := range [][]Endpoint{old, current} {
		for _, p := range list {
			uids = append(uids, p.UID)
			ips = append(ips, p.IPs...)
		}
	}
	return uids, ips
}

func (e *endpoints) name(seen Endpoint) {
	p := e.pods[seen.UID]
	if p == nil {
		p = &endpoint{uid: seen.UID}
		e.pods[seen.UID] = p
	}
	p.named++
	p.terminating = p.terminating || seen.Terminating
	for _, a := range seen.IPs {
		if !slices.Contains(p.ips, a) {
			p.ips = append(p.ips, a)
			add(e.at, a, p)
		}
	}
}

func (e *endpoints) unname(now time.Time, seen Endpoint) {
	p := e.pods[seen.UID]
	if p.named--; p.named > 0 {
		return
	}
	if p.terminating {
		p.leftAt = now
		e.left = append(e.left, p)
		return
	}
	e.forget(p)
}

func (e *endpoints) forget(p *endpoint) {
	if e.pods[p.uid] == p {
		delete(e.pods, p.uid)
	}
	for _, a := range p.ips {
		drop(e.at, a, p)
	}
}

// age forgets terminations that are long past.
func (e *endpoints) age(now time.Time) {
	for len(e.left) > 0 && now.Sub(e.left[0].leftAt) > endpointRetention {
		if p := e.left[0]; p.named == 0 && now.Sub(p.leftAt) > endpointRetention {
			e.forget(p)
		}
		e.left = e.left[1:]
	}
}

// ObserveSlice takes in the endpoints of one slice.
func (c *Cluster) ObserveSlice(now time.Time, slice string, current []Endpoint) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.follow(now)
	c.observeSlice(now, slice, current)
}

// ReplaceSlices takes in the complete list of slices of a namespace, or of all
// if it is empty.
func (c *Cluster) ReplaceSlices(now time.Time, namespace string, current map[string][]Endpoint) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.follow(now)
	for slice, list := range current {
		c.observeSlice(now, slice, list)
	}
	for slice := range c.ends.slices {
		if _, listed := current[slice]; !listed && (namespace == "" || strings.HasPrefix(slice, namespace+"/")) {
			c.observeSlice(now, slice, nil)
		}
	}
}

func (c *Cluster) observeSlice(now time.Time, slice string, current []Endpoint) {
	c.noteMembers(now, slice, current)
	uids, ips := c.ends.replace(now, slice, current)
	if c.readable {
		return
	}
	pods := map[*pod]struct{}{}
	for _, uid := range uids {
		if p := c.pods[uid]; p != nil {
			pods[p] = struct{}{}
		}
	}
	c.evaluateAll(now, pods)
	for _, a := range ips {
		for in := range c.byIP[a] {
			c.evaluateUnbound(now, in)
		}
	}
}

func (c *Cluster) evaluateUnbound(now time.Time, in *instance) {
	if in.pod == nil {
		c.decide(now, in)
		c.enforce(now, in)
		c.settle(now, in.key.App)
	}
}

// SetPodsReadable says whether the pods watch has delivered its list and has not
// been refused since. While pods are readable, slices are not asked.
func (c *Cluster) SetPodsReadable(now time.Time, readable bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.readable == readable {
		return
	}
	c.readable = readable
	c.evaluateEveryPod(now)
	for _, in := range c.insts {
		c.evaluateUnbound(now, in)
	}
}
