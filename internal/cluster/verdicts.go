package cluster

import (
	"time"

	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/internal/verdict"
)

const proof = verdict.Proof

func proofOf(p *pod) registry.Proof {
	return registry.Proof{UID: p.UID, Addrs: p.Addresses(), Reason: "PodGone"}
}

// evaluate derives the verdicts on a pod's instances from the current evidence
// and puts them in force.
func (c *Cluster) evaluate(now time.Time, p *pod) {
	delete(c.due, p)
	if v := verdict.Decide(c.input(now, p, nil)); v.Class == proof {
		c.prove(now, p, v)
		return
	}
	if p.proven { // what was proof is not true any more, a taint for example
		p.proven = false
		c.reg.FreeUID(p.UID)
	}
	for in := range p.insts {
		c.decide(now, in)
		if in.decided.Class == proof { // only when the instance's silence decides
			c.prove(now, p, in.decided)
			return
		}
		c.apply(now, in)
	}
	for app := range appsOf(p) {
		c.settle(now, app)
	}
}

func appsOf(p *pod) map[string]struct{} {
	apps := map[string]struct{}{}
	for in := range p.insts {
		apps[in.key.App] = struct{}{}
	}
	return apps
}

// input gathers what the rules look at. Without an instance only what is said
// about the pod itself counts.
func (c *Cluster) input(now time.Time, p *pod, in *instance) verdict.Input {
	i := verdict.Input{Now: now, Pod: &p.Pod, Gone: p.gone, SliceTerminating: c.sliceTerminating(p)}
	if n := c.nodes[p.Node]; n != nil && p.Node != "" {
		i.Node = &n.Node
	}
	if in == nil {
		i.Seen = now
		return i
	}
	i.Seen, i.Interval = in.registration, in.rec.RenewalInterval
	if seen, ok := c.reg.LastSeen(in.key); ok {
		i.Seen = seen
	}
	if i.Interval <= 0 {
		i.Interval = registry.DefaultPolicy().DefaultInterval
	}
	for _, container := range p.Containers {
		if container.Name == in.container && in.container != "" {
			i.Life = &verdict.Life{
				Container: container, Baseline: in.baseline, Changed: p.changed[container.Name],
				Request: in.request, Registration: in.registration,
			}
		}
	}
	return i
}

// decide asks the rules about one instance. A new incarnation that has been
// heard becomes the one the instance belongs to.
func (c *Cluster) decide(now time.Time, in *instance) {
	i := c.input(now, in.pod, in)
	if l := i.Life; l != nil && l.Container.ID != "" && l.Container.Running && l.Baseline != l.Container.ID {
		if l.Baseline == "" || l.Acknowledged(i.Node) {
			in.baseline, l.Baseline = l.Container.ID, l.Container.ID
		}
	}
	in.decided = verdict.Decide(i)
	if next := in.decided.NextCheck; !next.IsZero() {
		if at, waiting := c.due[in.pod]; !waiting || next.Before(at) {
			c.due[in.pod] = next
		}
	}
	if in.decided.Class == verdict.HardNotice {
		add(c.noticed, in.key.App, in)
	} else {
		drop(c.noticed, in.key.App, in)
		in.held = false
	}
}

// inForce is the verdict as the registry is to apply it. Whether a notice acts is
// decided for the whole application, by settle.
func (c *Cluster) inForce(in *instance) registry.Verdict {
	switch class := in.decided.Class; {
	case class == verdict.Ending:
		return registry.Verdict{OutOfService: true, Ending: true, Reason: in.decided.Reason}
	case class == verdict.HardNotice && !in.held:
		return registry.Verdict{OutOfService: true, Reason: in.decided.Reason}
	}
	return registry.Verdict{}
}

// apply puts the decided verdict in force, but for notices.
func (c *Cluster) apply(now time.Time, in *instance) {
	if in.pod == nil || in.decided.Class == verdict.HardNotice {
		return
	}
	c.enforce(now, in, c.inForce(in))
}

func (c *Cluster) enforce(now time.Time, in *instance, v registry.Verdict) {
	if !c.reg.SetVerdict(now, in.key, v) {
		return
	}
	ch := c.change(now, in, in.decided)
	ch.To = registry.OutOfService
	if !v.OutOfService {
		ch.To, ch.Reason = registry.Up, ReasonRecovered
		if in.held {
			ch.Reason = ReasonHeldByFloor
		}
	}
	c.opts.Observer(ch)
}

func (c *Cluster) change(now time.Time, in *instance, v verdict.Verdict) Change {
	ch := Change{At: now, Key: in.key, Class: v.Class, Reason: v.Reason, Witness: v.Witness, Detail: v.Detail}
	if p := in.pod; p != nil {
		ch.Namespace, ch.Pod, ch.PodUID, ch.Node = p.Namespace, p.Name, p.UID, p.Node
	}
	return ch
}

// prove removes a pod's instances for good.
func (c *Cluster) prove(now time.Time, p *pod, v verdict.Verdict) {
	apps := appsOf(p)
	first := !p.proven
	p.proven = true
	if first || len(p.insts) > 0 {
		pr := proofOf(p)
		pr.Reason = v.Reason
		c.reg.Prove(now, pr)
	}
	for in := range p.insts {
		ch := c.change(now, in, v)
		c.untrack(now, in)
		c.opts.Observer(ch)
	}
	for app := range apps {
		c.settle(now, app)
	}
	if p.gone != nil {
		c.forgetPod(now, p)
	}
}

// settle decides which instances of an application a hard notice takes out: all
// of them while another instance is in service, all but one otherwise.
func (c *Cluster) settle(now time.Time, app string) {
	members := c.noticed[app]
	if len(members) == 0 {
		return
	}
	keep := c.lastInService(app, members)
	for in := range members {
		if in.held = in == keep; in.held {
			c.enforce(now, in, registry.Verdict{})
		}
	}
	for in := range members {
		if !in.held {
			c.enforce(now, in, c.inForce(in))
		}
	}
}

// lastInService returns the noticed instance that has to stay in service, nil
// when an instance without a notice is.
func (c *Cluster) lastInService(app string, members map[*instance]struct{}) *instance {
	var keep *instance
	var keepView *registry.Instance
	for view := range c.reg.Snapshot().App(app) {
		in := c.insts[view.Key()]
		_, noticed := members[in]
		if !noticed {
			if view.Status == registry.Up {
				return nil
			}
			continue
		}
		canServe := view.Client == registry.Up && (view.Override == registry.None || view.Override == registry.Up)
		better := keep == nil || view.Status == registry.Up && keepView.Status != registry.Up
		if canServe && better {
			keep, keepView = in, view
		}
	}
	return keep
}
