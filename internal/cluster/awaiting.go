package cluster

import (
	"time"

	"github.com/kureka/kureka/internal/registry"
)

// Awaiting is a pod that has a readiness gate for its registration, and is not
// known to have been released.
type Awaiting struct {
	UID, Namespace, Name string
	Created              time.Time
	// Up names the instance of the pod that is listed UP, as APP/id; empty if none is.
	Up string
}

// Awaiting returns the pods that await their registration, in no order. It costs
// nothing while none does.
func (c *Cluster) Awaiting() []Awaiting {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if len(c.waiting) == 0 {
		return nil
	}
	listed := c.reg.Snapshot()
	out := make([]Awaiting, 0, len(c.waiting))
	for p := range c.waiting {
		out = append(out, Awaiting{UID: p.UID, Namespace: p.Namespace, Name: p.Name, Created: p.Created, Up: p.upIn(listed)})
	}
	return out
}

// noteWaiting keeps the index of pods that await their registration. Nobody waits
// for one that is ending.
func (c *Cluster) noteWaiting(p *pod) {
	if p.AwaitsRegistration && !p.Deleting && !p.Terminal() && p.gone == nil {
		c.waiting[p] = struct{}{}
		return
	}
	delete(c.waiting, p)
}

// upIn names an instance of the pod that is listed UP, empty if none is. What is
// kept for a pod counts only until its own client has said something.
func (p *pod) upIn(listed *registry.Snapshot) string {
	var own, kept string
	hasClient := false
	for in := range p.insts {
		hasClient = hasClient || in.kept == nil
		shown := listed.Get(in.key)
		if shown == nil || shown.Status != registry.Up {
			continue
		}
		if name := in.key.String(); in.kept == nil {
			own = smaller(own, name)
		} else {
			kept = smaller(kept, name)
		}
	}
	if hasClient {
		return own
	}
	return kept
}

// smaller returns the smaller of two names, so that the same one is told every
// time; an empty one is none.
func smaller(a, b string) string {
	if a == "" || b < a {
		return b
	}
	return a
}
