package truth

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// fault is one thing that happens to the world.
type fault struct {
	at, lasts time.Duration
	kind      string
	target    int // which node, zone, pod or workload, of those there are then
	amount    int
}

// faults is everything that can happen, by name.
var faults = map[string]func(*world, fault){
	"watch cut":        cutWatch,
	"watch late":       lateWatch,
	"API server down":  downAPI,
	"clients cut":      cutClients,
	"kubelet cut":      cutKubelet,
	"node cut":         cutNode,
	"node from us cut": cutFromUs,
	"zone cut":         cutZone,
	"zone kubelets":    cutZoneKubelets,
	"all kubelets":     cutKubelets,
	"power lost":       losePower,
	"kubelet hangs":    hangKubelet,
	"node deleted":     deleteNode,
	"node leaves":      leaveNode,
	"vouched for":      vouch,
	"planned notice":   noticePlanned,
	"hard notice":      noticeHard,
	"shutting down":    shutDown,
	"cordon":           cordon,
	"drain":            drain,
	"crash":            func(w *world, f fault) { onPod(w, f, (*pod).crash) },
	"complete":         func(w *world, f fault) { onPod(w, f, (*pod).complete) },
	"delete":           func(w *world, f fault) { onPod(w, f, func(p *pod) { p.remove(false) }) },
	"force delete":     func(w *world, f fault) { onPod(w, f, func(p *pod) { p.remove(true) }) },
	"rebuild":          rebuild,
	"disrupted":        disrupt,
	"hang":             hang,
	"flap":             flap,
	"massacre":         massacre,
	"evacuated":        evacuate,
	"blackout":         blackout,
	"blind restart":    restartBlind,
	"rollout":          rollout,
	"restart":          restart,
	"pause":            pause,
	"clock step":       stepClock,
	"relist":           relist,
}

func (f fault) happens(w *world) {
	do := faults[f.kind]
	if do == nil {
		do = coincidences[f.kind]
	}
	do(w, f)
}

func (w *world) someNode(f fault) *node { return w.order[f.target%len(w.order)] }

func onPod(w *world, f fault, do func(*pod)) {
	var there []*pod
	for _, o := range w.api.pods.sorted() {
		if p := w.pod(string(o.UID)); p.proc != nil && p.proc.alive {
			there = append(there, p)
		}
	}
	if len(there) > 0 {
		do(there[f.target%len(there)])
	}
}

// rebuild may happen where the kubelet cannot tell of it.
func rebuild(w *world, f fault) {
	onPod(w, f, func(p *pod) {
		if f.amount%2 == 1 {
			p.node.cutAPI++
			w.after(f.lasts, func() { p.node.cutAPI-- })
		}
		p.rebuild()
	})
}

// evacuate has a node that the control plane does not hear given up: its pods are
// removed by force while their processes go on.
func evacuate(w *world, f fault) {
	n := w.someNode(f)
	lasts := max(f.lasts, 2*time.Minute)
	n.cutAPI++
	w.after(lasts, func() { n.cutAPI-- })
	w.after([]time.Duration{56 * time.Second, 75 * time.Second, 115 * time.Second}[f.amount%3], func() {
		for _, p := range w.podsOn(n.name) {
			p.remove(true)
			if p.load.proxied && !p.load.refreshes && !w.plan.podRanges {
				p.free() // somebody believes that it is
			}
		}
	})
}

// blackout cuts the operator off from everything.
func blackout(w *world, f fault) {
	f.lasts = max(f.lasts, 45*time.Second)
	cutWatch(w, f)
	cutClients(w, f)
}

// restartBlind starts an operator that sees no object for a while, in which pods
// die and their addresses are given away.
func restartBlind(w *world, f fault) {
	restart(w, f)
	w.cutWatch++
	w.after(f.lasts+80*time.Second, func() { w.cutWatch-- })
	w.after(f.lasts+40*time.Second, func() {
		for i, o := range w.api.pods.sorted() {
			if (i+f.target)%3 == 0 && w.api.up() {
				w.pod(string(o.UID)).remove(f.amount%2 == 0)
			}
		}
	})
}

