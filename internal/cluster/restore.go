package cluster

import (
	"errors"
	"fmt"
	"time"

	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/internal/verdict"
)

// Restore goes on where the view and the registry stopped that made the
// checkpoint. It must be called on a new view over a new engine, before anything
// else, and leaves both unusable if it returns an error.
//
// Pods and nodes are believed to be as they were until a watch tells something
// newer. Those that the first complete list lacks are among KnownPods and
// KnownNodes, so they go when a live read has confirmed it.
//
// What waits for a sign of life waits on: nobody could be heard while nobody
// listened. When clients asked for something, and what nodes tell by their own
// clocks, stays what it was.
//
// When it returns, the registry can be served. Without an error the caller must then
// call catchUp once, on any goroutine: it finishes the view, in about 15 ms per 1,000
// instances, and whatever needs the view waits until it has returned.
func (c *Cluster) Restore(now time.Time, cp *Checkpoint) (catchUp func(), err error) {
	c.mu.Lock()
	insts, err := c.rebuild(now, cp)
	if err != nil {
		c.mu.Unlock()
		return nil, err
	}
	return func() {
		defer c.mu.Unlock()
		c.finish(now, insts, cp)
	}, nil
}

// rebuild restores the registry, and at the same time what the view consists of.
func (c *Cluster) rebuild(now time.Time, cp *Checkpoint) ([]*instance, error) {
	if cp.Registry == nil {
		return nil, errors.New("restoring the view: it holds no registry")
	}
	if err := c.restorePolicies(now, cp.Policies); err != nil {
		return nil, fmt.Errorf("restoring the view: %w", err)
	}
	registered := make(chan error, 1)
	go func() { registered <- c.reg.Restore(now, cp.Registry) }()
	insts, err := c.restoreView(now, cp)
	if failed := <-registered; failed != nil {
		return nil, failed //nolint:wrapcheck // it says what failed
	}
	if err != nil {
		return nil, fmt.Errorf("restoring the view: %w", err)
	}
	return insts, nil
}

// restoreView restores nodes, pods and instances, tied to each other.
// Nothing in it may need the registry.
func (c *Cluster) restoreView(now time.Time, cp *Checkpoint) ([]*instance, error) {
	c.hiding = now.Add(FreshFor + settleAfter)
	away := now.Sub(time.UnixMilli(cp.Registry.SavedMS))
	c.restoreNodes(now, away, cp.Nodes)
	for i := range cp.Pods {
		if err := c.restorePod(now, away, &cp.Pods[i]); err != nil {
			return nil, err
		}
	}
	return c.restoreInstances(away, cp)
}

// finish restores what follows from the rest.
func (c *Cluster) finish(now time.Time, insts []*instance, cp *Checkpoint) {
	for _, p := range c.pods {
		c.reclaim(now, p)
	}
	for _, in := range insts {
		c.track(in)
		if in.pod == nil {
			c.decide(now, in)
		}
	}
	c.restoreFirsts(cp.Firsts)
	c.restoreOwners(now, cp)
	for _, p := range c.pods {
		p.own, p.faults = listingOf(p.Annotations, c.opts.Class) // the faults have been told
		c.claim(p)
	}
	c.follow(now)
	c.evaluateEveryPod(now)
}

func (c *Cluster) restorePolicies(now time.Time, saved SavedPolicies) error {
	if err := saved.Fallback.validate(); err != nil {
		return err
	}
	own := make(map[string]verdict.Policy, len(saved.Namespaces))
	for name, p := range saved.Namespaces {
		if err := p.validate(); err != nil {
			return err
		}
		own[name] = verdict.Policy(p)
	}
	c.fallback, c.policies = verdict.Policy(saved.Fallback), pointers(own)
	c.tellPolicies(now, c.fallback, own)
	return nil
}

// validate refuses numbers that no policy can have and nobody can reckon with.
func (p *SavedPolicy) validate() error {
	if p.DefaultInterval <= 0 || p.DefaultDuration <= 0 || p.MaxDuration <= 0 || p.MinInterval < 0 || p.MaxInterval < 0 || p.MinDuration < 0 {
		return errors.New("a policy without an interval or a duration")
	}
	return nil
}

func (c *Cluster) restoreNodes(now time.Time, away time.Duration, saved []SavedNode) {
	for _, s := range saved {
		n := c.nodeFor(s.Node.Name)
		c.forgetAddresses(n)
		n.Node, n.version = s.Node, s.Node.Version
		n.Version = 0
		n.Booted = moved(s.Node.Booted, away)
		if at := s.Node.Compared; !at.IsZero() {
			n.Compared = now.Add(at.Sub(now)) // monotonic from now on
		}
		n.leased, n.leaseLasts, n.unknown = moved(s.Leased, away), s.LeaseLasts, moved(s.Unknown, away)
		n.silence = evidence.Silence{Leased: !n.leased.IsZero(), Lasts: n.leaseLasts}
		if s.Object {
			n.seen = now
		}
		c.knowAddresses(n)
	}
}

// moved is a moment of our own time, as long ago as it was before time away.
func moved(at time.Time, away time.Duration) time.Time {
	if at.IsZero() {
		return at
	}
	return at.Add(away)
}

