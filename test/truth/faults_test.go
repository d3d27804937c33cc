package truth

import (
	"time"
)

// fault is one thing that happens to the world.
type fault struct {
	at, lasts time.Duration
	kind      string
	target    int // which node, zone, pod or workload, of those there are then
	amount    int

	clientless bool // it happens to pods without a client
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
	if f.clientless {
		if len(w.clientless) == 0 {
			return // left out
		}
		do = keptFaults[f.kind]
	}
	do(w, f)
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
	cutWatch(w, fault{lasts: f.lasts + 80*time.Second})
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
