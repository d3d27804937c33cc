package cluster

import (
	"strings"
	"time"

	"github.com/kureka/kureka/internal/evidence"
)

// Endpoint is one endpoint of an EndpointSlice that refers to a pod.
type Endpoint struct {
	Pod         evidence.Pod // UID, namespace, name, node and addresses
	Terminating bool
}

// ObserveSlice takes in the endpoints of one slice. Slices speak later than pods
// and are rewritten in pieces, so they only count for pods that cannot be read:
// there a terminating endpoint is the one thing they say with certainty. That an
// endpoint is missing means nothing.
func (c *Cluster) ObserveSlice(now time.Time, slice string, endpoints []Endpoint) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slices[slice] = endpoints
	if len(endpoints) == 0 {
		delete(c.slices, slice)
	}
	if !c.readable {
		c.takeSlice(now, endpoints)
	}
}

func (c *Cluster) takeSlice(now time.Time, endpoints []Endpoint) {
	for _, e := range endpoints {
		if p := c.pods[e.Pod.UID]; p != nil && !p.FromSlice {
			c.evaluate(now, p)
			continue
		}
		seen := e.Pod
		seen.FromSlice = true
		c.observePod(now, seen)
		if p := c.pods[seen.UID]; p != nil {
			c.evaluate(now, p)
		}
	}
}

func (c *Cluster) sliceTerminating(p *pod) bool {
	if c.readable {
		return false
	}
	for _, endpoints := range c.slices {
		for _, e := range endpoints {
			if e.Pod.UID == p.UID && e.Terminating {
				return true
			}
		}
	}
	return false
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
	for _, p := range c.pods {
		if readable && p.FromSlice {
			for in := range p.insts {
				in.unbound = ""
				c.leave(in)
			}
			c.forgetPod(now, p)
			continue
		}
		c.evaluate(now, p)
	}
	if !readable {
		for _, endpoints := range c.slices {
			c.takeSlice(now, endpoints)
		}
		return
	}
	for _, in := range c.insts {
		if in.pod == nil {
			c.rebind(now, in)
		}
	}
}

// ReplaceSlices takes in the complete list of slices of a namespace, or of all
// if it is empty.
func (c *Cluster) ReplaceSlices(now time.Time, namespace string, current map[string][]Endpoint) {
	c.mu.Lock()
	for name := range c.slices {
		if namespace == "" || strings.HasPrefix(name, namespace+"/") {
			delete(c.slices, name)
		}
	}
	c.mu.Unlock()
	for name, endpoints := range current {
		c.ObserveSlice(now, name, endpoints)
	}
}
