package cluster

import (
	"time"

	"github.com/kureka/kureka/internal/registry"
)

// settle decides which instances of an application a hard notice takes out: all
// of them while another instance is in service, all but one otherwise.
func (c *Cluster) settle(now time.Time, app string) {
	members := c.noticed[app]
	if len(members) == 0 {
		return
	}
	keep := c.keptInService(app, members)
	if keep != nil {
		keep.held = true
		c.enforce(now, keep) // first, so that at no moment nobody is in service
	}
	for in := range members {
		if in != keep {
			in.held = false
			c.enforce(now, in)
		}
	}
}

// keptInService returns the noticed instance that has to stay in service, nil
// when one without a notice is: one that is in service already, else the first by
// id whose client says UP.
func (c *Cluster) keptInService(app string, members map[*instance]struct{}) *instance {
	var keep *instance
	up, _ := c.reg.InService(app)
	keepUp := false
	snap := c.reg.Snapshot()
	for in := range members {
		view := snap.Get(in.key)
		if view == nil || !canServe(view) {
			continue
		}
		isUp := view.Status == registry.Up
		if isUp {
			up--
		}
		if keep == nil || isUp && !keepUp || isUp == keepUp && in.key.ID < keep.key.ID {
			keep, keepUp = in, isUp
		}
	}
	if up > 0 {
		return nil
	}
	return keep
}

// canServe reports whether an instance would be UP without a verdict.
func canServe(view *registry.Instance) bool {
	return view.Client == registry.Up && (view.Override == registry.None || view.Override == registry.Up)
}

// isLast reports, before an instance is registered, whether it would be the only
// one in service.
func (c *Cluster) isLast(in, old *instance) bool {
	switch {
	case in.rec.Status != registry.Up && in.rec.Status != registry.None:
		return false
	case old != nil && old.held:
		return true
	}
	up, _ := c.reg.InService(in.key.App)
	if view := c.reg.Snapshot().Get(in.key); view != nil && view.Status == registry.Up {
		up--
	}
	return up == 0
}
