package truth

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

func onPod(w *world, f fault, do func(*pod)) {
	var there []*pod
	for _, o := range w.api.pods.sorted() {
		if p := w.pod(string(o.UID)); p.load.clientless == f.clientless && p.proc != nil && p.proc.alive {
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
	w.after([]time.Duration{56 * time.Second, 75 * time.Second, 115 * time.Second}[f.amount%3], func() { w.expel(n) })
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
