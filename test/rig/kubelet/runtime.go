package kubelet

import (
	"context"

	corev1 "k8s.io/api/core/v1"
)

// Runtime starts the processes behind containers.
type Runtime interface {
	// StartContainer runs a container with the pod's address and returns without
	// waiting for it to do anything. The process outlives ctx.
	StartContainer(ctx context.Context, pod *corev1.Pod, container *corev1.Container, ip string) (Process, error)
}

// Process is one running container. Its methods return at once.
type Process interface {
	// Terminate asks the process to end, like SIGTERM.
	Terminate()
	// Kill ends the process, like SIGKILL.
	Kill()
	// Done receives exactly one value, when the process has ended. The kubelet is
	// its only reader.
	Done() <-chan ExitState
}

// Prober is implemented by processes that are not ready merely because they run,
// which is what a container with a readiness probe is.
type Prober interface {
	// Ready is asked every Timings.Probe and returns at once.
	Ready() bool
}

// Executor is implemented by processes beside which a command can be run, as a
// preStop hook of kind exec is. Where there is none such a hook counts as done.
type Executor interface {
	// Exec runs a command in the container and returns when it has ended, or when ctx
	// or the container has. What it returns is ignored by a hook.
	Exec(ctx context.Context, command []string) error
}

// ExitState is how a process ended.
type ExitState struct {
	Code int32
	// Reason as in the container status, for example OOMKilled; empty means
	// Completed or Error, by the code.
	Reason string
}
