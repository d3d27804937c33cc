package truth

import "time"

// coincidences is what chance alone would hardly bring together, though it happens:
// each is several faults, timed so that the second meets what the first has left.
var coincidences = map[string]func(*world, fault){
	"vouched for too long":  vouchTooLong,
	"a node from the past":  listRecovered,
	"a workload hangs":      hangWorkload,
	"the rest leaves":       leaveTheHung,
	"ended unseen":          endUnseen,
	"address of the living": reuseEarly,
	"address told twice":    reuseUnseen,
	"clock behind at start": restartBehind,
	"the dead register":     registerDead,
	"the dead speak on":     outlivePods,
	"ends as it registers":  endRegistering,
	"a probe fails":         failProbes,
}

// needed is the worlds without which a coincidence would hardly ever meet anybody.
var needed = map[string]func(*plan, fault){"the dead speak on": behindProxies, "the dead register": withSuccessors}

// vouchFor has somebody swear wrongly that a node that cannot be reached is down,
// until its processes are taken for dead, but not long enough for its pods to be
// evicted. It returns how long the node is cut off.
func vouchFor(w *world, f fault) time.Duration {
	n, lasts := w.someNode(f), 85*time.Second+f.lasts%(20*time.Second)
	w.isolate(n, lasts, f.amount)
	w.after(70*time.Second, func() { n.taint(taintOut) })
	return lasts
}

// vouchTooLong deletes the object of a node that is back and Ready before what was
// sworn about it is taken back.
func vouchTooLong(w *world, f fault) {
	n, back := w.someNode(f), vouchFor(w, f)
	w.after(back+45*time.Second, func() { deleteNode(w, f) })
	w.after(back+75*time.Second, func() { n.untaint(taintOut) })
}

// listRecovered lists the nodes as they were before one of them came back.
func listRecovered(w *world, f fault) {
	n, back := w.someNode(f), vouchFor(w, f)
	w.after(back+20*time.Second, func() { n.untaint(taintOut) })
	w.after(back+60*time.Second, func() {
		w.listAge = 65 * time.Second
		relist(w, f)
	})
}

// hangs are long enough for leases of pods that are Ready to expire.
const hangs = 200 * time.Second

// hangWorkload has all processes of a workload wait for the same thing.
func hangWorkload(w *world, f fault) {
	w.hangPods(w.podsOf(w.someLoad(f)), hangs+f.lasts/4)
}

// leaveTheHung has half of a workload hang, and then the other half, which is at
// work, told to leave.
func leaveTheHung(w *world, f fault) {
	there := w.podsOf(w.someLoad(f))
	half := (len(there) + 1) / 2
	w.hangPods(there[:half], hangs+40*time.Second)
	w.after(hangs+20*time.Second, func() {
		for _, p := range there[half:] {
			p.remove(f.amount%4 == 0)
		}
	})
}

func (w *world) hangPods(pods []*pod, lasts time.Duration) {
	for _, p := range pods {
		if proc := p.proc; proc != nil {
			proc.hangs++
			w.after(lasts, func() { proc.hangs-- })
		}
	}
}

// endUnseen starts an operator after a pod has ended, whose object stays, and cuts
// its watch before there is room for the next pod, which gets the address.
func endUnseen(w *world, f fault) {
	full := fault{kind: "cordon", at: w.now, lasts: 10 * time.Second}
	for i := range w.order {
		full.target = i
		cordon(w, full)
	}
	onPod(w, f, func(p *pod) { p.complete() })
	w.after(3*time.Second, func() { restart(w, fault{lasts: time.Second}) })
	w.after(9*time.Second, func() { cutWatch(w, fault{lasts: 50*time.Second + f.lasts, amount: f.amount}) })
}

// reuseEarly gives away the address of a pod whose kubelet cannot tell that it has
// another one by now.
func reuseEarly(w *world, f fault) {
	f.amount, f.lasts = f.amount|1, max(f.lasts, 45*time.Second)
	rebuild(w, f)
	f.target++
	onPod(w, f, func(p *pod) { p.remove(false) })
}

