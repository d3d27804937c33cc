package cluster

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/internal/verdict"
)

// evaluate derives the verdicts on a pod's instances from the current evidence
// and puts them in force.
func (c *Cluster) evaluate(now time.Time, p *pod) { c.evaluateAll(now, map[*pod]struct{}{p: {}}) }

// evaluateAll does so for several pods at once, so that what is decided for a
// whole application is decided once.
func (c *Cluster) evaluateAll(now time.Time, pods map[*pod]struct{}) {
	apps := map[string]struct{}{}
	var sharing []*instance
	for p := range pods {
		for in := range p.insts {
			apps[in.key.App] = struct{}{}
			c.changed()
		}
		c.judge(now, p)
		if !p.alive() {
			for in := range p.ids {
				if in.pod != p {
					sharing = append(sharing, in)
				}
			}
		}
	}
	for app := range apps {
		c.settle(now, app)
	}
	for _, in := range sharing {
		if c.insts[in.key] == in {
			c.rebind(now, in) // one pod fewer uses its id
		}
	}
}

func (c *Cluster) evaluateEveryPod(now time.Time) {
	pods := make(map[*pod]struct{}, len(c.pods))
	for _, p := range c.pods {
		pods[p] = struct{}{}
	}
	c.evaluateAll(now, pods)
}

func (c *Cluster) judge(now time.Time, p *pod) {
	delete(c.due, p)
	v := verdict.Decide(c.input(now, p, nil))
	if v.Class == verdict.Proof {
		c.prove(now, p, v)
		return
	}
	c.wake(p, v)
	if p.proven { // what was proof is not true any more, a taint for example
		p.proven = false
		c.reg.FreeUID(p.UID)
		c.reclaim(now, p)
		c.freeOwned(p)
		c.mark(p) // what was kept for it went with the proof
	}
	for in := range p.insts {
		c.decide(now, in)
		if in.decided.Class == verdict.Proof { // only when the instance's silence decides
			c.prove(now, p, in.decided)
			return
		}
		if !in.decided.Class.HasFloor() { // those are settled for the whole application
			in.held = false
			c.enforce(now, in)
		}
	}
}

// freeOwned lifts the fence from what a pod owns that lives after all; the fence
// may have been another's.
func (c *Cluster) freeOwned(p *pod) {
	for _, a := range p.claimed {
		if c.owners[a] == p {
			c.reg.FreeAddr(a)
		}
	}
}

// wake notes when a verdict may change without new evidence.
func (c *Cluster) wake(p *pod, v verdict.Verdict) {
	if v.NextCheck.IsZero() {
		return
	}
	if at, waiting := c.due[p]; !waiting || v.NextCheck.Before(at) {
		c.due[p] = v.NextCheck
	}
}

// input gathers what the rules look at. Without an instance only what is said
// about the pod itself counts.
func (c *Cluster) input(now time.Time, p *pod, in *instance) verdict.Input {
	i := verdict.Input{Now: now, Policy: c.policyOf(p.Namespace), Pod: &p.Pod, Gone: p.gone, NotReadySince: p.notReadySince, Seen: now, SliceTerminating: !c.readable && c.ends.podEnds(p.UID)}
	if n := c.nodes[p.Node]; n != nil && p.Node != "" {
		i.Node, i.Silence = &n.Node, n.silence
	}
	if in == nil {
		return i
	}
	i.Seen, i.Interval = in.registration, in.rec.RenewalInterval
	i.Silence.At, i.Silence.By, i.Silence.Detail, i.Rebooted = in.silent.at, in.silent.by, in.silent.detail, in.rebooted
	if p.gone != nil || !in.silent.at.IsZero() { // only then it is asked for
		i.Interval = c.reg.Rhythm(in.key)
	}
	if seen, ok := c.reg.LastSeen(in.key); ok && seen.After(i.Seen) { // not the record that this one replaces
		i.Seen = seen
	}
	if i.Interval <= 0 {
		i.Interval = registry.DefaultPolicy().DefaultInterval
	}
	if in.kept != nil {
		i.Kept, i.Seen = c.keptEvidence(in), now
	}
	i.Life = p.lifeOf(in)
	return i
}

// lifeOf compares an instance's container with the one that registered it.
func (p *pod) lifeOf(in *instance) *verdict.Life {
	for _, container := range p.Containers {
		if container.Name == in.container && in.container != "" {
			return &verdict.Life{
				Container: container, Baseline: in.baseline, Changed: p.changed[container.Name],
				Request: in.request, Registration: in.registration,
			}
		}
	}
	return nil
}

