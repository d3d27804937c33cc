package pods

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kureka/kureka/test/rig/instance/child"
	"github.com/kureka/kureka/test/rig/kubelet"
)

// port is where the application listens in its pod.
const port = "8080"

// javaRuntime runs the application as the container of a pod. It listens on the
// pod's address. What it sends to the registry goes through a pipe that calls from
// the pod's address, which is what the network of a cluster sees to.
type javaRuntime struct {
	argv     []string
	registry string // base URL

	mu   sync.Mutex
	logs map[string]*log // by namespace/name
}

// StartContainer implements kubelet.Runtime.
func (r *javaRuntime) StartContainer(ctx context.Context, pod *corev1.Pod, container *corev1.Container, ip string) (kubelet.Process, error) {
	base, err := url.Parse(r.registry)
	if err != nil {
		return nil, fmt.Errorf("parsing the registry's URL: %w", err)
	}
	pipe, err := newPipe(context.WithoutCancel(ctx), ip, base.Host)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(r.argv[0], r.argv[1:]...) //nolint:noctx // it lives until it is ended
	cmd.Env = append(os.Environ(), "POD_NAME="+pod.Name, "POD_IP="+ip, "KUREKA_URL=http://"+pipe.Addr().String()+"/eureka/")
	for _, env := range container.Env {
		cmd.Env = append(cmd.Env, env.Name+"="+env.Value)
	}
	output := r.log(pod.Namespace + "/" + pod.Name)
	cmd.Stdout, cmd.Stderr = output, output
	process, err := child.Start(cmd)
	if err != nil {
		return nil, errors.Join(err, pipe.Close())
	}
	p := &javaProcess{process: process, done: make(chan kubelet.ExitState, 1)}
	probing, stopProbing := context.WithCancel(context.WithoutCancel(ctx))
	go p.probe(probing, "http://"+net.JoinHostPort(ip, port)+container.ReadinessProbe.HTTPGet.Path)
	go func() {
		<-process.Done()
		stopProbing()
		_ = pipe.Close() // nothing is lost with it
		p.done <- kubelet.ExitState{Code: int32(process.ExitCode())}
	}()
	return p, nil
}

func (r *javaRuntime) log(pod string) *log {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.logs == nil {
		r.logs = map[string]*log{}
	}
	if r.logs[pod] == nil {
		r.logs[pod] = &log{}
	}
	return r.logs[pod]
}

// javaProcess is one container.
type javaProcess struct {
	process *child.Process
	done    chan kubelet.ExitState
	ready   atomic.Bool
}

func (p *javaProcess) Terminate()                     { p.process.Signal(syscall.SIGTERM) }
func (p *javaProcess) Kill()                          { p.process.Signal(syscall.SIGKILL) }
func (p *javaProcess) Done() <-chan kubelet.ExitState { return p.done }

// Ready implements kubelet.Prober.
func (p *javaProcess) Ready() bool { return p.ready.Load() }

// probe asks the application for its readiness several times a second, until ctx
// ends.
func (p *javaProcess) probe(ctx context.Context, page string) {
	client := &http.Client{Timeout: 5 * time.Second}
	ticker := time.NewTicker(300 * time.Millisecond)
	defer ticker.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
		if err != nil {
			return
		}
		res, err := client.Do(req)
		if err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
		p.ready.Store(err == nil && res.StatusCode == http.StatusOK)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// newPipe passes connections on to an address, from another.
func newPipe(ctx context.Context, from, to string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("opening a pipe: %w", err)
	}
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer near.Close()
				far, err := dialer.DialContext(ctx, "tcp", to)
				if err != nil {
					return
				}
				defer far.Close()
				go func() {
					_, _ = io.Copy(far, near)
					far.Close()
				}()
				_, _ = io.Copy(near, far)
			}()
		}
	}()
	return listener, nil
}

// log keeps the end of an output.
type log struct {
	mu  sync.Mutex
	end []byte
}

func (l *log) Write(data []byte) (int, error) {
	const kept = 16 << 10
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end = append(l.end, data...)
	l.end = l.end[max(0, len(l.end)-kept):]
	return len(data), nil
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.end)
}
