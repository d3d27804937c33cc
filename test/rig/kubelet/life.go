package kubelet

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// live starts what is due and begins the end of a pod whose containers have all
// finished.
func (w *worker) live(ctx context.Context, now time.Time) {
	if !w.giveAddress() {
		w.due(now, now.Add(w.kubelet.options.Timings.Retry))
		return
	}
	finished := true
	for _, c := range w.containers {
		if !c.runs() && !c.finished && w.due(now, c.startAt) {
			w.startContainer(ctx, now, c)
		}
		finished = finished && (c.sidecar || c.finished)
	}
	if finished {
		w.beginEnding(now, w.specGrace())
	}
}

func (w *worker) giveAddress() bool {
	if w.ip != "" {
		return true
	}
	if w.pod.Spec.HostNetwork {
		w.ip = w.kubelet.options.NodeIP
		return true
	}
	ip, err := w.kubelet.addresses.take(w.uid, w.pod.Annotations[AddressAnnotation])
	if err != nil {
		w.kubelet.log.Error(err, "no pod address", "pod", w.pod.Namespace+"/"+w.pod.Name)
		return false
	}
	w.ip = ip
	return true
}

func (w *worker) startContainer(ctx context.Context, now time.Time, c *container) {
	process, err := w.kubelet.options.Runtime.StartContainer(ctx, w.pod, c.spec, w.ip)
	if err != nil {
		c.startFail = err.Error()
		c.scheduleRestart(now, w.kubelet.options.Timings)
		w.due(now, c.startAt)
		return
	}
	if c.id != "" {
		c.restarts++
	}
	c.id = newContainerID()
	c.startFail = ""
	c.started = apiTime(now)
	c.process = process
	_, probed := process.(Prober)
	c.ready = !probed
	w.probeAt = now
	gone := make(chan struct{})
	c.gone = gone
	go func() {
		state := <-process.Done()
		close(gone)
		w.post(func(now time.Time) {
			if c.process == process {
				c.dead, c.deadSince = &state, now
			}
		})
	}()
}

// noticeExits acts on processes that ended, a little later than they did.
func (w *worker) noticeExits(now time.Time) {
	for _, c := range w.containers {
		if c.dead == nil || !w.due(now, c.deadSince.Add(w.kubelet.options.Timings.ExitNotice)) {
			continue
		}
		code := c.dead.Code
		c.exit(*c.dead, c.deadSince)
		if w.ending != nil || !w.restarts(c, code) {
			c.finished = true
			continue
		}
		c.scheduleRestart(now, w.kubelet.options.Timings)
		w.due(now, c.startAt)
	}
}

func (w *worker) restarts(c *container, code int32) bool {
	switch {
	case c.sidecar:
		return true
	case w.pod.Spec.RestartPolicy == corev1.RestartPolicyNever:
		return false
	case w.pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure:
		return code != 0
	}
	return true
}

// probe asks those processes for their readiness that have a say in it, also while
// the pod ends.
func (w *worker) probe(now time.Time) {
	var probers []*container
	for _, c := range w.containers {
		if _, ok := c.process.(Prober); ok && c.dead == nil {
			probers = append(probers, c)
		}
	}
	if len(probers) == 0 || !w.due(now, w.probeAt) {
		return
	}
	for _, c := range probers {
		c.ready = c.process.(Prober).Ready()
	}
	w.probeAt = now.Add(w.kubelet.options.Timings.Probe)
	w.due(now, w.probeAt)
}

// crash kills one container's process.
func (w *worker) crash(name string) {
	if c := w.container(name); c != nil && c.runs() {
		c.process.Kill()
	}
}

// loseProcesses is a loss of power: everything ends and nobody acts on it.
func (w *worker) loseProcesses(time.Time) {
	w.dark = true
	w.killAll()
}

// killAll kills every process and waits until it has ended.
func (w *worker) killAll() {
	for _, c := range w.containers {
		if c.runs() {
			c.process.Kill()
			<-c.gone
		}
	}
}

// reboot finds the containers gone without a trace, as a kubelet does after its
// machine came back, and starts them in a new sandbox with a new address.
func (w *worker) reboot(now time.Time) {
	w.dark = false
	if w.ended {
		return
	}
	w.releaseAddress()
	for _, c := range w.containers {
		if c.runs() {
			c.exit(ExitState{Code: 255, Reason: "Unknown"}, now)
		}
		c.startAt = now
	}
}

func (w *worker) releaseAddress() {
	w.kubelet.addresses.release(w.uid, w.ip)
	w.ip = ""
}
