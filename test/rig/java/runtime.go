package java

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kureka/kureka/test/rig/instance/child"
	"github.com/kureka/kureka/test/rig/kubelet"
)

// Port is where every application listens in its pod.
const Port = 8080

// Runtime is a kubelet.Runtime. It may be used by several kubelets at once.
type Runtime struct {
	// Programs are command lines, by the image that a container names.
	Programs map[string][]string
	// Registry is the base URL of the Eureka API, without a slash at its end.
	Registry string
	// ProbeEvery passes between two asks for an application's readiness.
	ProbeEvery time.Duration

	mu   sync.Mutex
	logs map[string]*log // by namespace/name
}

// StartContainer implements kubelet.Runtime. The container is told its pod's name
// and address as POD_NAME and POD_IP, which its own environment may refer to as
// $(POD_IP), and the registry's URL as KUREKA_URL. It must have a readiness probe
// by HTTP.
func (r *Runtime) StartContainer(ctx context.Context, pod *corev1.Pod, container *corev1.Container, ip string) (kubelet.Process, error) {
	argv := r.Programs[container.Image]
	if len(argv) == 0 || container.ReadinessProbe == nil || container.ReadinessProbe.HTTPGet == nil {
		return nil, fmt.Errorf("starting image %q: it has no program or no readiness probe by HTTP", container.Image)
	}
	base, err := url.Parse(r.Registry)
	if err != nil {
		return nil, fmt.Errorf("parsing the registry's URL: %w", err)
	}
	ctx = context.WithoutCancel(ctx)
	pipe, err := newPipe(ctx, ip, base.Host)
	if err != nil {
		return nil, err
	}
	env := environ(pod, container, ip, "http://"+pipe.Addr().String()+base.Path+"/")
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // it lives until it is ended
	output := r.log(pod.Namespace + "/" + pod.Name)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, output, output
	started, err := child.Start(cmd)
	if err != nil {
		return nil, errors.Join(err, pipe.Close())
	}
	p := &process{Process: started, env: env, done: make(chan kubelet.ExitState, 1)}
	page := "http://" + net.JoinHostPort(ip, strconv.Itoa(Port)) + container.ReadinessProbe.HTTPGet.Path
	probing, stop := context.WithCancel(ctx)
	go p.probe(probing, page, r.ProbeEvery)
	go func() {
		<-started.Done()
		stop()
		_ = pipe.Close() // nothing is lost with it
		p.done <- kubelet.ExitState{Code: int32(started.ExitCode())}
	}()
	return p, nil
}

// environ is the environment of a container.
func environ(pod *corev1.Pod, container *corev1.Container, ip, registry string) []string {
	references := strings.NewReplacer("$(POD_IP)", ip, "$(POD_NAME)", pod.Name)
	env := append(os.Environ(), "POD_NAME="+pod.Name, "POD_IP="+ip, "KUREKA_URL="+registry)
	for _, e := range container.Env {
		env = append(env, e.Name+"="+references.Replace(e.Value))
	}
	return env
}

// Log is the end of what the containers of a pod have printed; pod is
// "namespace/name".
func (r *Runtime) Log(pod string) string { return r.log(pod).String() }

func (r *Runtime) log(pod string) *log {
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
