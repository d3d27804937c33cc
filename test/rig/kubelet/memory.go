package kubelet

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Memory is a Runtime without processes: its containers exist only as entries
// here. It may be used by several kubelets at once.
type Memory struct {
	mu       sync.Mutex
	running  map[types.UID]map[string]*memoryProcess
	stubborn bool
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory {
	return &Memory{running: map[types.UID]map[string]*memoryProcess{}}
}

// SetStubborn makes all containers ignore Terminate, or heed it again.
func (m *Memory) SetStubborn(stubborn bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stubborn = stubborn
}

// Running reports whether a container of the pod with this UID runs, whatever has
// become of the pod's object.
func (m *Memory) Running(pod types.UID, container string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.running[pod][container] != nil
}

// StartContainer implements Runtime.
func (m *Memory) StartContainer(_ context.Context, pod *corev1.Pod, container *corev1.Container, _ string) (Process, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := &memoryProcess{memory: m, pod: pod.UID, container: container.Name, done: make(chan ExitState, 1)}
	if m.running[pod.UID] == nil {
		m.running[pod.UID] = map[string]*memoryProcess{}
	}
	m.running[pod.UID][container.Name] = p
	return p, nil
}

type memoryProcess struct {
	memory    *Memory
	pod       types.UID
	container string
	done      chan ExitState
}

func (p *memoryProcess) Terminate() {
	p.memory.mu.Lock()
	defer p.memory.mu.Unlock()
	if !p.memory.stubborn {
		p.exit(ExitState{Code: 0})
	}
}

func (p *memoryProcess) Kill() {
	p.memory.mu.Lock()
	defer p.memory.mu.Unlock()
	p.exit(ExitState{Code: 137})
}

func (p *memoryProcess) Done() <-chan ExitState { return p.done }

// exit needs the lock of memory and counts only once.
func (p *memoryProcess) exit(state ExitState) {
	containers := p.memory.running[p.pod]
	if containers[p.container] != p {
		return
	}
	delete(containers, p.container)
	if len(containers) == 0 {
		delete(p.memory.running, p.pod)
	}
	p.done <- state
}
