package cluster

import (
	"cmp"
	"slices"
	"time"

	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/internal/verdict"
)

// settle decides which instances of an application its notices take out. Planned
// notices leave the application's floor in service, hard ones its last instance.
func (c *Cluster) settle(now time.Time, app string) {
	members := c.noticed[app]
	if len(members) == 0 {
		return
	}
	c.decideSilent(now, members)
	stay := c.keptInService(app, members)
	for in := range stay { // first, so that at no moment too few are in service
		in.held = true
		c.enforce(now, in)
	}
	for in := range members {
		if _, held := stay[in]; !held {
			in.held = false
			c.enforce(now, in)
		}
	}
}

// decideSilent decides anew about those out by silence: the heartbeats of one that
// is held in service are the usual ones, which tell nobody.
func (c *Cluster) decideSilent(now time.Time, members map[*instance]struct{}) {
	for in := range members {
		if in.decided.Class != verdict.Inferred {
			continue
		}
		if c.decide(now, in); !in.decided.Class.HasFloor() {
			in.held = false
			c.enforce(now, in)
		}
	}
}

// serving is a noticed instance that would be UP without the notice.
type serving struct {
	in   *instance
	isUp bool
}

// isProbed reports whether a verdict is an inference that the prober confirmed.
func isProbed(v verdict.Verdict) bool {
	return v.Class == verdict.Inferred && v.Confirmed == verdict.WitnessProber
}

// keptInService returns the noticed instances that have to stay in service: those
// to be drained as far as the floor asks for them, one with a hard notice if
// nobody else is left, only then some that are probably dead, and one that the
// prober found dead if it is the very last.
func (c *Cluster) keptInService(app string, members map[*instance]struct{}) map[*instance]struct{} {
	var hard, planned, silent, lost []serving
	up, live := c.reg.InService(app)
	snap := c.reg.Snapshot()
	for in := range members {
		view := snap.Get(in.key)
		if view != nil && view.Verdict.Ending {
			live++ // its end was called off, and is about to be taken back
		}
		if view == nil || !canServe(view) {
			continue
		}
		s := serving{in, view.Status == registry.Up}
		if s.isUp {
			up-- // what is left are those without a notice
		}
		switch {
		case in.decided.Class == verdict.HardNotice:
			hard = append(hard, s)
		case isProbed(in.decided):
			lost = append(lost, s)
		case in.decided.Class == verdict.Inferred:
			silent = append(silent, s)
		default:
			planned = append(planned, s)
		}
	}
	stay := map[*instance]struct{}{}
	keep(stay, planned, c.floor(live)-up)
	if up+len(stay) == 0 {
		keep(stay, hard, 1)
	}
	keep(stay, silent, c.floor(live)-up-len(stay))
	if up+len(stay) == 0 {
		keep(stay, lost, 1)
	}
	return stay
}

// keep adds n instances to those that stay: those that are in service already,
// then by id, so that the choice does not wander.
func keep(stay map[*instance]struct{}, from []serving, n int) {
	if n <= 0 {
		return
	}
	slices.SortFunc(from, func(a, b serving) int {
		if a.isUp != b.isUp {
			return cmp.Compare(flag(b.isUp), flag(a.isUp))
		}
		return cmp.Compare(a.in.key.ID, b.in.key.ID)
	})
	for _, s := range from[:min(n, len(from))] {
		stay[s.in] = struct{}{}
	}
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// floor is how many of an application's live instances stay in service: the
// policy's share, rounded down, but at least one.
func (c *Cluster) floor(live int) int { return max(1, live*c.fallback.MinInServicePercent/100) }

// canServe reports whether an instance would be UP without a verdict.
func canServe(view *registry.Instance) bool {
	return view.Client == registry.Up && (view.Override == registry.None || view.Override == registry.Up)
}

// mustStay reports, before an instance is registered, whether its application
// would have too few in service without it.
func (c *Cluster) mustStay(in, old *instance) bool {
	switch {
	case in.rec.Status != registry.Up && in.rec.Status != registry.None:
		return false
	case old != nil && old.held:
		return true
	}
	up, live := c.reg.InService(in.key.App)
	if view := c.reg.Snapshot().Get(in.key); view == nil {
		live++
	} else if view.Status == registry.Up {
		up--
	}
	if in.decided.Class == verdict.HardNotice || isProbed(in.decided) {
		return up == 0
	}
	return up < c.floor(live)
}
