package instance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kureka/kureka/test/rig/kubelet"
)

// configEnv holds the configuration of an instance in a container's environment.
const configEnv = "INSTANCE"

// Container describes an instance as a container that declares its port. Host
// name and address are the pod's and stay open until it runs.
func Container(config Config, port uint16) (corev1.Container, error) {
	encoded, err := json.Marshal(config)
	if err != nil {
		return corev1.Container{}, fmt.Errorf("encoding the configuration of an instance: %w", err)
	}
	return corev1.Container{
		Name:  "app",
		Image: "instance",
		Env:   []corev1.EnvVar{{Name: configEnv, Value: string(encoded)}},
		Ports: []corev1.ContainerPort{{ContainerPort: int32(port)}},
	}, nil
}

// Runtime runs containers made by Container. It may be used by several kubelets
// at once.
type Runtime struct {
	// Observe, if set, is called with everything an instance of a pod does and must
	// not block.
	Observe func(pod *corev1.Pod, e Event)

	mu        sync.Mutex
	processes map[types.UID]*Process // the latest of each pod
}

// StartContainer implements kubelet.Runtime.
func (r *Runtime) StartContainer(_ context.Context, pod *corev1.Pod, container *corev1.Container, ip string) (kubelet.Process, error) {
	config, err := configOf(pod, container, ip)
	if err != nil {
		return nil, fmt.Errorf("running container %s of pod %s: %w", container.Name, pod.Name, err)
	}
	p, err := Start(config, func(e Event) {
		if r.Observe != nil {
			r.Observe(pod, e)
		}
	})
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.processes == nil {
		r.processes = map[types.UID]*Process{}
	}
	r.processes[pod.UID] = p
	return newContainer(p), nil
}

// Process returns the latest process of a pod, whatever has become of the pod's
// object, or nil if there never was one.
func (r *Runtime) Process(pod types.UID) *Process {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.processes[pod]
}

// Close kills what still runs and returns when it is gone.
func (r *Runtime) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.processes {
		p.Kill()
	}
}

func configOf(pod *corev1.Pod, container *corev1.Container, ip string) (Config, error) {
	var config Config
	for _, env := range container.Env {
		if env.Name != configEnv {
			continue
		}
		if err := json.Unmarshal([]byte(env.Value), &config); err != nil {
			return Config{}, fmt.Errorf("decoding its configuration: %w", err)
		}
	}
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return Config{}, fmt.Errorf("parsing its address: %w", err)
	}
	if len(container.Ports) != 1 || config.App == "" {
		return Config{}, errors.New("it is not an instance")
	}
	config.Address = netip.AddrPortFrom(addr, uint16(container.Ports[0].ContainerPort))
	config.HostName = pod.Name
	if pod.Spec.HostNetwork {
		config.HostName = pod.Spec.NodeName // as inside a real host-network pod
	}
	return config, nil
}

// container is a process as the kubelet sees it.
type container struct {
	process *Process
	done    chan kubelet.ExitState
}

func newContainer(p *Process) *container {
	c := &container{process: p, done: make(chan kubelet.ExitState, 1)}
	go func() {
		<-p.Done()
		c.done <- kubelet.ExitState{Code: int32(p.ExitCode())}
	}()
	return c
}

func (c *container) Terminate()                     { c.process.Signal(syscall.SIGTERM) }
func (c *container) Kill()                          { c.process.Signal(syscall.SIGKILL) }
func (c *container) Done() <-chan kubelet.ExitState { return c.done }

// Ready implements kubelet.Prober: an instance is ready while it listens.
func (c *container) Ready() bool { return c.process.Serving() }
