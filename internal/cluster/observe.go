package cluster

import (
	"time"

	"github.com/kureka/kureka/internal/verdict"
)

// Where a policy says Observe, verdicts are computed and told but do not act. A
// finding is such a verdict, and what became of it tells whether acting would have
// been right.

// lingering is how long after a pod's object is gone its process may still send
// heartbeats without that being remarkable: a forced deletion shows at once, the
// kubelet ends the process some seconds later.
const lingering = 10 * time.Second

// quietEnough is how long a client must have been silent to be believed dead: one
// that could not reach the registry backs off for at most that long.
const quietEnough = 5 * time.Minute

// Finding is a verdict that did not act because the policy only observes.
type Finding struct {
	// Change is the verdict, with WouldRemove, WouldTakeOut or Noted as its effect.
	Change
	// Outcome is empty while nothing has happened since, else Contradicted,
	// Withdrawn or Confirmed.
	Outcome   Effect
	SettledAt time.Time

	in *instance // nil once settled
}

// findings is a ring of the newest findings.
type findings struct {
	ring []*Finding
	next int
	open map[*Finding]struct{}
}

func (f *findings) add(found *Finding) {
	if f.open == nil {
		f.open = map[*Finding]struct{}{}
	}
	f.open[found] = struct{}{}
	if len(f.ring) < historyLength {
		f.ring = append(f.ring, found)
		return
	}
	f.close(f.ring[f.next]) // too old to be told of
	f.ring[f.next] = found
	f.next = (f.next + 1) % historyLength
}

func (f *findings) close(found *Finding) {
	delete(f.open, found)
	if found.in != nil {
		found.in.finding = nil
	}
	found.in = nil
}

// Findings returns what was found since a moment, the newest first.
func (c *Cluster) Findings(since time.Time) []Finding {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var out []Finding
	f := &c.found
	for i := range f.ring {
		found := f.ring[(f.next+len(f.ring)-1-i)%len(f.ring)]
		if !found.At.Before(since) {
			out = append(out, *found)
			out[len(out)-1].in = nil
		}
	}
	return out
}

// observes reports whether verdicts about a pod are only shown.
func (c *Cluster) observes(p *pod) bool {
	if p == nil {
		return c.fallback.Observe
	}
	return c.policyOf(p.Namespace).Observe
}

// notePassing tells of a proof that does not act. The pod's instances are left to
// their leases.
func (c *Cluster) notePassing(now time.Time, p *pod, v verdict.Verdict) {
	if p.gone != nil { // for good, so that its addresses are nobody's
		p.proven = true
		c.reclaim(now, p)
	}
	for in := range p.insts {
		if in.kept != nil { // nothing else would ever end it
			c.release(now, in, v.Reason)
			continue
		}
		ch := change(now, in, v)
		ch.Effect = WouldRemove
		c.find(now, in, ch)
		c.discard(in)
		in.unbound, in.byAddress = UnboundObserved, false
		in.decided = verdict.Verdict{}
		c.track(in)
		c.reg.Rebind(now, in.key, c.binding(in))
	}
	c.reg.FreeUID(p.UID)
	if p.gone != nil {
		c.forgetPod(now, p)
		return
	}
	p.proven = false
}

// noteObserved tells once of a verdict that does not act.
func (c *Cluster) noteObserved(now time.Time, in *instance) {
	if !c.observes(in.pod) {
		return
	}
	noted := ""
	if in.finding != nil {
		noted = in.finding.Reason
	}
	switch {
	case in.decided.Reason == noted:
	case in.decided.Reason == "" && in.finding.Class == verdict.None: // a change of owner, which no check decides
	case in.decided.Reason == "" && in.finding.Class == verdict.Proof: // heartbeats decide about it
	case in.decided.Reason == "":
		c.settleFinding(now, in.finding, c.contradictedOr(Withdrawn, in.finding))
	default:
		ch := change(now, in, in.decided)
		ch.Effect = WouldTakeOut
		if in.decided.Class.HasFloor() && in.held {
			ch.Effect = Noted
		}
		c.find(now, in, ch)
	}
}

// find keeps a finding about an instance and tells of it. One that is open already
// was right as far as it went.
func (c *Cluster) find(now time.Time, in *instance, ch Change) {
	if in.finding != nil {
		c.settleFinding(now, in.finding, c.contradictedOr(Confirmed, in.finding))
	}
	found := &Finding{Change: ch, in: in}
	in.finding = found
	c.found.add(found)
	c.report(ch)
}

// keepFinding hands a finding on to the record that replaces the one it is about,
// if it is the same client's.
func (c *Cluster) keepFinding(in, old *instance) {
	if old.finding != nil && old.pod == in.pod && old.ip == in.ip {
		in.finding, old.finding = old.finding, nil
		in.finding.in = in
	}
}

// settleFinding says what became of a finding.
func (c *Cluster) settleFinding(now time.Time, found *Finding, outcome Effect) {
	found.Outcome, found.SettledAt = outcome, now
	c.found.close(found)
	ch := found.Change
	ch.At, ch.Effect = now, outcome
	c.report(ch)
}

// contradictedOr returns Contradicted if a heartbeat came that could not have come
// had the finding been right, else what it is told.
func (c *Cluster) contradictedOr(otherwise Effect, found *Finding) Effect {
	if seen, ok := c.reg.LastSeen(found.Key); ok && found.deniedBy(seen) {
		return Contradicted
	}
	return otherwise
}

// saysDead reports whether the process should be silent if the finding is right. A
// notice says nothing of the kind: its process is still running.
func (f *Finding) saysDead() bool {
	return f.Class == verdict.Proof || f.Class == verdict.Inferred || f.Reason == verdict.ReasonContainerDown
}

// deniedBy reports whether a sign of life at a moment shows that acting would have
// been wrong.
func (f *Finding) deniedBy(seen time.Time) bool {
	at := f.At
	if f.Class == verdict.Proof {
		at = at.Add(lingering)
	}
	return f.saysDead() && seen.After(at)
}

// reviewFindings settles what has been decided by later heartbeats, or by their
// absence.
func (c *Cluster) reviewFindings(now time.Time) {
	for found := range c.found.open {
		current := c.insts[found.Key]
		switch {
		case current == nil:
			c.settleFinding(now, found, Confirmed) // cancelled, or its lease ended
		case current != found.in && (current.ip != found.in.ip || current.pod != nil && current.pod.UID != found.PodUID):
			c.settleFinding(now, found, Confirmed) // somebody else has the id by now
		case c.contradictedOr("", found) == Contradicted:
			c.settleFinding(now, found, Contradicted)
		case found.saysDead() && now.Sub(found.At) > quietEnough+c.reg.Rhythm(found.Key):
			c.settleFinding(now, found, Confirmed) // only self-preservation keeps it
		}
	}
}
