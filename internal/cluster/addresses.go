package cluster

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/kureka/kureka/internal/verdict"
)

// reclaim updates which addresses the pod says it has, and with them who owns
// what. A pod that vanished with its node keeps its addresses until it is proven
// gone, and one that has ended while its object is there: whoever speaks from
// there is told by it, unless somebody alive has the address.
func (c *Cluster) reclaim(now time.Time, p *pod) {
	var next []netip.AddrPort
	if p.gone == nil || p.gone.Abrupt && !p.proven {
		next = p.Addresses()
	}
	affected := slices.Concat(next, p.claimed) // in this order: who leaves an address may be found at the next
	for _, a := range p.claimed {
		drop(c.claims, a, p)
	}
	for _, a := range next {
		add(c.claims, a, p)
	}
	p.claimed = next
	over := p.rank() == ended
	turned := over != p.over
	p.over = over
	for _, a := range affected {
		c.reown(now, a)
		if turned && c.owners[a] == p { // who has ended owns it for nobody else
			c.reviewAt(now, a)
		}
	}
	if len(p.IPs) == 0 {
		return // no address for a moment says nothing
	}
	for in := range p.insts {
		c.review(now, in)
	}
}

// reown computes who owns an address from the current claims, never from the
// order of events: a pod whose end has not begun before one that is ending, and
// that before one that has ended; then the youngest, then the one with the higher
// UID.
func (c *Cluster) reown(now time.Time, a netip.AddrPort) {
	var owner *pod
	for p := range c.claims[a] {
		if owner == nil || owner.yields(p) {
			owner = p
		}
	}
	if c.owners[a] == owner {
		return
	}
	if owner == nil {
		delete(c.owners, a)
	} else {
		c.owners[a] = owner
		c.mark(owner) // it may have been kept no more for want of its address
		if owner.rank() < ended {
			c.reg.FreeAddr(a)
		}
	}
	c.reviewAt(now, a)
}

func (c *Cluster) reviewAt(now time.Time, a netip.AddrPort) {
	for in := range c.byIP[a.Addr()] {
		c.review(now, in)
	}
}

// How far a pod is on its way out.
const (
	living = iota
	ending
	ended
)

func (p *pod) rank() int {
	switch {
	case p.proven || p.Terminal():
		return ended
	case p.gone != nil || p.Deleting:
		return ending
	}
	return living
}

// alive reports whether the pod's end has not begun.
func (p *pod) alive() bool { return p.rank() == living }

func (p *pod) yields(o *pod) bool {
	return cmp.Or(cmp.Compare(o.rank(), p.rank()), p.Created.Compare(o.Created), cmp.Compare(p.UID, o.UID)) < 0
}

// review looks again at an instance that somebody's address concerns. A record that is
// not bound by its address is bound anew while its pod is there and has one; without,
// what becomes of the pod decides about it.
func (c *Cluster) review(now time.Time, in *instance) {
	switch p := in.pod; {
	case in.kept != nil:
		c.mark(p)
	case p != nil && in.byAddress:
		c.reviewAddress(now, in)
	case p == nil || p.gone == nil && !p.Terminal() && len(p.IPs) > 0:
		c.rebind(now, in)
	}
}

// reviewAddress applies the one rule about addresses that change hands: a record bound
// by its address goes when that address has another owner, or its pod another
// address. About the pod this proves nothing.
func (c *Cluster) reviewAddress(now time.Time, in *instance) {
	p, owner := in.pod, c.ownerOf(in)
	if owner != nil && owner.rank() == ended {
		owner = nil // it had the address before, and takes it over from nobody
	}
	switch {
	case owner != nil && owner != p && mistook(now, in, owner):
		c.forgetMistake(in)
		c.rebind(now, in)
	case owner != nil && owner != p:
		c.cancel(now, in, ReasonAddressReused)
	case len(p.IPs) > 0 && !p.answersAt(in):
		c.cancel(now, in, ReasonAddressLeft)
	}
}

// mistook reports whether an instance was bound to another pod than the owner of its
// address only because that was seen first: it names the owner, or it registered
// before either was seen and a list is still being told, whose order must decide
// nothing.
func mistook(now time.Time, in *instance, owner *pod) bool {
	if in.rec.From != "" {
		return false
	}
	if in.mentions(owner) != in.mentions(in.pod) {
		return in.mentions(owner)
	}
	return in.said.Before(in.pod.seen) && now.Sub(in.pod.seen) < settleAfter && isOlder(now, owner, in)
}

// forgetMistake forgets that an instance's id was ever its pod's.
func (c *Cluster) forgetMistake(in *instance) {
	delete(in.pod.ids, in)
	in.users = slices.DeleteFunc(slices.Clone(in.users), func(user *pod) bool { return user == in.pod })
	if c.last[in.key] = in.former; in.former == "" {
		delete(c.last, in.key)
	}
}

func (c *Cluster) cancel(now time.Time, in *instance, reason string) {
	ch := change(now, in, verdict.Verdict{Reason: reason, Witness: verdict.WitnessPod})
	if c.observes(in.pod) {
		if in.finding == nil || in.finding.Reason != reason {
			ch.Effect = WouldRemove
			c.find(now, in, ch)
		}
		return
	}
	ch.Effect = Removed
	c.reg.Remove(now, in.key)
	c.untrack(now, in)
	c.report(ch)
	c.succeed(now, in)
	c.settle(now, in.key.App)
}

// refusedLasts is how long a registration that was not taken up counts: its client
// took it for done, and renews what another one left.
const refusedLasts = 90 * time.Second

// succeed takes up the registration that was refused in favour of an instance which
// has left since. Its pod may be the same at its next address, or one that takes
// over the id and is not seen yet: then it is kept as any other that comes early.
func (c *Cluster) succeed(now time.Time, left *instance) {
	again := left.refused
	if again == nil || c.insts[again.key] != nil || now.Sub(again.registration) > refusedLasts {
		return
	}
	if p, why := c.lateCandidate(now, again); p == nil || p.alive() {
		c.admit(now, again, nil, p, why)
	}
}
