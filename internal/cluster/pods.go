package cluster

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/kureka/kureka/internal/evidence"
)

// ObservePod takes in the current state of a pod as a watch shows it. A state
// that says nothing new changes nothing. A word about a pod that is proven gone,
// or one that is older than what was seen already, as lists from the past are,
// changes nothing either and is answered true, doubted: a live read, told by
// PodPresent, can settle it.
func (c *Cluster) ObservePod(now time.Time, seen evidence.Pod) (doubted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.follow(now)
	if _, fenced := c.reg.FencedSince(seen.UID); fenced && c.pods[seen.UID] == nil {
		return true
	}
	if c.isPast(seen) {
		return true
	}
	c.observePod(now, seen)
	return false
}

// isPast reports whether a state is older than what was seen of the pod, or of the
// one that has its name.
func (c *Cluster) isPast(seen evidence.Pod) bool {
	p := c.pods[seen.UID]
	if p == nil {
		p = c.pods[c.names[seen.Namespace+"/"+seen.Name]]
	}
	return p != nil && seen.Version != 0 && seen.Version < p.version
}

// PodPresent takes in that a live read, sent at a moment, showed a pod. What was
// seen or proven after the read was sent is newer than its answer; but the state of
// a cluster that was restored from a backup may be older than what was seen before.
func (c *Cluster) PodPresent(now, sent time.Time, seen evidence.Pod) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.follow(now)
	if p := c.pods[seen.UID]; p != nil {
		if p.told.Before(sent) {
			c.observePod(now, seen)
		}
		return
	}
	since, fenced := c.reg.FencedSince(seen.UID)
	if fenced && (since.After(sent) || seen.Terminal()) {
		return
	}
	if fenced {
		c.reg.FreeUID(seen.UID)
	}
	c.observePod(now, seen)
}

func (c *Cluster) observePod(now time.Time, seen evidence.Pod) {
	name := seen.Namespace + "/" + seen.Name
	if other := c.pods[c.names[name]]; other != nil && other.UID != seen.UID {
		if seen.Created.Before(other.Created) {
			return
		}
		c.podGone(now, other, evidence.Gone{At: now, Replaced: true})
	}
	p := c.pods[seen.UID]
	switch {
	case p == nil:
		p = &pod{
			changed: map[string]time.Time{}, insts: map[*instance]struct{}{}, ids: map[*instance]struct{}{},
			seen:   now,
			proven: seen.Terminal(), // it had ended before anybody could register: there is nobody to fence
		}
		c.pods[seen.UID] = p
	case p.gone != nil:
		return
	}
	p.hear(now, &seen)
	if seen.Version = 0; reflect.DeepEqual(p.Pod, seen) {
		return
	}
	c.names[name] = seen.UID
	old := p.Pod
	p.Pod = seen
	c.noteWaiting(p)
	c.noteToken(p, old.DrainToken)
	p.leaving = p.leaving || seen.Deleting && !seen.Forced
	if addrs := seen.Addresses(); len(addrs) > 0 {
		p.addrs = addrs
	}
	c.noteReadiness(now, p, old.WorksForKubelet())
	if !maps.Equal(old.Annotations, seen.Annotations) {
		c.readAnnotations(now, p)
	}
	c.noteContainers(now, p, old)
	c.moveNode(p, old.Node)
	c.claim(p)
	c.reclaim(now, p)
	if len(p.claims) > 0 { // before it is judged by what its instances say by now
		c.keep(now, p)
	}
	c.evaluate(now, p)
}

// hear notes when something is heard of the pod, whether or not it is new.
func (p *pod) hear(now time.Time, seen *evidence.Pod) {
	p.version, p.told = seen.Version, now
	if seen.Deleting && p.ending.IsZero() {
		p.ending = now
	}
}

func (c *Cluster) noteReadiness(now time.Time, p *pod, before bool) {
	works := p.WorksForKubelet()
	if works != before {
		c.reg.SetPodReady(p.UID, works)
	}
	switch {
	case works:
		p.notReadySince = time.Time{}
	case p.notReadySince.IsZero():
		p.notReadySince = now
	}
}

// noteContainers notes new incarnations. What a script set from inside the pod
// does not outlive the container it was about to stop.
func (c *Cluster) noteContainers(now time.Time, p *pod, old evidence.Pod) {
	for _, container := range p.Containers {
		i := slices.IndexFunc(old.Containers, func(o evidence.Container) bool { return o.Name == container.Name })
		if i < 0 || old.Containers[i].ID == "" || old.Containers[i].ID == container.ID {
			continue
		}
		p.changed[container.Name] = now
		maps.DeleteFunc(p.cancelled, func(_, of string) bool { return of == "" || of == container.Name })
		for in := range p.insts {
			if in.container == container.Name {
				c.reg.EndOwnOverride(now, in.key)
			}
		}
	}
}

func (c *Cluster) moveNode(p *pod, old string) {
	if n := c.nodes[old]; n != nil && old != p.Node {
		delete(n.pods, p)
		c.dropNodeIfUnknown(n)
	}
	if p.Node != "" {
		c.nodeFor(p.Node).pods[p] = struct{}{}
	}
}

// PodGone takes in that a pod's object is gone: seen as a deletion by a live
// watch, or confirmed by a live read. A pod that vanished without a grace period
// while its node is missing or Unknown gets some time: its process may well be
// alive behind a broken network.
func (c *Cluster) PodGone(now time.Time, uid string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.follow(now)
	p := c.pods[uid]
	if p == nil || p.gone != nil {
		return
	}
	abrupt := false
	if n := c.nodes[p.Node]; !p.leaving && !p.Terminal() && p.Node != "" && n != nil {
		abrupt = n.Missing || n.Condition("Ready").Status == evidence.Unknown
	}
	c.podGone(now, p, evidence.Gone{At: now, Abrupt: abrupt})
}

func (c *Cluster) podGone(now time.Time, p *pod, gone evidence.Gone) {
	p.gone = &gone
	c.noteWaiting(p)
	c.reclaim(now, p)
	c.evaluate(now, p)
}

func (c *Cluster) forgetPod(now time.Time, p *pod) {
	delete(c.pods, p.UID)
	c.dropToken(p, p.DrainToken)
	delete(c.due, p)
	c.unclaim(p)
	if name := p.Namespace + "/" + p.Name; c.names[name] == p.UID {
		delete(c.names, name)
	}
	if n := c.nodes[p.Node]; n != nil {
		delete(n.pods, p)
		c.dropNodeIfUnknown(n)
	}
	c.reclaim(now, p)
}

// KnownPod names a pod of the index.
type KnownPod struct{ UID, Namespace, Name string }

// KnownPods returns the pods that are believed to exist, so that a complete list
// can be compared with them.
func (c *Cluster) KnownPods() []KnownPod {
	c.mu.RLock()
	defer c.mu.RUnlock()
	out := make([]KnownPod, 0, len(c.pods))
	for _, p := range c.pods {
		if p.gone == nil {
			out = append(out, KnownPod{p.UID, p.Namespace, p.Name})
		}
	}
	return out
}

// PodUID returns the UID of the pod that is believed to have the name.
func (c *Cluster) PodUID(namespace, name string) (string, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	uid, ok := c.names[namespace+"/"+name]
	return uid, ok
}
