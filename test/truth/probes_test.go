package truth

import (
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kureka/kureka/internal/evidence"
)

const (
	kubeletPort = 10250
	// probePatience is how long a connection is waited for.
	probePatience = 2 * time.Second
	// provesFor is how long an answer certainly proves life: the product believes it for
	// ten seconds.
	provesFor = 9 * time.Second
)

// probed is what the operator has been told of a node's kubelet.
type probed struct {
	alive  time.Duration // when it last answered or refused; -1 never
	misses int           // answers that did not come since
	asked  time.Duration // when the last of these was asked for
}

// withProber has the prober ask in some histories, by dice of their own.
func (p *plan) withProber() {
	d := newDice(p.seed, "prober")
	p.probing, p.refusing = d.chance(40), d.chance(30)
}

// probe asks who is to be asked. It takes its time, and what comes while the process is
// paused is read when it goes on.
func (op *operator) probe() {
	if !op.w.plan.probing {
		return
	}
	for _, p := range op.cluster.Probes(op.now()) {
		asked, r := op.w.now, evidence.Probed{Probe: p, Reach: op.w.reach(p.Addr)}
		if r.Reach != evidence.Unsure && op.probes.chance(6) {
			r.Reach = evidence.Unanswered // lost on the way
		}
		op.tape.line(op.w.now, "reach %s %s", p.Addr, reachWords[r.Reach])
		takes := op.probes.between(time.Millisecond, 100*time.Millisecond)
		if r.Reach == evidence.Unanswered {
			takes = probePatience
		}
		op.w.after(takes, func() { op.answered(asked, r) })
	}
}

// reachWords are those of scenarios.
var reachWords = map[evidence.Reach]string{
	evidence.Answered: "answers", evidence.Refused: "refuses", evidence.Unanswered: "silent", evidence.Unsure: "unsure",
}

func (op *operator) answered(asked time.Duration, r evidence.Probed) {
	if !op.running {
		return
	}
	if op.paused() {
		op.w.after(op.resumes-op.w.now, func() { op.answered(asked, r) })
		return
	}
	if r.Reach == evidence.Unanswered && op.w.now-asked > 2*probePatience {
		r.Reach = evidence.Unsure // as the prober says after a pause
	}
	op.noteProbed(asked, r)
	op.cluster.Probed(op.now(), r)
	op.w.check()
}

// noteProbed remembers what the operator is told of kubelets.
func (op *operator) noteProbed(asked time.Duration, r evidence.Probed) {
	if r.Reach == evidence.Answered {
		op.reached = asked
	}
	for _, n := range op.w.order {
		if r.Addr != netip.AddrPortFrom(n.ip, kubeletPort) {
			continue
		}
		switch r.Reach {
		case evidence.Answered, evidence.Refused:
			op.kubelets[n] = probed{alive: op.w.now}
		case evidence.Unanswered:
			k := op.kubelet(n)
			op.kubelets[n] = probed{k.alive, k.misses + 1, asked}
		case evidence.Unsure:
		}
	}
}

func (op *operator) kubelet(n *node) probed {
	if k, known := op.kubelets[n]; known {
		return k
	}
	return probed{alive: -1}
}

// provenAlive reports whether a probe has lately shown that a node lives.
func (op *operator) provenAlive(n *node) bool {
	k := op.kubelet(n)
	return k.alive >= op.view.leases[n.name] && k.alive >= 0 && op.w.now-k.alive <= provesFor && k.misses < 2
}

// provenSilent reports whether probes may have shown that a node does not answer: its
// kubelet did not, twice, and somebody else did since.
func (op *operator) provenSilent(n *node) bool {
	k := op.kubelet(n)
	return k.misses >= 2 && k.asked > op.view.renewed[n.name] && op.reached >= k.asked
}

// reach is what comes of an attempt to connect. A kubelet that hangs is one of two
// kinds: the machine refuses for it, or goes on accepting.
func (w *world) reach(to netip.AddrPort) evidence.Reach {
	if w.cutClients > 0 {
		return evidence.Unanswered
	}
	for _, n := range w.order {
		if n.ip == to.Addr() {
			return n.reach(to.Port())
		}
	}
	for _, p := range w.pods {
		if p.ip == to.Addr() && !p.freed {
			return p.reach(to.Port())
		}
	}
	if to.Addr().As4()[3]%2 == 0 {
		return evidence.Unsure // a router says that nobody has the address
	}
	return evidence.Unanswered
}

func (n *node) reach(port uint16) evidence.Reach {
	if !n.reachesOp() {
		return evidence.Unanswered
	}
	if port == kubeletPort && (n.hung == 0 || n.ip.As4()[3]%2 == 0) {
		return evidence.Answered
	}
	for _, p := range n.pods {
		if p.load.hostNetwork && p.listens(port) {
			return evidence.Answered
		}
	}
	return evidence.Refused
}

func (p *pod) reach(port uint16) evidence.Reach {
	switch {
	case !p.node.reachesOp():
		return evidence.Unanswered
	case p.listens(port):
		return evidence.Answered
	}
	return evidence.Refused
}

func (p *pod) listens(port uint16) bool {
	return p.proc != nil && p.proc.alive && int(port) == p.load.port && !p.w.plan.refusing
}

// tellKubeletPort writes where the kubelet listens, where the prober is to ask it.
func (n *node) tellKubeletPort(o *corev1.Node) {
	if n.w.plan.probing {
		o.Status.DaemonEndpoints.KubeletEndpoint.Port = kubeletPort
	}
}
