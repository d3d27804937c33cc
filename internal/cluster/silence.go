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
		c.freshSince, c.awake = now, now
	}
	c.lastTick = now
	if !c.fresh {
		return // nothing new is concluded, and nothing taken back
	}
	quiet := c.quietNodes(now)
	frozen := c.frozen(now)
	changed := map[*pod]struct{}{}
	for _, n := range c.nodes {
		was := !n.Silent.IsZero()
		is := !frozen[n] && (was || quiet[n] && c.beatMissing(now, n))
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

func (c *Cluster) quietNodes(now time.Time) map[*node]bool {
	out := map[*node]bool{}
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
	return now.Sub(c.leasedSince(n)) > max(c.fallback.UnreachableAfter, n.leaseLasts/2+2*time.Second)
}

// frozen returns the nodes of zones, or of the cluster, where too many are falling
// silent. Kubelets renew at different moments, so those that have missed a renewal
// count already: when the first of an outage is quiet, all of them have.
func (c *Cluster) frozen(now time.Time) map[*node]bool {
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
		if now.Sub(c.leasedSince(n)) > leaseMargin {
			z.quiet++
			whole.quiet++
		}
	}
	limit := c.fallback.MaxUnreachablePercent
	tooMany := func(t tally, least int) bool { return t.all >= least && t.quiet*100 >= t.all*limit }
	out := map[*node]bool{}
	for _, n := range c.nodes {
		if n.Missing || n.leased.IsZero() {
			continue
		}
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
			if c.awake.After(seen) {
				seen = c.awake
			}
			due := seen.Add(c.reg.Rhythm(in.key) + beatMargin)
			missing = missing || due.After(n.leased) && !now.Before(due)
		}
	}
	return missing
}

// leasedSince is when the node's Lease last changed, or since when a change would
// have been seen.
func (c *Cluster) leasedSince(n *node) time.Time {
	if c.freshSince.After(n.leased) {
		return c.freshSince
	}
	return n.leased
}