func (w *world) troubled(f fault) {
	w.troubles = append(w.troubles, trouble{w.now, w.now + f.lasts, f.kind == "pause"})
}

func cutWatch(w *world, f fault) {
	w.cutWatch++
	w.op.connected = false
	w.after(f.lasts, func() { w.cutWatch--; w.expired = w.expired || f.amount%2 == 1 })
}

func lateWatch(w *world, f fault) {
	op := w.op
	op.late++
	op.lag = max(op.lag, 5*time.Second+time.Duration(f.amount)*time.Second)
	w.after(f.lasts, func() {
		if op.late--; op.late > 0 {
			return // what another delay holds back comes later
		}
		op.lag, op.since = w.plan.lag, w.now
		op.deliver()
	})
}

func downAPI(w *world, f fault) {
	w.api.down++
	w.op.connected = false
	w.after(f.lasts, func() { w.api.down--; w.expired = w.expired || f.amount%2 == 1 })
}

func cutClients(w *world, f fault) {
	w.cutClients++
	w.troubled(f)
	w.after(f.lasts, func() { w.cutClients-- })
}

func cutKubelet(w *world, f fault) {
	n := w.someNode(f)
	n.cutAPI++
	w.after(f.lasts, func() { n.cutAPI-- })
}

func cutFromUs(w *world, f fault) {
	n := w.someNode(f)
	n.cutOp++
	w.after(f.lasts, func() { n.cutOp-- })
}

// cutNode cuts both links of a node; the one to the operator heals first.
func cutNode(w *world, f fault) { w.isolate(w.someNode(f), f.lasts, f.amount) }

func (w *world) isolate(n *node, lasts time.Duration, percent int) {
	n.cutAPI++
	n.cutOp++
	w.after(lasts, func() { n.cutAPI-- })
	w.after(lasts*time.Duration(50+percent%51)/100, func() { n.cutOp-- })
}

func (w *world) inZone(f fault) []*node {
	zone := w.someNode(f).zone
	return slices.DeleteFunc(slices.Clone(w.order), func(n *node) bool { return n.zone != zone })
}

func cutZone(w *world, f fault) {
	for _, n := range w.inZone(f) {
		w.isolate(n, f.lasts, f.amount)
	}
}

func cutZoneKubelets(w *world, f fault) {
	for _, n := range w.inZone(f) {
		n.cutAPI++
		w.after(f.lasts, func() { n.cutAPI-- })
	}
}

func cutKubelets(w *world, f fault) {
	for _, n := range w.order {
		n.cutAPI++
		w.after(f.lasts, func() { n.cutAPI-- })
	}
}

func losePower(w *world, f fault) {
	n := w.someNode(f)
	n.lose()
	w.after(f.lasts, func() { n.dark-- })
}

func hangKubelet(w *world, f fault) {
	n := w.someNode(f)
	n.hung++
	w.after(f.lasts, func() { n.hung-- })
}

func deleteNode(w *world, f fault) {
	if o := w.api.node(w.someNode(f).name); o != nil && w.api.up() {
		w.api.deleteNode(o)
	}
}

// leaveNode takes a machine away for good, object and all.
func leaveNode(w *world, f fault) {
	n := w.someNode(f)
	if len(w.order) < 2 || n.left {
		return
	}
	n.lose()
	n.left = true
	w.after(f.lasts/4, func() { deleteNode(w, f) })
}

// vouch has somebody swear that a node that cannot be reached is down, rightly or
// not, and take that back.
func vouch(w *world, f fault) {
	n := w.someNode(f)
	w.isolate(n, f.lasts, f.amount)
	if f.amount%2 == 0 {
		n.lose()
		w.after(f.lasts, func() { n.dark-- })
	}
	w.after(70*time.Second, func() { n.taint(taintOut) })
	w.after(f.lasts+20*time.Second, func() { n.untaint(taintOut) })
}

func noticePlanned(w *world, f fault) {
	n := w.someNode(f)
	n.taint(taintPlanned)
	w.after(f.lasts, func() { n.untaint(taintPlanned) })
}

