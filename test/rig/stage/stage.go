package stage

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
	maxNodes  = 6
	maxStages = 37
	// InstancePort is what every instance listens on that has an address of its own.
	InstancePort = 8080
)

// Setting is what a scene is given to play with.
type Setting struct {
	Rig      *Rig
	Operator *Operator
	Timeline *Timeline
	// Runtime runs what is in the pods; nil means instances of this program.
	Runtime kubelet.Runtime
}

// Plan says what stage is wanted.
type Plan struct {
	// Name begins the names of the namespace and the nodes.
	Name  string
	Nodes int
	// Zones are those of the nodes, in turn; a zone for each node unless set.
	Zones []string
	// Kubelet says how the kubelets keep time; what tells the nodes apart is filled
	// in.
	Kubelet kubelet.Options
	// ReadEvery passes between two reads of a View, 5 ms unless set.
	ReadEvery time.Duration
}

// Stage is a namespace with nodes of its own. Its methods may be called from
// several goroutines.
type Stage struct {
	Setting
	// Namespace is empty for a stage outside the cluster.
	Namespace string
	Nodes     []*Node

	plan    Plan
	index   int
	runtime instance.Runtime

	mu      sync.Mutex
	closers []func()
	heard   map[types.UID]time.Time // when we learned that the registry had taken an UP
}

// Node is a node with its kubelet.
type Node struct {
	*kubelet.Kubelet
	Name string
	IP   string
}

// New makes a namespace and starts the nodes. The caller closes it, also after an
// error in the scene.
func New(ctx context.Context, set Setting, plan Plan) (*Stage, error) {
	s := Outside(set)
	s.plan = plan
	if plan.Nodes > maxNodes || s.index > maxStages {
		return nil, errors.New("making a stage: out of addresses")
	}
	s.Namespace = fmt.Sprintf("%s-%d", plan.Name, s.index)
	s.runtime.Observe = s.observe
	if err := set.Rig.createNamespace(ctx, s.Namespace); err != nil {
		return nil, err
	}
	for i := range plan.Nodes {
		if err := s.startNode(ctx, i); err != nil {
			s.Close(ctx)
			return nil, err
		}
	}
	return s, nil
}

func (s *Stage) startNode(ctx context.Context, i int) error {
	place := maxNodes*(s.index-1) + i
	runtime := s.Runtime
	if runtime == nil {
		runtime = &s.runtime
	}
	n := &Node{Name: fmt.Sprintf("%s-node-%d", s.Namespace, i+1), IP: s.Rig.address(1, place+1)}
	options := s.plan.Kubelet
	options.Name, options.NodeIP, options.Runtime = n.Name, n.IP, runtime
	options.PodCIDR = s.Rig.address(20+place, 0) + "/24"
	options.Zone = fmt.Sprintf("%s-zone-%c", s.Namespace, 'a'+i)
	if zones := s.plan.Zones; len(zones) > 0 {
		options.Zone = s.Namespace + "-" + zones[i%len(zones)]
	}
	k, err := kubelet.New(s.Rig.Plane.Config(), options)
	if err != nil {
		return err
	}
	if err := k.Start(ctx); err != nil {
		return err
	}
	n.Kubelet = k
	s.Nodes = append(s.Nodes, n)
	return nil
}

// Outside makes a stage without nodes or a namespace, for instances outside pods.
func Outside(set Setting) *Stage {
	return &Stage{Setting: set, index: int(set.Rig.places.stages.Add(1)), heard: map[types.UID]time.Time{}}
}

// StartLoose starts an instance outside pods.
func (s *Stage) StartLoose(i int, config instance.Config) (*instance.Process, error) {
	address, err := netip.ParseAddr(s.Rig.address(4, i+1))
	if err != nil {
		return nil, fmt.Errorf("choosing an address: %w", err)
	}
	config.Address = netip.AddrPortFrom(address, InstancePort)
	config.Registry = s.Operator.URL()
	p, err := instance.Start(config, nil)
	if err != nil {
		return nil, err
	}
	s.OnClose(p.Kill)
	return p, nil
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

// OnClose has something ended before the nodes are.
func (s *Stage) OnClose(closer func()) {
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
	for _, n := range s.Nodes {
		n.Stop()
	}
	s.runtime.Close()
	if s.Namespace == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	core := s.Rig.Client.CoreV1()
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
	_ = core.Pods(s.Namespace).DeleteCollection(ctx, now, metav1.ListOptions{})
	for _, n := range s.Nodes {
		_ = core.Nodes().Delete(ctx, n.Name, metav1.DeleteOptions{})
	}
}

// gatewaySource and proberSource are addresses outside all nodes and pods.
func (s *Stage) gatewaySource() netip.Addr { return netip.MustParseAddr(s.Rig.address(2, s.index)) }
func (s *Stage) proberSource() netip.Addr  { return netip.MustParseAddr(s.Rig.address(3, s.index)) }

// StartGateway starts a gateway that fetches at an interval and calls an
// application until the stage closes.
func (s *Stage) StartGateway(ctx context.Context, app string, fetch time.Duration) *gateway.Gateway {
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
	s.OnClose(g.Stop)
	return g
}

// KeepOrphans lets the processes of force-deleted pods live on, on all nodes.
func (s *Stage) KeepOrphans(keep bool) {
	for _, n := range s.Nodes {
		n.KeepOrphans(keep)
	}
}

// Every does something again and again until stop is called or the stage closes.
func (s *Stage) Every(ctx context.Context, interval time.Duration, do func(context.Context)) (stop func()) {
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
	s.OnClose(stop)
	return stop
}
