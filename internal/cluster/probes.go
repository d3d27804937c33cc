package cluster

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/verdict"
)

const (
	// probeEvery is the pause between two probes of an address, probePatience how long
	// an answer is waited for before the next one may be sent.
	probeEvery    = 3 * time.Second
	probePatience = 10 * time.Second
	// probeTimes is how often in a row an address must not answer.
	probeTimes = 2
	// podsAsked is how many pods of a node are probed, nodesAsked how many other nodes
	// are, to tell a dead node from a network that carries nothing.
	podsAsked, nodesAsked = 4, 3
	// probesAtOnce bounds what is asked in one second.
	probesAtOnce = 32
	// aliveFor is how long an answer proves that a node lives.
	aliveFor = 10 * time.Second
)

// target is an address of a node, or of a pod on it, that is probed.
type target struct {
	addr    netip.AddrPort
	node    *node
	kubelet bool
	asked   time.Time // when last; zero if never
	waiting bool      // for the answer
	unsure  bool      // the last answer was none
	misses  int       // answers that did not come, in a row
	first   time.Time // when the first of them was asked for,
	last    time.Time // and the last
	alive   time.Time // when an answer or a refusal last came
}

func (t *target) silent() bool { return t.misses >= probeTimes }

// saysNothing reports whether attempts to reach the address only ever failed on the
// way.
func (t *target) saysNothing() bool { return t.unsure && t.misses == 0 && t.alive.IsZero() }

func (t *target) String() string {
	if t.kubelet {
		return "the kubelet at " + t.addr.String()
	}
	return t.addr.String()
}

// prober is what is known from probes.
type prober struct {
	targets  map[netip.AddrPort]*target
	compared []string  // nodes that are asked for comparison
	chosen   time.Time // when they were chosen
	// When somebody on a node that is not our own was last asked and answered, and who
	// that was.
	reached   time.Time
	reachedBy string
	own       string // name of the node we run on, as far as answers have told
}

// Probes returns the addresses to be probed now; it is to be called after each Tick.
// All of them come from Pod and Node objects. They are the kubelets of nodes that
// have missed a renewal, some pods with instances on these nodes, and, for
// comparison, the same of some other nodes. The answers are told by Probed; one that
// never comes is as good as none.
func (c *Cluster) Probes(now time.Time) []evidence.Probe {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.opts.Probing || !c.sees() {
		return nil // what is known stays: a stale view takes nothing back
	}
	asked := map[netip.AddrPort]*target{}
	var due []*target
	for _, n := range c.nodes {
		n.targets = nil
		if c.isOverdue(now, n) {
			n.targets = c.targetsOf(n, asked)
			due = append(due, n.targets...)
		}
	}
	if len(due) > 0 {
		due = append(c.comparisons(now, asked), due...)
	}
	c.prober.targets = asked // what is not asked any more is forgotten
	return c.ask(now, due)
}

// ask chooses those whose turn it is: addresses for comparison first, as without them
// nothing follows, then those that have waited longest.
func (c *Cluster) ask(now time.Time, due []*target) []evidence.Probe {
	due = slices.DeleteFunc(due, func(t *target) bool {
		wait := probeEvery
		if t.waiting {
			wait = probePatience
		}
		return !t.asked.IsZero() && now.Sub(t.asked) < wait
	})
	suspect := func(t *target) int { return flag(c.isOverdue(now, t.node)) }
	slices.SortFunc(due, func(a, b *target) int {
		return cmp.Or(cmp.Compare(suspect(a), suspect(b)), a.asked.Compare(b.asked), a.addr.Compare(b.addr))
	})
	due = due[:min(len(due), probesAtOnce)]
	out := make([]evidence.Probe, 0, len(due))
	for _, t := range due {
		t.asked, t.waiting = now, true
		out = append(out, evidence.Probe{Addr: t.addr, Asked: now})
	}
	return out
}

// targetsOf returns a node's targets: nothing if no instance of the node could be
// asked, because then nothing would follow. An address that two nodes claim is not
// asked at all.
func (c *Cluster) targetsOf(n *node, asked map[netip.AddrPort]*target) []*target {
	pods := podAddrs(n)
	if len(pods) == 0 {
		return nil
	}
	var out []*target
	if a, ok := kubeletAddr(n); ok {
		out = c.take(out, n, a, true, asked)
	}
	for _, a := range pods[:min(len(pods), podsAsked)] {
		out = c.take(out, n, a, false, asked)
	}
	return out
}

// take adds an address to those of a node, unless another node claims it too.
func (c *Cluster) take(out []*target, n *node, a netip.AddrPort, kubelet bool, asked map[netip.AddrPort]*target) []*target {
	if asked[a] != nil {
		return out
	}
	t := c.prober.targets[a]
	if t == nil || t.node != n {
		t = &target{addr: a, node: n, kubelet: kubelet}
	}
	asked[a] = t
	return append(out, t)
}

// comparisons returns the targets of some nodes that renew their Lease, others each
// time, so that one bad choice does not last.
func (c *Cluster) comparisons(now time.Time, asked map[netip.AddrPort]*target) []*target {
	if now.Sub(c.prober.chosen) >= probeEvery {
		c.prober.chosen = now
		c.chooseOthers(now)
	}
	var out []*target
	for _, name := range c.prober.compared {
		n := c.nodes[name]
		if n == nil {
			continue
		}
		if a, ok := kubeletAddr(n); ok {
			out = c.take(out, n, a, true, asked)
		}
		if pods := podAddrs(n); len(pods) > 0 {
			out = c.take(out, n, pods[0], false, asked)
		}
	}
	return out
}

