package kubelet

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Silence cuts the kubelet off from the API server or reconnects it: no Lease
// renewals, no status, no news about pods, while the processes live on. In the API
// this is the same as a dead kubelet. A request that is under way may still land.
func (k *Kubelet) Silence(silent bool) {
	k.mu.Lock()
	k.silent = silent
	k.mu.Unlock()
	if silent {
		return
	}
	k.node.wake()
	nudge(k.rewatch)
	k.eachWorker(func(w *worker) { w.publisher.wake() })
}

// PowerOff is the sudden end of the node: silence, all processes die with nobody to
// report it, and, with Options.Vanish, nothing answers at its addresses.
func (k *Kubelet) PowerOff() {
	k.Silence(true)
	k.vanish()
	k.eachWorker(func(w *worker) { w.post(w.loseProcesses) })
}

// PowerOn brings a node back after PowerOff with a new boot ID. Its pods keep their
// UID, get new addresses and restart.
func (k *Kubelet) PowerOn() {
	k.appear()
	k.node.boot()
	k.mu.Lock()
	k.booted = true
	k.mu.Unlock()
	k.Silence(false)
}

// Reboot is PowerOff and PowerOn without a pause.
func (k *Kubelet) Reboot() {
	k.PowerOff()
	k.PowerOn()
}

// KeepOrphans lets the processes of pods live on whose object vanishes without
// the kubelet having ended them, until it is switched off or the kubelet stops.
func (k *Kubelet) KeepOrphans(keep bool) {
	k.mu.Lock()
	k.keepOrphans = keep
	k.mu.Unlock()
	k.eachWorker(func(w *worker) { w.post(func(time.Time) {}) })
}

// CrashContainer kills the process of a container. What follows is up to the
// pod's restart policy.
func (k *Kubelet) CrashContainer(pod types.NamespacedName, container string) error {
	return k.onPod(pod, func(w *worker) { w.post(func(time.Time) { w.crash(container) }) })
}

// SetReady makes the pod's readiness probes fail, or hands readiness back to its
// processes.
func (k *Kubelet) SetReady(pod types.NamespacedName, ready bool) error {
	return k.onPod(pod, func(w *worker) { w.post(func(time.Time) { w.unready = !ready }) })
}

// FailPod ends a pod as node-pressure eviction ("Evicted") and graceful node
// shutdown ("Terminated") do: the processes first, then phase Failed, and no
// deletion timestamp.
func (k *Kubelet) FailPod(pod types.NamespacedName, reason string) error {
	return k.onPod(pod, func(w *worker) { w.post(func(now time.Time) { w.failPod(now, reason) }) })
}

// PostNotReady makes the kubelet itself say that the node is not ready, for
// example with the message "node is shutting down"; PostReady ends that.
func (k *Kubelet) PostNotReady(message string) { k.node.setNotReady(message) }

// PostReady makes the kubelet say that the node is ready again.
func (k *Kubelet) PostReady() { k.node.setNotReady("") }

// AddTaint adds a taint to the Node, or replaces one with the same key and effect.
// It acts for an administrator, so it works on a silent node, too.
func (k *Kubelet) AddTaint(ctx context.Context, taint corev1.Taint) error {
	err := k.node.changeTaints(ctx, func(taints []corev1.Taint) []corev1.Taint {
		return append(slices.DeleteFunc(taints, func(t corev1.Taint) bool { return t.MatchTaint(&taint) }), taint)
	})
	if err != nil {
		return fmt.Errorf("tainting node %s: %w", k.options.Name, err)
	}
	return nil
}

// RemoveTaint removes all taints with this key from the Node.
func (k *Kubelet) RemoveTaint(ctx context.Context, key string) error {
	err := k.node.changeTaints(ctx, func(taints []corev1.Taint) []corev1.Taint {
		return slices.DeleteFunc(taints, func(t corev1.Taint) bool { return t.Key == key })
	})
	if err != nil {
		return fmt.Errorf("removing the taint from node %s: %w", k.options.Name, err)
	}
	return nil
}

// Register registers the Node again after it was deleted, as a kubelet does that
// is restarted.
func (k *Kubelet) Register(ctx context.Context) error {
	if err := k.node.register(ctx); err != nil {
		return fmt.Errorf("registering node %s again: %w", k.options.Name, err)
	}
	return nil
}

// StepClock sets the node's clock ahead by d, or back, as far as it shows in what
// the kubelet writes into the Lease.
func (k *Kubelet) StepClock(d time.Duration) { k.node.stepClock(d) }

func (k *Kubelet) eachWorker(do func(*worker)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, w := range k.workers {
		do(w)
	}
}

// onPod finds the worker of the pod that now has this name.
func (k *Kubelet) onPod(name types.NamespacedName, do func(*worker)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, pod := range k.bound {
		if pod.Namespace != name.Namespace || pod.Name != name.Name {
			continue
		}
		if w := k.workers[pod.UID]; w != nil {
			do(w)
			return nil
		}
	}
	return fmt.Errorf("finding pod %s on node %s: it does not run here", name, k.options.Name)
}

// boot gives the node the identity of a new boot.
func (n *node) boot() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.bootID = newBootID()
	n.notReady = ""
}

func (n *node) stepClock(d time.Duration) {
	n.mu.Lock()
	n.clockAhead = d
	n.mu.Unlock()
	nudge(n.renew)
}

func (n *node) setNotReady(message string) {
	n.mu.Lock()
	n.notReady = message
	n.mu.Unlock()
	nudge(n.changed)
}
