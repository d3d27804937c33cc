package cluster

import (
	"time"

	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/verdict"
)

const (
	// tickGap is the pause between two ticks after which nothing that was not heard
	// meanwhile counts as silent.
	tickGap = 5 * time.Second
	// A zone of fewer nodes, and a cluster of fewer, is not judged as a whole.
	zoneNodes, clusterNodes = 3, 2
	// bootWatched is how long after a boot instances that are not heard are looked
	// for; by then their leases have decided.
	bootWatched = 10 * time.Minute
)

// conclusion is that the node of an instance is silent: when a second witness agreed,
// which one, and what it saw. The zero value is none.
type conclusion struct {
	at         time.Time
	by, detail string
}

// sees reports whether anything may be inferred: the view is fresh, and every watch
// that an inference rests on has delivered its list.
func (c *Cluster) sees() bool { return c.fresh && c.nodesReadable }

// SetNodesReadable says whether the nodes watch has delivered its list and has not
// been refused since. Until then nothing is inferred: nobody knows which nodes there
// are and where.
func (c *Cluster) SetNodesReadable(readable bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodesReadable = readable
}

// watchSilence decides which nodes count as silent, for each instance on them by its
// namespace's policy: their Lease has not changed for long, by our clock and while
// the view was fresh throughout, and a second witness agrees. Where most nodes of a
// zone or of the cluster fall silent together, the network is the likelier cause,
// and only the prober is believed. While the view is stale or incomplete nothing new
// is concluded, and nothing taken back.
func (c *Cluster) watchSilence(now time.Time) {
	if c.lastTick.IsZero() || now.Sub(c.lastTick) > tickGap {
		c.freshSince, c.awake = now, now
	}
	c.lastTick = now
	if !c.sees() {
		return
	}
	frozen := c.frozen(now)
	changed := map[*pod]struct{}{}
	for _, n := range c.nodes {
		c.watchNode(now, n, frozen[n], changed)
		c.watchBoot(now, n, changed)
	}
	c.evaluateAll(now, changed)
}

// watchNode looks at one node and collects the pods for whose instances something
// else follows.
func (c *Cluster) watchNode(now time.Time, n *node, frozen bool, changed map[*pod]struct{}) {
	n.silence = evidence.Silence{Leased: !n.leased.IsZero(), Lasts: n.leaseLasts}
	if c.isOverdue(now, n) {
		at, _ := c.lastWord(n)
		n.silence.Quiet, n.silence.Frozen, n.silence.Alive = now.Sub(at), frozen, isAlive(now, n)
	} else if !n.concluded {
		return
	}
	next := c.secondWitness(now, n)
	if next.at.IsZero() && !n.concluded {
		return
	}
	n.concluded = false
	for p := range n.pods {
		for in := range p.insts {
			before := in.silent
			in.silent = c.conclude(now, in, n.silence.Frozen, next)
			n.concluded = n.concluded || !in.silent.at.IsZero()
			if in.silent != before {
				changed[p] = struct{}{}
			}
		}
	}
}

// secondWitness asks whether anybody confirms that the node is silent: the prober, or
// a heartbeat that did not come, unless the node is one of many or a probe found it
// alive.
func (c *Cluster) secondWitness(now time.Time, n *node) conclusion {
	if n.silence.Quiet == 0 {
		return conclusion{}
	}
	if seen := c.unanswered(now, n); seen != "" {
		return conclusion{now, verdict.WitnessProber, seen}
	}
	if n.silence.Frozen || n.silence.Alive {
		return conclusion{}
	}
	if seen := c.missingBeat(now, n); seen != "" {
		return conclusion{now, verdict.WitnessHeartbeat, seen}
	}
	return conclusion{}
}

// conclude returns what is concluded of an instance from now on. A freeze takes back
// what only a heartbeat confirmed. Otherwise a conclusion stands until the node's
// Lease changes: a node that answers again may be one that is just booting.
func (c *Cluster) conclude(now time.Time, in *instance, frozen bool, next conclusion) conclusion {
	before, probed := in.silent, next.by == verdict.WitnessProber
	switch {
	case !before.at.IsZero() && probed:
		return conclusion{before.at, next.by, next.detail}
	case !before.at.IsZero() && frozen && before.by == verdict.WitnessHeartbeat:
		return conclusion{}
	case !before.at.IsZero():
		return before
	case next.at.IsZero() || !verdict.Suspects(c.input(now, in.pod, in)):
		return conclusion{}
	}
	return next
}