func (c *Cluster) restorePod(now time.Time, away time.Duration, s *SavedPod) error {
	if s.Pod.UID == "" || c.pods[s.Pod.UID] != nil {
		return fmt.Errorf("the pod %q is there twice", s.Pod.UID)
	}
	p := &pod{
		seen: now, Pod: s.Pod, proven: s.Proven, leaving: s.Leaving, addrs: s.Addrs, changed: s.Changed, version: s.Pod.Version,
		insts: map[*instance]struct{}{}, ids: map[*instance]struct{}{},
	}
	if s.Gone != nil {
		gone := *s.Gone
		gone.At = gone.At.Add(away)
		p.gone = &gone
	}
	p.Version = 0
	p.notReadySince, p.cancelled = moved(s.NotReadySince, away), s.Cancelled
	if p.changed == nil {
		p.changed = map[string]time.Time{}
	}
	c.pods[p.UID] = p
	if name := p.Namespace + "/" + p.Name; p.gone == nil || c.names[name] == "" {
		c.names[name] = p.UID
	}
	c.noteWaiting(p)
	c.noteToken(p, "")
	c.moveNode(p, "")
	return nil
}

// restoreInstances returns the instances, of which the view does not know yet.
func (c *Cluster) restoreInstances(away time.Duration, cp *Checkpoint) ([]*instance, error) {
	records := make(map[registry.Key]*registry.SavedInstance, len(cp.Registry.Instances))
	for i := range cp.Registry.Instances {
		if r := &cp.Registry.Instances[i]; r.Record != nil { // the registry refuses one without
			records[r.Record.Key()] = r
		}
	}
	insts := make([]*instance, 0, len(cp.Instances))
	for i := range cp.Instances {
		s := &cp.Instances[i]
		if records[s.Key] == nil {
			return nil, fmt.Errorf("%s has no record, or is there twice", s.Key)
		}
		in, err := c.restored(s, records[s.Key])
		if err != nil {
			return nil, err
		}
		c.restoreSilence(in, s, away)
		delete(records, s.Key)
		insts = append(insts, in)
	}
	if len(records) > 0 {
		return nil, fmt.Errorf("%d records without a binding", len(records))
	}
	return insts, nil
}

// restoreOwners restores whose ids were last.
func (c *Cluster) restoreOwners(now time.Time, cp *Checkpoint) {
	away := now.Sub(time.UnixMilli(cp.Registry.SavedMS))
	for i := range cp.Instances {
		if s := &cp.Instances[i]; s.Owner != "" {
			c.last[s.Key] = s.Owner
		}
	}
	for _, o := range cp.Orphans {
		if c.insts[o.Key] == nil && len(c.orphans) < maxOrphans {
			c.last[o.Key] = o.Owner
			c.orphans = append(c.orphans, orphan{o.Key, o.At.Add(away)})
			c.orphaned[o.Key] = o.At.Add(away)
		}
	}
}

// restoreSilence restores what was concluded of the instance's node. A node that was
// concluded to be silent is looked at until its Lease changes.
func (c *Cluster) restoreSilence(in *instance, s *SavedInstance, away time.Duration) {
	in.silent = conclusion{moved(s.Silent.At, away), s.Silent.By, s.Silent.Detail}
	in.rebooted = moved(s.Rebooted, away)
	if in.pod == nil || in.silent.at.IsZero() {
		return
	}
	if n := c.nodes[in.pod.Node]; n != nil {
		n.concluded = true
	}
}

// restoreFirsts restores which namespaces came first. Everybody who is restored had
// a rank, so age decides nothing among them, and the others have been told.
func (c *Cluster) restoreFirsts(saved []SavedFirst) {
	for _, f := range saved {
		if s := c.spreads[f.App]; s != nil && len(s.by[f.Namespace]) > 0 {
			s.first = f.Namespace
		}
	}
	for _, s := range c.spreads {
		s.ranked = true
		for namespace := range s.by {
			s.told[namespace] = namespace != s.first && c.fallback.AcrossNamespaces != verdict.Merge
		}
	}
}

func (c *Cluster) restored(s *SavedInstance, r *registry.SavedInstance) (*instance, error) {
	in := newInstance(s.Registration, s.Source, r.Record)
	in.byAddress, in.unbound, in.unlisted, in.container, in.baseline = s.ByAddress, s.Unbound, r.Binding.Unlisted, s.Container, s.Baseline
	in.request, in.held, in.turnedAway = s.Request, s.Held, s.TurnedAway[max(0, len(s.TurnedAway)-maxTurnedAway):]
	if r.Kept { // by whom is known when the offers are
		in.kept = &claim{listing: &Listing{App: s.Key.App}}
		in.everReady, in.readyIn = s.EverReady, s.ReadyIn
	}
	switch {
	case s.Pod != r.Binding.PodUID:
		return nil, fmt.Errorf("%s is bound to two pods", s.Key)
	case r.Kept && s.Pod == "":
		return nil, fmt.Errorf("%s is kept for no pod", s.Key)
	}
	if err := c.restoreUsers(in, s); err != nil {
		return nil, err
	}
	return in, nil
}

// restoreUsers binds an instance to the pods that it was bound to.
func (c *Cluster) restoreUsers(in *instance, s *SavedInstance) error {
	users := s.Users
	if len(users) == 0 && s.Pod != "" {
		users = []string{s.Pod}
	}
	for _, uid := range users {
		if c.pods[uid] == nil {
			return fmt.Errorf("%s is bound to the unknown pod %q", s.Key, uid)
		}
		in.users = append(in.users, c.pods[uid])
	}
	in.pod, in.sharer = c.pods[s.Pod], c.pods[s.Sharer]
	if s.Pod != "" && in.pod == nil || s.Sharer != "" && in.sharer == nil {
		return fmt.Errorf("%s is bound to an unknown pod", s.Key)
	}
	return nil
}