func noticeHard(w *world, f fault) {
	n := w.someNode(f)
	n.taint(taintSpot)
	if f.amount%2 == 1 {
		w.after(f.lasts/2, n.lose)
		w.after(f.lasts, func() { n.dark-- })
	}
	w.after(f.lasts, func() { n.untaint(taintSpot) })
}

func shutDown(w *world, f fault) {
	n := w.someNode(f)
	n.notice = "node is shutting down"
	if n.reachesAPI() {
		n.post()
	}
	w.after(f.lasts, func() { n.notice = "" })
}

func cordon(w *world, f fault) {
	n := w.someNode(f)
	n.taint(taintCordon)
	w.after(f.lasts, func() { n.untaint(taintCordon) })
}

// drain evicts a node's pods as a disruption budget allows: one of a workload at a
// time, and only while all others of it are ready.
func drain(w *world, f fault) {
	n := w.someNode(f)
	n.taint(taintPlanned)
	n.taint(taintCordon)
	w.every(5*time.Second, 5*time.Second, func() bool {
		for _, p := range w.podsOn(n.name) {
			if o := w.api.pod(p); o != nil && o.DeletionTimestamp == nil && w.budget(p.load) {
				p.disrupt("EvictionByEvictionAPI")
				p.remove(false)
			}
		}
		return w.now < f.at+f.lasts
	})
	w.after(f.lasts, func() { n.untaint(taintPlanned); n.untaint(taintCordon) })
}

func (w *world) budget(load *workload) bool {
	ready := 0
	for _, o := range w.api.pods.sorted() {
		if w.pod(string(o.UID)).load == load && o.DeletionTimestamp == nil && condition(o, corev1.PodReady) {
			ready++
		}
	}
	return ready >= load.replicas
}

func disrupt(w *world, f fault) {
	onPod(w, f, func(p *pod) {
		p.disrupt("PreemptionByScheduler")
		if f.amount%2 == 0 {
			p.remove(false)
			return
		}
		w.after(2*time.Minute, func() { p.disrupt("") }) // nobody deleted it
	})
}

func hang(w *world, f fault) {
	onPod(w, f, func(p *pod) {
		proc := p.proc
		proc.hangs++
		w.after(f.lasts, func() { proc.hangs-- })
	})
}

// flap fails the readiness probes of a workload.
func flap(w *world, f fault) {
	load := w.someLoad(f)
	set := func(unready bool) {
		for _, p := range w.pods {
			if p.load == load && !p.ended && p.proc != nil {
				p.unready = unready
				p.changed()
			}
		}
	}
	set(true)
	w.after(f.lasts, func() { set(false) })
}

// massacre ends many pods at once without a word.
func massacre(w *world, f fault) {
	for i, o := range w.api.pods.sorted() {
		if (i+f.target)%5 < 2 && w.api.up() {
			p := w.pod(string(o.UID))
			p.stop()
			p.ended = true
			p.remove(true)
		}
	}
}

func rollout(w *world, f fault) {
	for i, p := range w.podsOf(w.someLoad(f)) {
		w.after(time.Duration(i)*12*time.Second, func() { p.remove(false) })
	}
}

// restart ends the operator's process and starts another one, on the same address
// or after its node was lost, so that nobody even refused.
func restart(w *world, f fault) {
	old := w.op
	if !old.running || old.paused() {
		return
	}
	old.running, old.connected, old.vanished = false, false, f.amount%2 == 1
	w.troubled(f)
	w.after(f.lasts, func() {
		w.op = w.newOperator()
		w.op.start(old.stepped)
	})
}

func pause(w *world, f fault) {
	if w.op.running && !w.op.paused() {
		w.op.resumes = w.now + f.lasts
		w.troubled(f)
	}
}

func stepClock(w *world, f fault) {
	w.stepped = true
	w.op.stepped += []time.Duration{time.Hour, -time.Hour, 30 * time.Second, -30 * time.Second}[f.amount%4]
}

func relist(w *world, _ fault) {
	w.op.connected = false
	w.expired = true
}
