package kubelet

import (
	"context"
	"time"
)

// end takes the pod one step further to its end: preStop hooks, SIGTERM, SIGKILL,
// the sidecars after the others, and at last the terminal status.
func (w *worker) end(ctx context.Context, now time.Time) {
	if w.endContainers(ctx, now, false) && w.endContainers(ctx, now, true) {
		w.ended = true
		// The address is free again, yet stays in the status.
		w.kubelet.addresses.release(w.uid, w.ip)
	}
}

// endContainers ends either the sidecars or the others and reports whether they
// are gone.
func (w *worker) endContainers(ctx context.Context, now time.Time, sidecars bool) (gone bool) {
	gone = true
	for _, c := range w.containers {
		if c.sidecar != sidecars || !c.runs() {
			continue
		}
		gone = false
		if c.dead == nil {
			w.endContainer(ctx, now, c)
		}
	}
	return gone
}

func (w *worker) endContainer(ctx context.Context, now time.Time, c *container) {
	deadline := w.ending.deadline()
	if c.hook == hookPending {
		c.hook = hookRunning
		w.startHook(ctx, c)
	}
	if c.termAt.IsZero() {
		// Both are asked: due also arranges the next look at it.
		if late := w.due(now, deadline); c.hook != hookDone && !late {
			return
		}
		c.termAt = now
		c.process.Terminate()
	}
	killAt := c.termAt.Add(w.kubelet.options.Timings.MinimumGrace)
	if killAt.Before(deadline) {
		killAt = deadline
	}
	if !c.killSent && w.due(now, killAt) {
		c.killSent = true
		c.process.Kill()
	}
}

// startHook runs the container's preStop hook, if any, in the background.
func (w *worker) startHook(ctx context.Context, c *container) {
	if c.spec.Lifecycle == nil || c.spec.Lifecycle.PreStop == nil {
		c.hook = hookDone
		return
	}
	hook := c.spec.Lifecycle.PreStop
	target := hookTarget{container: c.spec, process: c.process, ip: w.ip, source: w.kubelet.options.NodeIP}
	go func() {
		runHook(ctx, hook, target)
		w.post(func(time.Time) { c.hook = hookDone })
	}()
}
