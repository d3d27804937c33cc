package cluster

import "time"

const (
	// leaseMargin is how long after its Lease last changed a living node may still
	// be quiet: it renews every 10 s.
	leaseMargin = 12 * time.Second
	// beatMargin is how late a heartbeat may be.
	beatMargin = 3 * time.Second
	// tickGap is the pause between two ticks after which nothing that was not heard
	// meanwhile counts as silent.
	tickGap = 5 * time.Second
	// A zone of fewer nodes, and a cluster of fewer, is not judged as a whole.
	zoneNodes, clusterNodes = 3, 2
)

// watchSilence decides which nodes count as silent: their Lease has not changed
// for long, by our clock and while the view was fresh throughout, and a second
// witness agrees, a heartbeat from the node that fell due since and did not come.
// Where most nodes of a zone or of the cluster fall silent together, the network
// is the likelier cause, and none of them counts.
func (c *Cluster) watchSilence(now time.Time) {
	if c.lastTick.IsZero() || now.Sub(c.lastTick) > tickGap {
		c.freshSince = now
	}
	c.lastTick = now
	quiet := c.quietNodes(now)
	frozen := c.frozen(quiet)
	changed := map[*pod]struct{}{}
	for _, n := range c.nodes {
		was := !n.Silent.IsZero()
		is := quiet[n] && !frozen[n] && (was || c.beatMissing(now, n))
		if is == was {
			continue
		}
		n.Silent = time.Time{}
		if is {
			n.Silent = now
		}
		for p := range n.pods {
			changed[p] = struct{}{}
		}
	}
	c.evaluateAll(now, changed)
}

// quietNodes returns the nodes that are quiet, none while the view is not fresh.
func (c *Cluster) quietNodes(now time.Time) map[*node]bool {
	out := map[*node]bool{}
	if !c.fresh {
		return out
	}
	for _, n := range c.nodes {
		if c.quiet(now, n) {
			out[n] = true
		}
	}
	return out
}

// quiet reports whether a node's Lease has not changed for as long as the cluster's
// policy waits; what follows is decided by each namespace. A node that was never seen with a Lease is never quiet.
func (c *Cluster) quiet(now time.Time, n *node) bool {
	if n.Missing || n.leased.IsZero() {
		return false
	}
	since := n.leased
	if c.freshSince.After(since) {
		since = c.freshSince
	}
	return now.Sub(since) > max(c.fallback.UnreachableAfter, n.leaseLasts/2+2*time.Second)
}

// frozen returns the quiet nodes whose zone, or whose cluster, is quiet as a
// whole.
func (c *Cluster) frozen(quiet map[*node]bool) map[*node]bool {
	type tally struct{ all, quiet int }
	zones, whole := map[string]*tally{}, tally{}
	for _, n := range c.nodes {
		if n.Missing || n.leased.IsZero() {
			continue
		}
		z := zones[n.Zone]
		if z == nil {
			z = &tally{}
			zones[n.Zone] = z
		}
		z.all++
		whole.all++
		if quiet[n] {
			z.quiet++
			whole.quiet++
		}
	}
	limit := c.fallback.MaxUnreachablePercent
	tooMany := func(t tally, least int) bool { return t.all >= least && t.quiet*100 >= t.all*limit }
	out := map[*node]bool{}
	for n := range quiet {
		out[n] = tooMany(whole, clusterNodes) || n.Zone != "" && tooMany(*zones[n.Zone], zoneNodes)
	}
	return out
}

// beatMissing reports whether a heartbeat from the node has fallen due since its
// Lease last changed and none came. A heartbeat heard later than a living kubelet
// would have renewed the Lease speaks for the node.
func (c *Cluster) beatMissing(now time.Time, n *node) bool {
	missing := false
	for p := range n.pods {
		for in := range p.insts {
			seen, ok := c.reg.LastSeen(in.key)
			if !ok {
				continue
			}
			if seen.After(n.leased.Add(leaseMargin)) {
				return false
			}
			due := seen.Add(c.rhythm(in) + beatMargin)
			missing = missing || due.After(n.leased) && !now.Before(due)
		}
	}
	return missing
}

// rhythm is the interval at which the instance's client renews.
func (c *Cluster) rhythm(in *instance) time.Duration {
	if view := c.reg.Snapshot().Get(in.key); view != nil && view.Interval > 0 {
		return time.Duration(view.Interval) * time.Second
	}
	return c.fallback.DefaultInterval
}
