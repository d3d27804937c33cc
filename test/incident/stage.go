package incident

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kureka/kureka/test/rig/gateway"
	"github.com/kureka/kureka/test/rig/instance"
	"github.com/kureka/kureka/test/rig/kubelet"
)

const (
	// maxNodes is the number of nodes a stage can have, maxStages how many stages
	// there are addresses for.
	maxNodes  = 4
	maxStages = 56
	// instancePort is what every instance listens on that has an address of its own.
	instancePort = 8080
)

// Setting is what a scene is given to play with.
type Setting struct {
	Rig      *Rig
	Operator *Operator
	Timeline *Timeline
}

// Stage is a namespace with nodes of its own. Its methods may be called from
// several goroutines.
type Stage struct {
	Setting
	namespace string
	index     int
	runtime   instance.Runtime
	nodes     []*node

	mu      sync.Mutex
	closers []func()
	heard   map[types.UID]time.Time // when we learned that the registry had taken an UP
}

type node struct {
	*kubelet.Kubelet
	name string
	ip   string
}

// NewStage makes a namespace and starts that many nodes. The caller closes it,
// also after an error in the scene.
func NewStage(ctx context.Context, set Setting, name string, nodes int) (*Stage, error) {
	s := &Stage{Setting: set, index: int(set.Rig.stages.Add(1)), heard: map[types.UID]time.Time{}}
	if nodes > maxNodes || s.index > maxStages {
		return nil, errors.New("making a stage: out of addresses")
	}
	s.namespace = fmt.Sprintf("%s-%d", name, s.index)
	s.runtime.Observe = s.observe
	if err := set.Rig.createNamespace(ctx, s.namespace); err != nil {
		return nil, err
	}
	for i := range nodes {
		if err := s.startNode(ctx, i); err != nil {
			s.Close(ctx)
			return nil, err
		}
	}
	return s, nil
}

func (s *Stage) startNode(ctx context.Context, i int) error {
	place := maxNodes*(s.index-1) + i
	n := &node{name: fmt.Sprintf("%s-node-%d", s.namespace, i+1), ip: s.Rig.address(1, place+1)}
	k, err := kubelet.New(s.Rig.plane.Config(), kubelet.Options{
		Name:    n.name,
		Zone:    fmt.Sprintf("zone-%c", 'a'+i),
		NodeIP:  n.ip,
		PodCIDR: s.Rig.address(20+place, 0) + "/24",
		Runtime: &s.runtime,
	})
	if err != nil {
		return err
	}
	if err := k.Start(ctx); err != nil {
		return err
	}
	n.Kubelet = k
	s.nodes = append(s.nodes, n)
	return nil
}

// observe is told of everything the instances do.
func (s *Stage) observe(pod *corev1.Pod, e instance.Event) {
	if !e.Accepted() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.heard[pod.UID]; !known {
		s.heard[pod.UID] = time.Now()
	}
}

// heardAt returns when we learned that the registry first took note of a pod
// being UP, the zero time if it did not.
func (s *Stage) heardAt(p *Pod) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heard[p.UID]
}

// onClose has something ended before the nodes are.
func (s *Stage) onClose(closer func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closers = append(s.closers, closer)
}

// Close ends all traffic and processes and removes the pods and nodes. What is
// left of them in the API after an error is of no consequence: the next scene
// has other names.
func (s *Stage) Close(ctx context.Context) {
	s.mu.Lock()
	closers := s.closers
	s.closers = nil
	s.mu.Unlock()
	for _, closer := range slices.Backward(closers) {
		closer()
	}
	for _, n := range s.nodes {
		n.Stop()
	}
	s.runtime.Close()
	if s.namespace == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	core := s.Rig.client.CoreV1()
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
	_ = core.Pods(s.namespace).DeleteCollection(ctx, now, metav1.ListOptions{})
	for _, n := range s.nodes {
		_ = core.Nodes().Delete(ctx, n.name, metav1.DeleteOptions{})
	}
}

// gatewaySource and proberSource are addresses outside all nodes and pods.
func (s *Stage) gatewaySource() netip.Addr { return netip.MustParseAddr(s.Rig.address(2, s.index)) }
func (s *Stage) proberSource() netip.Addr  { return netip.MustParseAddr(s.Rig.address(3, s.index)) }

// StartGateway starts a gateway that fetches every 5 s and calls an application
// until the stage closes.
func (s *Stage) StartGateway(ctx context.Context, app string) *gateway.Gateway {
	return s.startGateway(ctx, app, 5*time.Second)
}

func (s *Stage) startGateway(ctx context.Context, app string, fetch time.Duration) *gateway.Gateway {
	before := 0
	g := gateway.Start(ctx, gateway.Options{
		Registry:      s.Operator.URL(),
		App:           app,
		Source:        s.gatewaySource(),
		FetchInterval: fetch,
		Observe: func(at time.Time, up []gateway.Instance) {
			s.Timeline.At(at, "gateway", "calls %d instances of %s (before: %d)", len(up), app, before)
			before = len(up)
		},
	})
	s.onClose(g.Stop)
	return g
}

// KeepOrphans lets the processes of force-deleted pods live on, on all nodes.
func (s *Stage) KeepOrphans(keep bool) {
	for _, n := range s.nodes {
		n.KeepOrphans(keep)
	}
}

// every does something again and again until stop is called or the stage closes.
func (s *Stage) every(ctx context.Context, interval time.Duration, do func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for ctx.Err() == nil {
			do(ctx)
			select {
			case <-ctx.Done():
			case <-ticker.C:
			}
		}
	})
	stop = func() {
		cancel()
		running.Wait()
	}
	s.onClose(stop)
	return stop
}
