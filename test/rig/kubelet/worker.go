package kubelet

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// forcedGrace is what a kubelet grants when asked for no grace at all.
const forcedGrace = time.Second

// worker runs one pod, from the moment it is bound to the node until its object
// and its processes are gone. One goroutine owns all of its state; everybody else
// posts to it.
type worker struct {
	kubelet   *Kubelet
	uid       types.UID
	publisher *publisher
	seen      string // resource version last posted; guarded by the kubelet's lock

	mu     sync.Mutex
	posted []func(now time.Time)
	nudged chan struct{}

	// Below is the goroutine's own.
	pod        *corev1.Pod // the newest seen
	ip         string
	started    *metav1.Time
	containers []*container // sidecars first
	unready    bool         // readiness probes are made to fail
	dark       bool         // the node is without power
	forced     bool         // the object goes without waiting for the processes
	gone       bool         // the object is gone
	failed     string       // the reason the node ended the pod for, if it did
	ending     *ending      // nil while the pod lives
	ended      bool         // no process is left, and none will come
	probeAt    time.Time
	wakeAt     time.Time // when there is something to do next
}

// ending is the way of a pod to its end.
type ending struct {
	since time.Time
	grace time.Duration
}

func (e ending) deadline() time.Time { return e.since.Add(e.grace) }

func newWorker(k *Kubelet, pod *corev1.Pod) *worker {
	return &worker{
		kubelet:   k,
		uid:       pod.UID,
		publisher: newPublisher(k, pod),
		nudged:    make(chan struct{}, 1),
		pod:       pod,
	}
}

// post hands an event to the worker and never blocks.
func (w *worker) post(event func(now time.Time)) {
	w.mu.Lock()
	w.posted = append(w.posted, event)
	w.mu.Unlock()
	nudge(w.nudged)
}

func (w *worker) take() []func(time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	events := w.posted
	w.posted = nil
	return events
}

func (w *worker) run(ctx context.Context) {
	publishing, stop := context.WithCancel(ctx)
	var publisher sync.WaitGroup
	publisher.Go(func() { w.publisher.run(publishing) })
	defer publisher.Wait()
	defer stop()
	w.start(time.Now())
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			w.killAll()
			return
		case <-w.nudged:
		case <-timer.C:
		}
		now := time.Now()
		for _, event := range w.take() {
			event(now)
		}
		w.step(ctx, now)
		if w.gone && w.ended {
			w.kubelet.forget(w.uid)
			return
		}
		timer.Reset(w.wakeAt.Sub(now))
	}
}

// start makes the containers of a pod that is new here. One that ran before, under
// an earlier kubelet of this node, goes on counting its restarts.
func (w *worker) start(now time.Time) {
	started := apiTime(now)
	w.started = &started
	spec := w.pod.Spec
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			w.containers = append(w.containers, newContainer(c, true, now))
		}
	}
	for i := range spec.Containers {
		w.containers = append(w.containers, newContainer(&spec.Containers[i], false, now))
	}
	before := append(append([]corev1.ContainerStatus{}, w.pod.Status.InitContainerStatuses...), w.pod.Status.ContainerStatuses...)
	for _, status := range before {
		if c := w.container(status.Name); c != nil && status.ContainerID != "" {
			c.restarts = status.RestartCount
			c.id = status.ContainerID
		}
	}
}

func (w *worker) container(name string) *container {
	for _, c := range w.containers {
		if c.spec.Name == name {
			return c
		}
	}
	return nil
}

// step does what is due and computes when to come back.
func (w *worker) step(ctx context.Context, now time.Time) {
	const idle = time.Hour
	w.wakeAt = now.Add(idle)
	if w.dark || w.ended {
		w.publish()
		return
	}
	w.noticeExits(now)
	if w.forced || w.gone {
		w.orphan(now)
	} else if w.ending == nil {
		w.live(ctx, now)
	}
	w.probe(now)
	if w.ending != nil {
		w.end(ctx, now)
	}
	w.publish()
}

// due reports whether the moment has come, and otherwise has the worker woken then.
func (w *worker) due(now, at time.Time) bool {
	if !now.Before(at) {
		return true
	}
	if at.Before(w.wakeAt) {
		w.wakeAt = at
	}
	return false
}

func (w *worker) publish() {
	if w.gone || w.dark {
		return
	}
	w.publisher.set(w.status(), w.ended && w.pod.DeletionTimestamp != nil)
}

// update takes in the newest state of the object.
func (w *worker) update(now time.Time, pod *corev1.Pod) {
	w.pod = pod
	if pod.DeletionTimestamp == nil {
		return
	}
	grace := w.specGrace()
	if seconds := pod.DeletionGracePeriodSeconds; seconds != nil {
		grace = time.Duration(*seconds) * time.Second
	}
	if grace == 0 {
		// The API shows this for a moment before it removes the object by force.
		w.forced = true
		return
	}
	w.beginEnding(now, grace)
}

// orphan ends the processes of a pod whose object went by force, or was missed
// going, unless they are to be kept.
func (w *worker) orphan(now time.Time) {
	switch {
	case w.kubelet.keepsOrphans():
	case w.forced:
		w.beginEnding(now, forcedGrace)
	default:
		w.beginEnding(now, w.specGrace())
	}
}

// beginEnding starts the end of the pod. When it has begun, a later call can only
// make it shorter.
func (w *worker) beginEnding(now time.Time, grace time.Duration) {
	if w.ending == nil {
		w.ending = &ending{since: now, grace: grace}
		return
	}
	w.ending.grace = min(w.ending.grace, max(0, now.Add(grace).Sub(w.ending.since)))
}

func (w *worker) failPod(now time.Time, reason string) {
	if w.ended || w.ending != nil {
		return
	}
	w.failed = reason
	w.beginEnding(now, w.specGrace())
}

func (w *worker) specGrace() time.Duration {
	if seconds := w.pod.Spec.TerminationGracePeriodSeconds; seconds != nil {
		return time.Duration(*seconds) * time.Second
	}
	return 30 * time.Second
}
