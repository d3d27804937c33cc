package truth

import "slices"

// mutations is every brake and how to disable it. A text that is not found any more
// fails the tests: whoever changes a brake changes its mutation.
func mutations() []mutation {
	return slices.Concat(seeing(), deciding(), keeping(), registering(), probing())
}

// seeing is what guards the way from objects to evidence.
func seeing() []mutation {
	const feedFile, pods, nodes, addresses = "controllers/feed/feed.go", "internal/cluster/pods.go", "internal/cluster/nodes.go", "internal/cluster/addresses.go"
	const confirm, binding, candidate = "controllers/feed/confirm.go", "internal/cluster/binding.go", "internal/cluster/candidate.go"
	const requests, refuse = "internal/cluster/requests.go", "internal/cluster/refuse.go"
	return []mutation{
		{
			"relists are confirmed", feedFile,
			`			f.doubtPod(known)`,
			`			f.to.PodGone(f.clock(), known.UID)`,
		},
		{
			"only a 404 or a newer UID confirms", confirm,
			`	if string(read.UID) != p.UID {`,
			`	if true {`,
		},
		{"errors confirm nothing", confirm, `	case apierrors.IsNotFound(err):
		f.to.PodGone`, `	case err != nil:
		f.to.PodGone`},
		{"states of pods from the past are doubted", pods, `seen.Version != 0 && seen.Version < p.version`, `false`},
		{"states of nodes from the past are doubted", nodes, `observed.Version != 0 && observed.Version < n.version`, `false`},
		{"a vouched-for node that was Ready is not down", nodes, `last.Condition("Ready").Status != evidence.True`, `true`},
		{
			"a pod that vanished with its node is held", pods,
			`		abrupt = n.Missing || n.Condition("Ready").Status == evidence.Unknown`,
			`		abrupt = false`,
		},
		{"an awaited deletion is not abrupt", pods, `!p.leaving && `, ``},
		{
			"the living own an address before the ending and the ended", addresses,
			`cmp.Compare(o.rank(), p.rank())`,
			`cmp.Compare(p.rank(), o.rank())`,
		},
		{"the youngest owns an address", addresses, `p.Created.Compare(o.Created)`, `o.Created.Compare(p.Created)`},
		{"host-network pods own ports", "internal/evidence/pod.go", `		if !p.HostNetwork {
			out`, `		if true {
			out`},
		{"who is not shown yet is hidden", binding, `	return !c.fallback.Observe && c.isGhost(in)`, `	return false`},
		{"nobody is hidden from a stale view", binding, `in.sharer != nil || !c.fresh {`, `in.sharer != nil {`},
		{"who sends heartbeats for a hidden record of another registers", requests, `unknown = src != in.source`, `unknown = false`},
		{"the dead do not replace the living", refuse, `return why == UnboundPodNotSeen || c.isGhost(in)`, `return false`},
		{"a late registration is bound to an older pod only", candidate, `!created.Add(time.Second).After(in.said)`, `!created.IsZero()`},
		{"a pod that was seen before is older", candidate, `p.seen.Before(in.said) || `, ``},
		{"a heartbeat tells whose a registration is", candidate, `return in.unbound == UnboundYounger && `, `return false && `},
		{"the order of a list binds nobody", addresses, `return in.said.Before(in.pod.seen) && `, `return false && `},
		{"an address alone does not bind", candidate, `	return nil, UnboundOneFact`, `	return owner, ""`},
		{"a port is no second fact for another workload's id", candidate, `l, known := c.last[in.key]; known && l != p.ownerOrSelf()`, `false`},
	}
}

// deciding is what guards the way from evidence to verdicts.
func deciding() []mutation {
	const silence, notices, view, verdicts, checks = "internal/cluster/silence.go", "internal/cluster/notices.go", "internal/cluster/view.go", "internal/cluster/verdicts.go", "internal/verdict/pod.go"
	return []mutation{
		{"nothing is inferred while the view is stale", silence, `	if !c.sees() {`, `	if false {`},
		{"silence counts only in a view that was fresh throughout", "internal/cluster/leases.go", `	if c.freshSince.After(at) {`, `	if false {`},
		{"silence needs a second witness", silence, `c.missingBeat(now, n); seen != "" {`, `c.missingBeat(now, n); true {`},
		{"a heartbeat speaks for its node", silence, `			if seen.After(heardBy) {`, `			if false && seen.After(heardBy) {`},
		{"the view is fresh only while the canary arrives", view, `now.Sub(c.canary) <= FreshFor`, `true`},
		{"the view is fresh only while Leases arrive", view, `now.Sub(c.leases) <= FreshFor`, `true`},
		{"a zone that falls silent is frozen", silence, ` || n.Zone != "" && tooMany(*zones[n.Zone], zoneNodes)`, ``},
		{"a cluster that falls silent is frozen", silence, `tooMany(whole, clusterNodes) || `, ``},
		{"planned notices have a floor", notices, `	keep(stay, planned, c.floor(live)-up)
`, ``},
		{"hard notices leave the last instance", notices, `		keep(stay, hard, 1)`, `		_ = hard`},
		{"silence has a floor", notices, `	keep(stay, silent, c.floor(live)-up-len(stay))
`, "	_ = silent\n"},
		{"any request acknowledges a new container", checks, `l.Request.After(l.Changed)`, `false`},
		{"a registration of a container's last second is its own", checks, `over = over.Add(time.Second)`, `over = over.Add(0)`},
		{"who begins in a container's last second registers in it", checks, `began.After(over)`, `!began.IsZero()`},
		{"a registration acknowledges a new container", checks, `return !l.Registration.Before(node.Moment(now, over))`, `return over.IsZero()`},
		{"a new container is out until it is heard", checks, `!l.Acknowledged(in.Now, in.Node)`, `false`},
		{"what vanished with its node is late only after its rhythm", checks, `in.Now.Sub(in.Seen) > late(in.Interval)`, `true`},
		{"what has vanished is removed in the end", checks, `	case in.Now.Sub(in.Gone.At) >= abruptHold:`, `	case false:`},
		{"a proof that is withdrawn frees the UID", verdicts, `		c.reg.FreeUID(p.UID)
		c.reclaim(now, p)`, `		c.reclaim(now, p)`},
	}
}

