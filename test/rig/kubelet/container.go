package kubelet

import (
	"crypto/rand"
	"encoding/hex"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	maxBackoff = 300 * time.Second
	// healthyAfter is how long a container has to run to be forgiven its crashes.
	healthyAfter = 10 * time.Minute
)

// container is one container of a pod over all its restarts. It belongs to the
// worker's goroutine.
type container struct {
	spec    *corev1.Container
	sidecar bool

	process  Process       // nil unless running
	gone     chan struct{} // closed when that process has ended
	id       string
	started  metav1.Time
	ready    bool
	restarts int32

	dead      *ExitState // of a process that ended, until it is noticed
	deadSince time.Time
	exited    *corev1.ContainerStateTerminated // the latest noticed exit
	finished  bool                             // will not be started again
	startAt   time.Time                        // due, unless running or finished
	backoff   time.Duration                    // before the next restart but one
	looping   bool                             // waits for longer than a restart takes
	startFail string                           // what the runtime said

	// While the pod ends.
	hook     hookState
	termAt   time.Time // zero until Terminate was called
	killSent bool
}

type hookState int

const (
	hookPending hookState = iota
	hookRunning
	hookDone
)

func newContainer(spec *corev1.Container, sidecar bool, now time.Time) *container {
	return &container{spec: spec, sidecar: sidecar, startAt: now}
}

// runs tells whether a process is there or is thought to be.
func (c *container) runs() bool { return c.process != nil }

func (c *container) status(podUnready bool) corev1.ContainerStatus {
	s := corev1.ContainerStatus{
		Name:         c.spec.Name,
		Image:        c.spec.Image,
		ImageID:      c.spec.Image,
		ContainerID:  c.id,
		RestartCount: c.restarts,
		Ready:        c.runs() && c.ready && !podUnready,
		Started:      new(c.runs()),
	}
	switch {
	case c.runs():
		s.State.Running = &corev1.ContainerStateRunning{StartedAt: c.started}
		s.LastTerminationState.Terminated = c.exited
	case c.startFail != "":
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "RunContainerError", Message: c.startFail}
		s.LastTerminationState.Terminated = c.exited
	case c.exited == nil:
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}
	case c.looping && !c.finished:
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
		s.LastTerminationState.Terminated = c.exited
	default:
		s.State.Terminated = c.exited
	}
	return s
}

// exit records how the process ended, and when.
func (c *container) exit(state ExitState, at time.Time) {
	reason := state.Reason
	if reason == "" {
		reason = "Completed"
		if state.Code != 0 {
			reason = "Error"
		}
	}
	c.exited = &corev1.ContainerStateTerminated{
		ExitCode:    state.Code,
		Reason:      reason,
		StartedAt:   c.started,
		FinishedAt:  apiTime(at),
		ContainerID: c.id,
	}
	c.process, c.dead, c.ready = nil, nil, false
}

// scheduleRestart makes each restart slower than the one before; the first takes
// only as long as making a container takes.
func (c *container) scheduleRestart(now time.Time, timings Timings) {
	if now.Sub(c.started.Time) >= healthyAfter {
		c.backoff = 0
	}
	c.looping = c.backoff > 0
	c.startAt = now.Add(max(c.backoff, timings.Restart))
	c.backoff = min(max(2*c.backoff, timings.Backoff), maxBackoff)
}

// apiTime has the precision of the API, so that what is read back is equal.
func apiTime(t time.Time) metav1.Time { return metav1.NewTime(t.Truncate(time.Second)) }

func newContainerID() string {
	var id [32]byte
	_, _ = rand.Read(id[:]) // never fails
	return "containerd://" + hex.EncodeToString(id[:])
}
