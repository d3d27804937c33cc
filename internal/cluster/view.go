package cluster

import (
	"time"

	"github.com/kureka/kureka/internal/registry"
)

const (
	// FreshFor is how long the view counts as fresh after the last word of the
	// canary and of the node Leases.
	FreshFor = 15 * time.Second
	// nodeFreshFor is the same for a single node, which renews every 10 s.
	nodeFreshFor = 15 * time.Second
	// settleAfter is how long a view is fresh before the absence of a pod from it
	// hides what is listed: more than the longest pause between two attempts to
	// watch, and than a kubelet takes to tell a pod's address.
	settleAfter = 10 * time.Second
	// lastOwnerRetention is how long it is remembered whose an id was.
	lastOwnerRetention = 10 * time.Minute
)

// ObserveCanary takes in that our own Lease came back on the watch, and when we
// wrote it: a watch that delivers everything late proves nothing about the present.
func (c *Cluster) ObserveCanary(now, written time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// Kept by our monotonic clock: of what was written before the wall clock was set,
	// only this one arrival is misjudged. A time ahead is another process's.
	sent := now.Add(-max(0, now.Sub(written)))
	if sent.After(c.canary) {
		c.canary = sent
	}
}

// Fresh reports whether the view is fresh: the watches demonstrably deliver.
func (c *Cluster) Fresh() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.fresh
}

// HeardSince reports whether pods can be read and the watches have delivered something
// that was written after a moment, so that what had become of pods by then is known.
func (c *Cluster) HeardSince(at time.Time) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.readable && c.canary.After(at)
}

// Tick lets time pass in the view and in the registry. It is to be called once a
// second. It returns what the registry did.
func (c *Cluster) Tick(now time.Time) registry.Ticked {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.follow(now)
	if c.started.IsZero() {
		c.started = now
	}
	c.measure(now)
	c.watchSilence(now)
	c.ends.age(now)
	due := map[*pod]struct{}{}
	for p, at := range c.due {
		if !now.Before(at) {
			due[p] = struct{}{}
		}
	}
	c.evaluateAll(now, due)
	ticked := c.reg.Tick(now)
	for _, gone := range ticked.Evicted {
		if in := c.insts[gone.Key]; in != nil {
			c.untrack(now, in)
		}
	}
	for app := range c.noticed {
		c.settle(now, app)
	}
	c.reviewFindings(now)
	c.forgetOwners(now)
	return ticked
}

// measure decides whether the view is fresh. An own Lease and the nodes' Leases
// travel the same way as everything else, so their arrival proves that the rest
// would arrive too. What is not listed because its pod has not been seen depends
// on it, in both directions.
func (c *Cluster) measure(now time.Time) {
	fresh := c.readable && now.Sub(c.canary) <= FreshFor && now.Sub(c.leases) <= FreshFor
	turned := fresh != c.fresh
	if turned {
		c.fresh, c.freshSince = fresh, now
		c.reviewLeft(now)
		c.reg.SetFresh(fresh)
	}
	settled := fresh && now.Sub(c.freshSince) >= settleAfter
	late := !c.hiding.IsZero() && !now.Before(c.hiding)
	if !c.hiding.IsZero() && (settled || late) {
		c.hiding = time.Time{}
		c.releaseRecalled()
	}
	if turned || settled != c.settled || late {
		c.settled = settled
		c.rebindUnbound(now)
	}
	c.ageLeases(now)
}

// ageLeases tells the registry of nodes whose Lease has stopped arriving.
func (c *Cluster) ageLeases(now time.Time) {
	for _, n := range c.nodes {
		if !n.lease.IsZero() && now.Sub(n.lease) > nodeFreshFor {
			c.reg.SetNodeFresh(n.Name, false)
			n.lease = time.Time{}
		}
	}
}

// rebindUnbound looks again for the pods of all registrations that have none, but for
// those that are hidden until the view has settled after a restart.
func (c *Cluster) rebindUnbound(now time.Time) {
	for _, in := range c.insts {
		if in.pod == nil && (!in.unlisted || c.hiding.IsZero()) {
			c.rebind(now, in)
		}
	}
}

// forgetOwners drops memories of ids that have had no record for a while.
func (c *Cluster) forgetOwners(now time.Time) {
	for len(c.orphans) > 0 && now.Sub(c.orphans[0].at) > lastOwnerRetention {
		c.forgetOrphan()
	}
}

// forgetOrphan drops the oldest of them, unless its id has a record again or has lost
// another one since.
func (c *Cluster) forgetOrphan() {
	o := c.orphans[0]
	c.orphans = c.orphans[1:]
	if !c.orphaned[o.key].Equal(o.at) {
		return
	}
	delete(c.orphaned, o.key)
	if c.insts[o.key] == nil {
		delete(c.last, o.key)
	}
}