// registering is what guards pods that have no client, or whose client has its say.
func registering() []mutation {
	const keep, addresses = "internal/cluster/keep.go", "internal/cluster/addresses.go"
	return []mutation{
		{"a client's record ends what is kept for its pod", keep, `	case p.hasClient(app):`, `	case false:`},
		{"a heartbeat that tells whose a record is ends it, too", "internal/cluster/requests.go", `	defer c.follow(now)
	switch in`, `	switch in`},
		{"what a client cancels is not kept", keep, `	case cancelled:`, `	case cancelled && false:`},
		{"what is kept follows readiness", "internal/verdict/policy.go", `	case c.Class == Observed && in.Kept == nil:`, `	case c.Class == Observed:`},
		{"a new container has to be ready first", keep, `in.everReady && in.readyIn == id`, `in.everReady`},
		{"nothing is kept at an address of another pod", keep, `	if !c.mayAnswer(p, rec) {
		c.release`, `	if false {
		c.release`},
		{"who gets its address back is kept again", addresses, `		c.mark(owner)`, `		_ = c.mark`},
		{"what is kept is for its pod's next address, too", keep, `	if !fresh && sameListing(in.rec, rec) {`, `	if !fresh && sameListing(in.rec, rec) || in.ip.IsValid() {`},
		{"nothing is kept that nobody registers", keep, `!in.isRecalled() || c.hiding.IsZero()`, `false`},
		{"a proof that is withdrawn brings back what was kept", "internal/cluster/verdicts.go", `		c.mark(p)`, `		_ = c.mark`},
	}
}

// probing is what guards nodes that are silent and live.
func probing() []mutation {
	const probes = "internal/cluster/probes.go"
	return []mutation{
		{"a node that a probe finds alive is not silent", "internal/cluster/silence.go", `n.silence.Frozen || n.silence.Alive {`, `n.silence.Frozen {`},
		{"probes that fail here prove nothing", probes, `c.prober.reached.Before(last) || `, ``},
		{"one probe that is lost proves nothing", probes, `	probeTimes = 2`, `	probeTimes = 1`},
	}
}

// keeping is what guards the registry.
func keeping() []mutation {
	const fence, tick, partition, gateFile = "internal/registry/fence.go", "internal/registry/tick.go", "internal/registry/partition.go", "internal/gate/gate.go"
	return []mutation{
		{"addresses of the dead are fenced", fence, `	for _, a := range p.Addrs {
		f.byAddr[a] = x
	}
`, ``},
		{"ids of the dead are fenced", fence, `	for _, k := range keys {
		f.byKey[k] = x
	}
	f.n`, `	f.n`},
		{"UIDs of the dead are fenced", fence, `	f.byUID[p.UID] = x
`, ``},
		{"cancels of the dead are fenced", fence, `return f.active() && (f.blocksSource(t, c) || f.blocksOrphan(t, c, key))`, `return false`},
		{"an address that somebody owns is freed", fence, `	delete(f.byAddr, a)
	if x != nil`, `	if x != nil`},
		{"self-preservation", partition, `	engaged := p.policy.SelfPreservation &&`, `	engaged := false && p.policy.SelfPreservation &&`},
		{"a pod that is Ready has grace", tick, `	if e.fresh && n.binding.PodReady {`, `	if false {`},
		{"a pause earns credit", tick, `t-e.lastTick > pause {`, `false {`},
		{"silence of all earns credit", tick, `shortest > 0 && gap`, `false && gap`},
		{"the end of a hold earns credit", partition, `		p.credit = max(p.credit, t+creditFor(t-p.since))
`, ``},
		{"credit covers the pause of those given up", partition, `	return min(l+lostBeats, longestPause)`, `	return min(l, longestPause)`},
		{"evictions are capped", partition, `	return len(p.evictions) < limit`, `	return limit > 0`},
		{"marks have a floor", tick, `	if !e.appCount(n.key.App).allows(n.part.Load().policy.MinInServicePercent) {`, `	if false {`},
		{"marks are taken back for the floor", tick, `	if c == nil || len(c.marked) == 0 {`, `	if true {`},
		{"marks are for silent processes", tick, ` || !e.processIsSilent(e.mono(now), n, end) {`, ` {`},
		{"lists wait after a start", gateFile, `	wait := max(base+min(longest, max(0, absence)), listsFrom.Sub(g.opened))`, `	wait := time.Duration(0)`},
		{"lists wait for as long as the registry was away", gateFile, `min(longest, max(0, absence))`, `0`},
	}
}
