package cluster

import (
	"slices"
	"time"

	"github.com/kureka/kureka/internal/registry"
)

// Ending is a pod whose preStop request has a token, and its end.
type Ending struct {
	Namespace, Name string
	// Since is when its deletion was first seen, by our clock; zero while it is not
	// being deleted. Grace is how long after that the kubelet kills it.
	Since time.Time
	Grace time.Duration
	// Instances are those that are bound to it, in no order.
	Instances []registry.Key
}

// Endings returns the pods that have a token and are not known to have ended. There
// is more than one where somebody copied a pod with its annotations.
func (c *Cluster) Endings(token string) []Ending {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var out []Ending
	for _, p := range c.held[token] {
		if p.gone != nil || p.Terminal() {
			continue
		}
		e := Ending{Namespace: p.Namespace, Name: p.Name, Since: p.ending, Grace: p.Grace}
		for in := range p.insts {
			e.Instances = append(e.Instances, in.key)
		}
		out = append(out, e)
	}
	return out
}

// noteToken keeps the index of pods by their token.
func (c *Cluster) noteToken(p *pod, old string) {
	if p.DrainToken == old {
		return
	}
	c.dropToken(p, old)
	if p.DrainToken != "" {
		c.held[p.DrainToken] = append(c.held[p.DrainToken], p)
	}
}

func (c *Cluster) dropToken(p *pod, token string) {
	rest := slices.DeleteFunc(c.held[token], func(o *pod) bool { return o == p })
	if len(rest) == 0 {
		delete(c.held, token)
		return
	}
	c.held[token] = rest
}
