package truth

import (
	"slices"
	"time"
)

func (w *world) someNode(f fault) *node { return w.order[f.target%len(w.order)] }

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