// inputFor gathers what the rules look at for an instance. Of one without a pod
// only slices can speak, while pods cannot be read.
func (c *Cluster) inputFor(now time.Time, in *instance) verdict.Input {
	if in.pod != nil {
		return c.input(now, in.pod, in)
	}
	return verdict.Input{Now: now, Policy: &c.fallback, Pod: &evidence.Pod{}, Seen: now, SliceTerminating: !c.readable && c.ends.addressEnds(in.ip)}
}

// decide asks the rules about one instance. A new incarnation that has been
// heard becomes the one the instance belongs to.
func (c *Cluster) decide(now time.Time, in *instance) {
	i := c.inputFor(now, in)
	if l := i.Life; l != nil && l.Container.ID != "" && l.Container.Running && l.Baseline != l.Container.ID {
		if l.Baseline == "" || in.kept != nil || l.Acknowledged(now, i.Node) {
			in.baseline, l.Baseline = l.Container.ID, l.Container.ID
			c.changed()
		}
	}
	in.decided = verdict.Decide(i)
	if in.pod != nil {
		c.wake(in.pod, in.decided)
	}
	if in.decided.Class.HasFloor() {
		add(c.noticed, in.key.App, in)
	} else {
		drop(c.noticed, in.key.App, in)
	}
}

// inForce is the verdict as the registry is to apply it.
func (c *Cluster) inForce(in *instance) registry.Verdict {
	switch class := in.decided.Class; {
	case c.observes(in.pod):
		return registry.Verdict{}
	case class == verdict.Ending, class == verdict.Asked:
		return registry.Verdict{OutOfService: true, Ending: true, Reason: in.decided.Reason}
	case class.HasFloor() && in.held:
		return registry.Verdict{Reason: ReasonHeldByFloor}
	case class.HasFloor():
		return registry.Verdict{OutOfService: true, Reason: in.decided.Reason}
	}
	return registry.Verdict{}
}

// enforce puts an instance's verdict in force and tells of it if that changed
// anything.
func (c *Cluster) enforce(now time.Time, in *instance) {
	c.noteObserved(now, in)
	v := c.inForce(in)
	if !c.reg.SetVerdict(now, in.key, v) {
		return
	}
	c.tell(now, in, v)
}

// tell tells of the verdict that is in force from now on.
func (c *Cluster) tell(now time.Time, in *instance, v registry.Verdict) {
	ch := change(now, in, in.decided)
	switch {
	case v.OutOfService:
		ch.Effect = TakenOut
	case in.held:
		ch.Effect, ch.Reason = Noted, ReasonHeldByFloor
	default:
		ch.Effect, ch.Reason = PutBack, ReasonRecovered
	}
	c.report(ch)
}

func change(now time.Time, in *instance, v verdict.Verdict) Change {
	ch := Change{At: now, Key: in.key, Class: v.Class, Reason: v.Reason, Witness: v.Witness, Confirmed: v.Confirmed, Detail: v.Detail}
	if p := in.pod; p != nil {
		ch.Namespace, ch.Pod, ch.PodUID, ch.Node = p.Namespace, p.Name, p.UID, p.Node
	}
	return ch
}

// prove removes a pod's instances for good.
func (c *Cluster) prove(now time.Time, p *pod, v verdict.Verdict) {
	if c.observes(p) {
		c.notePassing(now, p, v)
		return
	}
	if !p.proven || len(p.insts) > 0 {
		p.proven = true
		c.reclaim(now, p)
		c.reg.Prove(now, c.proofOf(p))
	}
	for _, in := range slices.Collect(maps.Keys(p.insts)) {
		ch := change(now, in, v)
		ch.Effect = Removed
		c.untrack(now, in)
		c.report(ch)
		c.succeed(now, in)
	}
	if p.gone != nil {
		c.forgetPod(now, p)
	}
}

// proofOf is the proof that the pod is gone, with the addresses that are not
// somebody else's by now.
func (c *Cluster) proofOf(p *pod) registry.Proof {
	proof := registry.Proof{UID: p.UID, Addrs: make([]netip.AddrPort, 0, len(p.addrs))}
	for _, a := range p.addrs {
		if owner := c.owners[a]; owner == nil || owner == p || owner.rank() == ended {
			proof.Addrs = append(proof.Addrs, a)
		}
	}
	return proof
}
