package cluster

import (
	"net/netip"
	"slices"
	"time"

	"github.com/kureka/kureka/internal/registry"
)

// maxTurnedAway bounds how many pods are remembered whose registrations of one id were
// refused: one of every other namespace that has a StatefulSet of the same name.
const maxTurnedAway = 16

// intrudes reports whether somebody dead, dying or not yet seen is about to replace the
// record of a living pod, or somebody of a namespace that has to stay back. Nor do the
// dead and the dying replace what came from elsewhere and is nobody's yet: a pod that is
// not seen may be the one that has their id by now.
func (c *Cluster) intrudes(in, old *instance, p *pod, why string) bool {
	if old == nil {
		return false
	}
	if p != nil && !p.alive() && old.pod == nil && len(old.users) == 0 && old.ip != in.ip && !c.observes(p) {
		return true
	}
	return slices.ContainsFunc(livingOf(old.users), func(user *pod) bool {
		switch {
		case user == p || c.observes(user):
			return false
		case p != nil:
			return c.mustYield(p, user, in.key.App)
		}
		return why == UnboundPodNotSeen || c.isGhost(in)
	})
}

// mustYield reports whether a pod may not have what a living one has registered.
func (c *Cluster) mustYield(p, user *pod, app string) bool {
	return !p.alive() || p.Namespace != user.Namespace && c.comesSecond(app, p)
}

// endsAnothers reports whether somebody dead or dying says goodbye to what came from
// elsewhere and is nobody's yet, as what its successor has registered is.
func (c *Cluster) endsAnothers(src netip.Addr, key registry.Key) bool {
	in, p := c.insts[key], c.sender(src)
	if in == nil || p == nil || p.alive() || c.observes(p) {
		return false
	}
	return in.pod == nil && len(in.users) == 0 && !p.Has(in.ip) && !p.Has(in.source)
}

// refuse remembers a registration that is not taken up. Its client takes it for done
// and goes on.
func (c *Cluster) refuse(now time.Time, in, old *instance) {
	old.refused = in
	p := c.sender(in.source)
	if p == nil || slices.Contains(old.turnedAway, p.UID) {
		return
	}
	kept := old.turnedAway[max(0, len(old.turnedAway)-maxTurnedAway+1):]
	old.turnedAway = append(slices.Clone(kept), p.UID)
	c.reg.Rebind(now, old.key, c.binding(old))
	c.changed()
}

// isTurnedAway reports whether a request comes from a pod whose registration of the id was
// refused and would be again. What it sends does nothing to the record, which is
// another's: it must neither keep that one's lease nor end it. A view that is stale may
// take one pod's address for another's, so that in it nobody is turned away.
func (c *Cluster) isTurnedAway(src netip.Addr, key registry.Key) bool {
	in, p := c.insts[key], c.sender(src)
	if in == nil || in.pod == nil || p == nil || p == in.pod || !c.fresh || !slices.Contains(in.turnedAway, p.UID) {
		return false
	}
	return in.pod.alive() && !c.observes(in.pod) && c.mustYield(p, in.pod, key.App)
}
