package stage

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kureka/kureka/test/rig/instance"
	"github.com/kureka/kureka/test/rig/kubelet"
)

// Pod is a pod with one instance.
type Pod struct {
	stage *Stage
	Name  string
	UID   types.UID
	// ID is the id its instance registers with.
	ID string
}

// PodSpec says what pod is wanted.
type PodSpec struct {
	Name string
	// Node is the index of its node.
	Node int
	// Instance is what runs in it; address and host name are filled in.
	Instance instance.Config
	// Port is where it listens, 8080 unless set.
	Port        uint16
	HostNetwork bool
	// Address asks for a certain pod address.
	Address string
	// Edit, if set, changes what is created.
	Edit func(*corev1.Pod)
}

// Create creates a pod.
func (s *Stage) Create(ctx context.Context, spec PodSpec) (*Pod, error) {
	if spec.Port == 0 {
		spec.Port = InstancePort
	}
	if spec.Instance.Registry == "" {
		spec.Instance.Registry = s.Operator.URL()
	}
	container, err := instance.Container(spec.Instance, spec.Port)
	if err != nil {
		return nil, err
	}
	wanted := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: spec.Name, Labels: map[string]string{"app": spec.Instance.App}},
		Spec: corev1.PodSpec{
			NodeName:    s.Nodes[spec.Node].Name,
			HostNetwork: spec.HostNetwork,
			Containers:  []corev1.Container{container},
		},
	}
	if spec.Address != "" {
		wanted.Annotations = map[string]string{kubelet.AddressAnnotation: spec.Address}
	}
	if spec.Edit != nil {
		spec.Edit(wanted)
	}
	host := spec.Name
	if spec.HostNetwork {
		host = s.Nodes[spec.Node].Name
		wanted.Spec.Containers[0].Ports[0].HostPort = int32(spec.Port)
	}
	created, err := s.Rig.Client.CoreV1().Pods(s.Namespace).Create(ctx, wanted, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("creating pod %s: %w", spec.Name, err)
	}
	return &Pod{
		stage: s, Name: spec.Name, UID: created.UID,
		ID: fmt.Sprintf("%s:%s:%d", host, spec.Instance.App, spec.Port),
	}, nil
}

// Find returns the pod of a name that somebody else created, with an instance that
// listens where every instance does; nil if there is none.
func (s *Stage) Find(ctx context.Context, name, app string) (*Pod, error) {
	found, err := s.Rig.Client.CoreV1().Pods(s.Namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("finding pod %s: %w", name, err)
	}
	return &Pod{stage: s, Name: name, UID: found.UID, ID: fmt.Sprintf("%s:%s:%d", name, app, InstancePort)}, nil
}

// CreateMany creates pods named app-1, app-2 and so on, spread over all nodes.
func (s *Stage) CreateMany(ctx context.Context, first, n int, config instance.Config) ([]*Pod, error) {
	var pods []*Pod
	for i := first; i < first+n; i++ {
		p, err := s.Create(ctx, PodSpec{Name: fmt.Sprintf("%s-%d", config.App, i), Node: i % len(s.Nodes), Instance: config})
		if err != nil {
			return nil, err
		}
		pods = append(pods, p)
	}
	return pods, nil
}

// Get reads the pod as it is; it is nil when there is none with this UID.
func (p *Pod) Get(ctx context.Context) (*corev1.Pod, error) {
	pod, err := p.stage.Rig.Client.CoreV1().Pods(p.stage.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && pod.UID != p.UID {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading pod %s: %w", p.Name, err)
	}
	return pod, nil
}

// AwaitReady waits until the API says that the pod is ready.
func (p *Pod) AwaitReady(ctx context.Context) error {
	return Until(ctx, "pod "+p.Name+" to be ready", func(ctx context.Context) (bool, error) {
		pod, err := p.Get(ctx)
		if pod == nil {
			return false, err
		}
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodReady {
				return c.Status == corev1.ConditionTrue, nil
			}
		}
		return false, nil
	})
}

// AwaitGone waits until the API does not have the pod any more.
func (p *Pod) AwaitGone(ctx context.Context) error {
	return Until(ctx, "pod "+p.Name+" to be gone", func(ctx context.Context) (bool, error) {
		pod, err := p.Get(ctx)
		return pod == nil && err == nil, err
	})
}

// Delete deletes the pod with its grace period and returns when the API server
// acknowledged it.
func (p *Pod) Delete(ctx context.Context) (acknowledged time.Time, err error) {
	return p.delete(ctx, metav1.DeleteOptions{})
}

// ForceDelete removes the pod's object at once and returns when the API server
// acknowledged it. The process is left alone.
func (p *Pod) ForceDelete(ctx context.Context) (acknowledged time.Time, err error) {
	return p.delete(ctx, metav1.DeleteOptions{GracePeriodSeconds: new(int64)})
}

func (p *Pod) delete(ctx context.Context, options metav1.DeleteOptions) (time.Time, error) {
	options.Preconditions = &metav1.Preconditions{UID: &p.UID}
	err := p.stage.Rig.Client.CoreV1().Pods(p.stage.Namespace).Delete(ctx, p.Name, options)
	if err != nil {
		return time.Time{}, fmt.Errorf("deleting pod %s: %w", p.Name, err)
	}
	return time.Now(), nil
}

// HeardAt returns when we learned that the registry first took note of the pod
// being UP, the zero time if it did not.
func (p *Pod) HeardAt() time.Time {
	p.stage.mu.Lock()
	defer p.stage.mu.Unlock()
	return p.stage.heard[p.UID]
}

// Process is the pod's latest process, nil before the first.
func (p *Pod) Process() *instance.Process { return p.stage.runtime.Process(p.UID) }

// Kill ends the process at once, as kill -9 does, without waiting.
func (p *Pod) Kill() { p.Process().Signal(syscall.SIGKILL) }

// Die is the abrupt end of pods: their processes are killed and their objects
// removed by force, all at the same moment. It returns when each deletion was
// acknowledged.
func Die(ctx context.Context, pods []*Pod) ([]time.Time, error) {
	acknowledged := make([]time.Time, len(pods))
	errs := make([]error, len(pods))
	var all sync.WaitGroup
	for i, p := range pods {
		p.Kill()
		all.Go(func() { acknowledged[i], errs[i] = p.ForceDelete(ctx) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return acknowledged, nil
}

// IDs are the instance ids of pods.
func IDs(pods []*Pod) []string {
	out := make([]string, len(pods))
	for i, p := range pods {
		out[i] = p.ID
	}
	return out
}