// reuseUnseen does so before an operator starts that sees nothing for a while, and
// then a list in which two pods have the address.
func reuseUnseen(w *world, f fault) {
	f.lasts = 3 * time.Minute
	reuseEarly(w, f)
	w.after(15*time.Second, func() { restartUnseen(w, 45*time.Second) })
}

// withSuccessors is a world in which, of every other of those histories, others have
// the ids of the dead, and tell nothing by their timestamps.
func withSuccessors(p *plan, f fault) {
	if f.amount%2 == 0 {
		return
	}
	p.podRanges = true
	for i := range p.loads {
		if l := &p.loads[i]; !l.hostNetwork {
			l.stateful, l.named, l.proxied, l.timeless = true, true, false, true
		}
	}
}

// registerDead has processes that live on without their pods register again, with an
// operator that has not seen those die, and may see nothing just then.
func registerDead(w *world, f fault) {
	f.lasts = 4 * time.Minute
	evacuate(w, f)
	w.after(130*time.Second, func() { restart(w, fault{lasts: time.Second}) })
	if f.amount%2 == 1 {
		w.after(150*time.Second, func() { cutWatch(w, fault{lasts: 60 * time.Second}) })
	}
	w.after(175*time.Second, func() {
		for _, c := range w.living() {
			if c.proc.pod != nil && w.api.pod(c.proc.pod) == nil {
				c.rec.Dirty++
				c.register()
			}
		}
	})
}

// behindProxies is a world in which only ids tell clients from the next owners of their
// addresses.
func behindProxies(p *plan, _ fault) {
	p.podRanges = false
	for i := range p.loads {
		if l := &p.loads[i]; !l.stateful && !l.hostNetwork {
			l.named, l.proxied, l.refreshes = true, true, false
		}
	}
}

// outlivePods has the pods of a node that does not hear of it removed by force, while
// nobody has missed the node. Who gives addresses away goes by the objects.
func outlivePods(w *world, f fault) {
	n := w.someNode(f)
	n.cutAPI++
	w.after(max(f.lasts, 100*time.Second), func() { n.cutAPI-- })
	w.after(time.Second, func() { w.expel(n) })
}

// expel removes a node's pods by force while their processes go on.
func (w *world) expel(n *node) {
	for _, p := range w.podsOn(n.name) {
		p.remove(true)
		if p.load.proxied && !p.load.refreshes && !w.plan.podRanges {
			p.free() // somebody believes that it is
		}
	}
}

// restartBehind starts an operator whose clock is behind and that sees nothing for a
// while. When it has heard everybody since, many die.
func restartBehind(w *world, f fault) {
	w.stepped = true
	w.op.stepped -= time.Hour
	restartUnseen(w, 45*time.Second)
	w.after(100*time.Second, func() { massacre(w, f) })
}

func restartUnseen(w *world, blind time.Duration) {
	restart(w, fault{lasts: time.Second})
	cutWatch(w, fault{lasts: blind})
}

// endRegistering has processes end within a second of their last registrations.
func endRegistering(w *world, f fault) {
	for i, p := range w.podsOf(w.someLoad(f)) {
		w.after(time.Duration(i)*time.Second, func() {
			if proc := p.proc; proc != nil && proc.works() {
				proc.c.rec.Dirty++
				proc.c.register()
				w.after(time.Duration(f.amount)*8*time.Millisecond, p.crash)
			}
		})
	}
}

// failProbes has kubelets end containers and start them again.
func failProbes(w *world, f fault) {
	for i, p := range w.podsOf(w.someLoad(f)) {
		w.after(time.Duration(i)*time.Second, func() {
			if proc := p.proc; proc != nil && proc.alive && p.node.kubeletUp() && !p.ending {
				proc.c.terminate(2 * time.Second)
				w.after(2*time.Second+time.Duration(f.amount)*8*time.Millisecond, p.crash)
			}
		})
	}
}

func (w *world) someLoad(f fault) *workload {
	if f.clientless {
		return w.clientless[f.target%len(w.clientless)]
	}
	return w.loads[f.target%len(w.loads)]
}

// podsOf is the pods of a workload that exist, by name.
func (w *world) podsOf(load *workload) []*pod {
	var out []*pod
	for _, o := range w.api.pods.sorted() {
		if p := w.pod(string(o.UID)); p.load == load {
			out = append(out, p)
		}
	}
	return out
}