// endSilence takes back what was concluded about a node that is heard again, or that
// is not there any more.
func (c *Cluster) endSilence(now time.Time, n *node) {
	c.forgetTargets(n)
	n.silence = evidence.Silence{}
	if !n.concluded {
		return
	}
	n.concluded = false
	for p := range n.pods {
		for in := range p.insts {
			in.silent = conclusion{}
		}
	}
	c.evaluateAll(now, n.pods)
}

// frozen returns the nodes of zones, or of the cluster, where too many are falling
// silent. Kubelets renew at different moments, so those that have missed a renewal
// count already: when the first of an outage is quiet for long enough, all of them
// have.
func (c *Cluster) frozen(now time.Time) map[*node]bool {
	type tally struct{ all, quiet int }
	zones, whole := map[string]*tally{}, tally{}
	for _, n := range c.nodes {
		if _, known := c.lastWord(n); !known {
			continue
		}
		z := zones[n.Zone]
		if z == nil {
			z = &tally{}
			zones[n.Zone] = z
		}
		z.all++
		whole.all++
		if c.isOverdue(now, n) {
			z.quiet++
			whole.quiet++
		}
	}
	if whole.quiet == 0 {
		return nil // the usual case
	}
	limit := c.fallback.MaxUnreachablePercent
	tooMany := func(t tally, least int) bool { return t.all >= least && t.quiet*100 >= t.all*limit }
	out := map[*node]bool{}
	for _, n := range c.nodes {
		if _, known := c.lastWord(n); known {
			out[n] = tooMany(whole, clusterNodes) || n.Zone != "" && tooMany(*zones[n.Zone], zoneNodes)
		}
	}
	return out
}

// missingBeat names an instance of the node whose heartbeat has fallen due since the
// node's last word and did not come; it is empty if there is none. A heartbeat heard
// later than a living kubelet would have renewed the Lease speaks for the node, and
// so does any other request from its pods, also one that was not taken up.
// Clients that back off after a disturbance of all of them owe none.
func (c *Cluster) missingBeat(now time.Time, n *node) string {
	if c.reg.Disturbed(now) {
		return ""
	}
	since, heardBy := c.span(n)
	if n.word.After(heardBy) {
		return ""
	}
	missing := ""
	for p := range n.pods {
		for in := range p.insts {
			seen, ok := c.reg.LastSeen(in.key)
			if !ok {
				continue
			}
			if seen.After(heardBy) {
				return ""
			}
			due := verdict.Due(c.heardSince(seen), c.reg.Rhythm(in.key))
			if name := in.key.String(); due.After(since) && !now.Before(due) && (missing == "" || name < missing) {
				missing = name
			}
		}
	}
	if missing == "" {
		return ""
	}
	return "that of " + missing + " did not come"
}

// heardSince is when a client was last heard, or since when it would have been.
func (c *Cluster) heardSince(seen time.Time) time.Time {
	if c.awake.After(seen) {
		return c.awake
	}
	return seen
}

// watchBoot looks for instances that have not been heard since their node booted
// anew, and whose next heartbeat is late.
func (c *Cluster) watchBoot(now time.Time, n *node, changed map[*pod]struct{}) {
	if n.Booted.IsZero() || now.Sub(n.Booted) > bootWatched || c.reg.Disturbed(now) {
		return
	}
	for p := range n.pods {
		for in := range p.insts {
			seen, ok := c.reg.LastSeen(in.key)
			if !ok || seen.After(n.Booted) || in.rebooted.Equal(n.Booted) {
				continue
			}
			if verdict.Late(now, c.heardSince(seen), c.reg.Rhythm(in.key)) {
				in.rebooted = n.Booted
				changed[p] = struct{}{}
			}
		}
	}
}
