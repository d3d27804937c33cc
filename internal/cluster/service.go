package cluster

import (
	"slices"
	"strings"
	"time"
)

// service is the membership of a Service that some offer names, as its
// EndpointSlices show it together. They are rewritten one by one, so a pod that is
// named by none of them may be on its way from one to another.
type service struct {
	named map[string]int       // slices that name the pod, by UID
	left  map[string]time.Time // since when a pod that was named is not
}

// ObserveService takes in a Service by namespace and name: whether it publishes
// pods that are not ready.
func (c *Cluster) ObserveService(now time.Time, namespace, name string, readyOrNot bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.follow(now)
	c.observeService(now, namespace+"/"+name, readyOrNot)
}

func (c *Cluster) observeService(now time.Time, key string, readyOrNot bool) {
	if was, known := c.known[key]; known && was == readyOrNot {
		return
	}
	c.known[key] = readyOrNot
	c.reviewService(now, key)
}

// ServiceGone takes in that a watch saw a Service removed.
func (c *Cluster) ServiceGone(now time.Time, namespace, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.follow(now)
	c.forgetService(now, namespace+"/"+name)
}

// forgetService changes no instance: whether a Service went for good or is made
// anew cannot be told.
func (c *Cluster) forgetService(now time.Time, key string) {
	delete(c.known, key)
	c.reviewService(now, key)
}

// ReplaceServices takes in the complete list of Services of a namespace, or of all
// if it is empty: by namespace/name whether they publish pods that are not ready.
func (c *Cluster) ReplaceServices(now time.Time, namespace string, current map[string]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.follow(now)
	for key, readyOrNot := range current {
		c.observeService(now, key, readyOrNot)
	}
	for key := range c.known {
		if _, listed := current[key]; !listed && (namespace == "" || strings.HasPrefix(key, namespace+"/")) {
			c.forgetService(now, key)
		}
	}
	c.serviceLists[namespace] = true
}

// serviceMissing reports whether a Service is known not to exist.
func (c *Cluster) serviceMissing(key string) bool {
	namespace, _, _ := strings.Cut(key, "/")
	_, known := c.known[key]
	return !known && (c.serviceLists[""] || c.serviceLists[namespace])
}

// nameServices follows the Services that offers name now, and no others.
func (c *Cluster) nameServices(now time.Time) {
	next := map[string]*service{}
	fresh := false
	for namespace, list := range c.offers {
		for _, o := range list {
			key := namespace + "/" + o.Service
			if o.Service == "" || next[key] != nil {
				continue
			}
			if next[key] = c.services[key]; next[key] == nil {
				next[key] = &service{named: map[string]int{}, left: map[string]time.Time{}}
				fresh = true
			}
		}
	}
	old := c.services
	c.services = next
	if !fresh {
		return
	}
	for slice, list := range c.ends.slices {
		for _, e := range list {
			if s := c.serviceOf(slice, e); s != nil && old[keyOf(slice, e)] == nil {
				s.name(now, e.UID, 1)
			}
		}
	}
}

func keyOf(slice string, e Endpoint) string {
	namespace, _, _ := strings.Cut(slice, "/")
	return namespace + "/" + e.Service
}

func (c *Cluster) serviceOf(slice string, e Endpoint) *service { return c.services[keyOf(slice, e)] }

func (s *service) name(now time.Time, uid string, by int) {
	if s.named[uid] += by; s.named[uid] > 0 {
		delete(s.left, uid)
		return
	}
	delete(s.named, uid)
	s.left[uid] = now
}

// noteMembers takes in what a slice names instead of what it named so far.
func (c *Cluster) noteMembers(now time.Time, slice string, current []Endpoint) {
	if len(c.services) == 0 {
		return
	}
	old := c.ends.slices[slice]
	touched := map[*service]struct{}{}
	pods := map[*pod]struct{}{}
	was := map[string]bool{}
	for _, e := range slices.Concat(old, current) {
		if s := c.serviceOf(slice, e); s != nil {
			was[e.UID] = s.named[e.UID] > 0
			touched[s] = struct{}{}
		}
	}
	for _, e := range current { // first, so that nobody who stays leaves in between
		if s := c.serviceOf(slice, e); s != nil {
			s.name(now, e.UID, 1)
		}
	}
	for _, e := range old {
		if s := c.serviceOf(slice, e); s != nil {
			s.name(now, e.UID, -1)
		}
	}
	for s := range touched {
		for uid, before := range was {
			if p := c.pods[uid]; p != nil && before != (s.named[uid] > 0) {
				pods[p] = struct{}{}
			}
		}
		c.addLeft(pods, s)
	}
	c.reviewMembers(now, pods)
}

// addLeft adds the pods that a Service named and does not name any more.
func (c *Cluster) addLeft(pods map[*pod]struct{}, s *service) {
	for uid := range s.left {
		if p := c.pods[uid]; p != nil {
			pods[p] = struct{}{}
		} else {
			delete(s.left, uid)
		}
	}
}

// reviewService looks again at everybody whom a Service names or named.
func (c *Cluster) reviewService(now time.Time, key string) {
	s := c.services[key]
	if s == nil {
		return
	}
	pods := map[*pod]struct{}{}
	for uid := range s.named {
		if p := c.pods[uid]; p != nil {
			pods[p] = struct{}{}
		}
	}
	c.addLeft(pods, s)
	c.reviewMembers(now, pods)
}

// reviewLeft looks again at everybody who left a Service: what is concluded from
// that depends on the view.
func (c *Cluster) reviewLeft(now time.Time) {
	pods := map[*pod]struct{}{}
	for _, s := range c.services {
		c.addLeft(pods, s)
	}
	c.reviewMembers(now, pods)
}

func (c *Cluster) reviewMembers(now time.Time, pods map[*pod]struct{}) {
	for p := range pods {
		c.claim(p)
	}
	c.evaluateAll(now, pods)
}

// leftSince is since when a pod that a Service registered is not one of its pods,
// zero while it is or that is not certain: the Service must exist, and name others
// that live.
func (c *Cluster) leftSince(key string, p *pod) time.Time {
	s := c.services[key]
	if _, exists := c.known[key]; s == nil || !exists || s.named[p.UID] > 0 {
		return time.Time{}
	}
	for uid := range s.named {
		if other := c.pods[uid]; other != nil && other.alive() {
			return s.left[p.UID]
		}
	}
	return time.Time{}
}
