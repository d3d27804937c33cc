package truth

// keptFaults is what can happen to pods without a client, and to what registers pods.
var keptFaults = map[string]func(*world, fault){
	"crash":        func(w *world, f fault) { onPod(w, f, (*pod).crash) },
	"complete":     func(w *world, f fault) { onPod(w, f, (*pod).complete) },
	"delete":       func(w *world, f fault) { onPod(w, f, func(p *pod) { p.remove(false) }) },
	"force delete": func(w *world, f fault) { onPod(w, f, func(p *pod) { p.remove(true) }) },
	"rebuild":      rebuild,
	"disrupted":    disrupt,
	"flap":         flap,
	"unready":      failReadiness,
	"rollout":      rollout,
	"unregistered": unregister,
	"edited":       editPort,
	"power lost":   losePowerUnder,
}

// failReadiness fails the probe of one pod.
func failReadiness(w *world, f fault) {
	onPod(w, f, func(p *pod) {
		proc := p.proc
		set := func(unready bool) {
			if p.proc == proc && !p.ended {
				p.unready = unready
				p.changed()
			}
		}
		set(true)
		w.after(f.lasts, func() { set(false) })
	})
}

func (w *world) someKept(f fault) *workload {
	return w.kept[f.target%len(w.kept)]
}

// unregister takes away what registers the pods of a workload, with or without a
// client, for a while.
func unregister(w *world, f fault) {
	load := w.someKept(f)
	set := func(on bool) {
		switch {
		case load.keeper == offers && on:
			w.offer(load, load.port)
		case load.keeper == offers:
			w.unoffer(load)
		default:
			w.annotateAll(load, on, load.port)
		}
	}
	set(false)
	w.after(f.lasts, func() { set(true) })
}

func (w *world) annotateAll(load *workload, on bool, port int) {
	for _, p := range w.podsOf(load) {
		if on {
			p.annotate(registration(p, port))
		} else {
			p.annotate(nil)
		}
	}
}

// editPort has another port listed for the pods of a workload.
func editPort(w *world, f fault) {
	load := w.someKept(f)
	port := load.port + f.amount%2
	if load.keeper == offers {
		w.offer(load, port)
		return
	}
	w.annotateAll(load, true, port)
}

// losePowerUnder takes the power from the node of a pod.
func losePowerUnder(w *world, f fault) {
	onPod(w, f, func(p *pod) {
		p.node.lose()
		w.after(f.lasts, func() { p.node.dark-- })
	})
}
