package chart

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/kureka/kureka/test/rig/controlplane"
	"github.com/kureka/kureka/test/rig/instance/child"
	"github.com/kureka/kureka/test/rig/kubelet"
)

// node runs the program for pods of the chart as their containers say: arguments,
// environment, volumes, readiness probe, and the rights of the pod's service account.
// There are no images, and mounts are folders whose paths the arguments get instead.
type node struct {
	plane   *controlplane.ControlPlane
	client  kubernetes.Interface
	dir     string
	program string

	mounting sync.Mutex
	volumes  sync.WaitGroup // what has them follow their Secrets

	mu    sync.Mutex
	log   bytes.Buffer // of all processes
	begun int          // where the latest one's begins
}

// Write implements io.Writer for the processes.
func (n *node) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.log.Write(p)
}

func (n *node) text() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.log.String()
}

// latest is what was logged since the latest process began.
func (n *node) latest() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return string(n.log.Bytes()[n.begun:])
}

func (n *node) begin() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.begun = n.log.Len()
}

// StartContainer implements kubelet.Runtime.
func (n *node) StartContainer(ctx context.Context, pod *corev1.Pod, container *corev1.Container, ip string) (kubelet.Process, error) {
	account, err := n.plane.AddUser("system:serviceaccount:"+pod.Namespace+":"+pod.Spec.ServiceAccountName,
		"system:serviceaccounts", "system:serviceaccounts:"+pod.Namespace, "system:authenticated")
	if err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(n.dir, pod.Name+".kubeconfig")
	if err := controlplane.WriteKubeconfig(account, kubeconfig); err != nil {
		return nil, err
	}
	env, err := environment(pod, container)
	if err != nil {
		return nil, err
	}
	env = append(env, "KUBECONFIG="+kubeconfig)
	args := append([]string{}, container.Args...)
	for _, mount := range container.VolumeMounts {
		dir, err := n.mount(ctx, pod, mount.Name)
		if err != nil {
			return nil, err
		}
		for i := range args {
			args[i] = strings.Replace(args[i], "="+mount.MountPath, "="+dir, 1)
		}
	}
	cmd := exec.Command(n.program, args...) //nolint:noctx // it lives until it is ended
	cmd.Env = env
	cmd.Stdout, cmd.Stderr = n, n
	n.begin()
	process, err := child.Start(cmd)
	if err != nil {
		return nil, err
	}
	return newProcess(process, probeURL(container, ip)), nil
}

// environment is the container's, and nothing else.
func environment(pod *corev1.Pod, container *corev1.Container) ([]string, error) {
	env := []string{"HOSTNAME=" + pod.Name}
	for _, e := range container.Env {
		switch from := e.ValueFrom; {
		case from == nil:
			env = append(env, e.Name+"="+e.Value)
		case from.FieldRef != nil && from.FieldRef.FieldPath == "metadata.namespace":
			env = append(env, e.Name+"="+pod.Namespace)
		default:
			return nil, fmt.Errorf("this node does not know where %s comes from", e.Name)
		}
	}
	return env, nil
}

// mountEvery is how soon a change of a Secret is in its volume.
const mountEvery = 500 * time.Millisecond

// mount returns the folder of a volume, with the files of a Secret in it, which
// follow the Secret. That of a claim outlives the pod.
func (n *node) mount(ctx context.Context, pod *corev1.Pod, name string) (string, error) {
	dir := filepath.Join(n.dir, string(pod.UID), name)
	i := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == name })
	if i < 0 {
		return "", fmt.Errorf("the pod has no volume %s", name)
	}
	volume := pod.Spec.Volumes[i]
	if volume.PersistentVolumeClaim != nil {
		dir = filepath.Join(n.dir, "claims", volume.PersistentVolumeClaim.ClaimName)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if volume.Secret == nil {
		return dir, nil
	}
	write := func(ctx context.Context) error { return n.write(ctx, dir, pod.Namespace, volume.Secret) }
	if err := write(ctx); err != nil {
		return "", err
	}
	n.volumes.Go(func() {
		wait.UntilWithContext(ctx, func(ctx context.Context) { _ = write(ctx) }, mountEvery) // the next round tries again
	})
	return dir, nil
}

// write puts the files of a Secret into a folder. Where the pod may start without it,
// none are there.
func (n *node) write(ctx context.Context, dir, namespace string, source *corev1.SecretVolumeSource) error {
	n.mounting.Lock()
	defer n.mounting.Unlock()
	secret, err := n.client.CoreV1().Secrets(namespace).Get(ctx, source.SecretName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && source.Optional != nil && *source.Optional {
		return kubelet.WriteVolume(dir, nil)
	}
	if err != nil {
		return err
	}
	return kubelet.WriteVolume(dir, secret.Data)
}

// probeURL is what the readiness probe asks.
func probeURL(container *corev1.Container, ip string) string {
	probe := container.ReadinessProbe.HTTPGet
	for _, p := range container.Ports {
		if p.Name == probe.Port.StrVal {
			return "http://" + net.JoinHostPort(ip, strconv.Itoa(int(p.ContainerPort))) + probe.Path
		}
	}
	return ""
}

// process is the program as the kubelet sees it.
type process struct {
	child *child.Process
	done  chan kubelet.ExitState
	ready atomic.Bool
}

// probeEvery is hasty, because a test waits for it.
const probeEvery = 50 * time.Millisecond

func newProcess(c *child.Process, probe string) *process {
	p := &process{child: c, done: make(chan kubelet.ExitState, 1)}
	go func() {
		client := &http.Client{Timeout: time.Second}
		ticker := time.NewTicker(probeEvery)
		defer ticker.Stop()
		for {
			select {
			case <-c.Done():
				p.ready.Store(false)
				p.done <- kubelet.ExitState{Code: int32(c.ExitCode())}
				return
			case <-ticker.C:
				p.ready.Store(answers(client, probe))
			}
		}
	}()
	return p
}

func answers(client *http.Client, url string) bool {
	resp, err := client.Get(url) //nolint:noctx // the client has a timeout
	if err != nil {
		return false
	}
	return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
}

func (p *process) Terminate()                     { p.child.Signal(syscall.SIGTERM) }
func (p *process) Kill()                          { p.child.Signal(syscall.SIGKILL) }
func (p *process) Done() <-chan kubelet.ExitState { return p.done }

// Ready implements kubelet.Prober.
func (p *process) Ready() bool { return p.ready.Load() }

// schedule binds pods to the node until the context ends. There is no scheduler.
func schedule(ctx context.Context, client kubernetes.Interface, name string) {
	ticker := time.NewTicker(probeEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		pods, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName="})
		if err != nil {
			continue // the next round tries again
		}
		for i := range pods.Items {
			p := &pods.Items[i]
			_ = client.CoreV1().Pods(p.Namespace).Bind(ctx, &corev1.Binding{
				ObjectMeta: metav1.ObjectMeta{Name: p.Name, UID: p.UID}, Target: corev1.ObjectReference{Kind: "Node", Name: name},
			}, metav1.CreateOptions{}) // as above
		}
	}
}