// chooseOthers chooses, in the order of names, the next ones after those chosen last.
func (c *Cluster) chooseOthers(now time.Time) {
	var names []string
	for name, n := range c.nodes {
		if !n.Missing && !n.leased.IsZero() && !c.isOverdue(now, n) && name != c.prober.own {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	from := 0
	if last := len(c.prober.compared) - 1; last >= 0 {
		from, _ = slices.BinarySearch(names, c.prober.compared[last]+"\x00")
	}
	c.prober.compared = nil
	for i := range min(len(names), nodesAsked) {
		c.prober.compared = append(c.prober.compared, names[(from+i)%len(names)])
	}
}

// kubeletAddr is where the node's kubelet listens.
func kubeletAddr(n *node) (netip.AddrPort, bool) {
	if n.KubeletPort == 0 || len(n.Addresses) == 0 || !mayDial(n.Addresses[0]) {
		return netip.AddrPort{}, false
	}
	return netip.AddrPortFrom(n.Addresses[0], n.KubeletPort), true
}

// podAddrs returns where the node's pods with instances can be asked, always in the
// same order: at their address in the Pod object, on a port that the registration
// names if the pod declares it, else on the first port that the pod declares.
func podAddrs(n *node) []netip.AddrPort {
	var out []netip.AddrPort
	for p := range n.pods {
		if len(p.insts) == 0 || !p.alive() || len(p.IPs) == 0 || !mayDial(p.IPs[0]) {
			continue
		}
		if port := p.portAsked(); port != 0 {
			out = append(out, netip.AddrPortFrom(p.IPs[0], port))
		}
	}
	slices.SortFunc(out, netip.AddrPort.Compare)
	return slices.Compact(out)
}

func (p *pod) portAsked() uint16 {
	named := uint16(0)
	for in := range p.insts {
		for _, port := range in.rec.Ports() {
			if p.Declares(port) && (named == 0 || uint16(port) < named) {
				named = uint16(port)
			}
		}
	}
	if named != 0 {
		return named
	}
	for i := range p.Containers {
		if ports := p.Containers[i].Ports; len(ports) > 0 {
			return ports[0]
		}
	}
	return 0
}

// mayDial keeps an object from pointing at this process itself.
func mayDial(a netip.Addr) bool { return a.IsGlobalUnicast() }

// Probed takes in the answer to a probe. One to a question that is not the last one
// put to the address changes nothing.
func (c *Cluster) Probed(now time.Time, r evidence.Probed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.prober.targets[r.Addr]
	if t == nil || !t.waiting || !t.asked.Equal(r.Asked) || now.Sub(r.Asked) > probePatience {
		return
	}
	t.waiting, t.unsure = false, r.Reach == evidence.Unsure
	switch r.Reach {
	case evidence.Unsure:
	case evidence.Unanswered:
		if t.misses++; t.misses == 1 {
			t.first = r.Asked
		}
		t.last = r.Asked
	case evidence.Answered, evidence.Refused:
		t.misses, t.alive = 0, now
	}
	if r.Reach == evidence.Answered {
		c.learnOwnNode(r.Local)
		if t.node.Name != c.prober.own {
			c.prober.reached, c.prober.reachedBy = r.Asked, t.String()
		}
	}
}

// learnOwnNode finds out where we run. That our own node answers says nothing about
// the network.
func (c *Cluster) learnOwnNode(local netip.Addr) {
	if p := c.sender(local); p != nil {
		c.prober.own = p.Node
	} else if name, ok := c.nodeIPs[local]; ok {
		c.prober.own = name
	}
}

// isAlive reports whether a node, or a pod on it, has lately answered or refused.
func isAlive(now time.Time, n *node) bool {
	return slices.ContainsFunc(n.targets, func(t *target) bool {
		return !t.alive.IsZero() && !t.silent() && now.Sub(t.alive) <= aliveFor
	})
}

// unanswered says what the prober has seen of a node that is down: its kubelet and
// at least one pod did not answer twice, nobody else who was asked there did, no
// client on it was heard meanwhile, and somebody on another node answered after the
// last attempt. It is empty while that is not so.
func (c *Cluster) unanswered(now time.Time, n *node) string {
	var first, last time.Time
	var kubelets, pods []string
	for _, t := range n.targets {
		switch {
		case t.saysNothing():
			continue
		case !t.silent():
			return ""
		case t.kubelet:
			kubelets = append(kubelets, t.String())
		default:
			pods = append(pods, t.String())
		}
		if first.IsZero() || t.first.Before(first) {
			first = t.first
		}
		if t.last.After(last) {
			last = t.last
		}
	}
	if len(kubelets)*len(pods) == 0 || c.prober.reached.Before(last) || c.spokenFor(now, n, first) {
		return ""
	}
	return strings.Join(append(kubelets, pods...), ", ") + " did not answer twice, " + c.prober.reachedBy + " did"
}

// spokenFor reports whether a client on the node contradicts the prober. One that was
// heard since it began to ask makes it begin anew. One that was heard later than a
// living kubelet would have been has shown that the node outlived its kubelet, so its
// own next heartbeat must be late, too.
func (c *Cluster) spokenFor(now time.Time, n *node, asking time.Time) bool {
	_, heardBy := c.span(n)
	spoken := false
	for p := range n.pods {
		for in := range p.insts {
			seen, ok := c.reg.LastSeen(in.key)
			switch {
			case !ok:
			case seen.After(asking):
				for _, t := range n.targets {
					t.misses = 0
				}
				return true
			case seen.After(heardBy) && !verdict.Late(now, c.heardSince(seen), c.reg.Rhythm(in.key)):
				spoken = true
			}
		}
	}
	return spoken
}

// forgetTargets forgets what probes told of a node.
func (c *Cluster) forgetTargets(n *node) {
	for _, t := range n.targets {
		delete(c.prober.targets, t.addr)
	}
	n.targets = nil
}
