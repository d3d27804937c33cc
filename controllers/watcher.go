package controllers

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/kureka/kureka/controllers/feed"
	"github.com/kureka/kureka/internal/cluster"
)

// +kubebuilder:rbac:groups="",resources=pods;nodes,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=services,verbs=list;watch
// +kubebuilder:rbac:groups=discovery.k8s.io,resources=endpointslices,verbs=list;watch
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=kube-node-lease,resources=leases,verbs=list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=kureka-system,resources=leases,verbs=create
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=kureka-system,resources=leases,resourceNames=kureka,verbs=get;list;watch;update

// Options configure a Watcher.
type Options struct {
	Client  kubernetes.Interface
	Cluster *cluster.Cluster
	// Namespaces limit the pods, EndpointSlices and Services that are watched; all if
	// empty.
	Namespaces []string
	Canary     CanaryOptions
	Clock      func() time.Time
	Logger     logr.Logger
	// OnWatchState is told when a watch starts or stops working. It must not block.
	OnWatchState func(WatchState)
	// OnDeaf is told when watches turned out to be open and deliver nothing, so that
	// whoever else watches can begin anew, as all watches here do. It must not block.
	OnDeaf func()
}

// Watcher feeds a Cluster from the API server.
type Watcher struct {
	opts    Options
	states  *watchStates
	feed    *feed.Feed
	hearing *hearing
	deaf    chan struct{} // the watches are to begin anew
}

// NewWatcher returns a watcher that does nothing before Run.
func NewWatcher(opts Options) *Watcher {
	w := &Watcher{
		opts: opts, states: &watchStates{log: opts.Logger, m: map[string]WatchState{}}, hearing: newHearing(), deaf: make(chan struct{}, 1),
	}
	w.states.onChange = w.stateChanged
	w.feed = feed.New(opts.Cluster, opts.Clock)
	return w
}

// States returns the state of every watch.
func (w *Watcher) States() []WatchState { return w.states.all() }

// Run watches until the context ends. It never returns early: an API server that
// is away or refuses makes evidence missing, and that is all. The canary is not
// renewed before mayRenew is closed.
func (w *Watcher) Run(ctx context.Context, mayRenew <-chan struct{}) {
	namespaces := w.opts.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	watches := make([]func(context.Context), 0, 3*len(namespaces)+3)
	for _, ns := range namespaces {
		watches = append(watches, watching(w, w.pods(ns)), watching(w, w.slices(ns)), watching(w, w.services(ns)))
	}
	watches = append(watches, watching(w, w.nodes()), watching(w, w.leases()), watching(w, w.canary()))
	var wg sync.WaitGroup
	wg.Go(func() { w.watchInRounds(ctx, watches) })
	wg.Go(func() {
		select {
		case <-mayRenew:
		case <-ctx.Done():
			return
		}
		keepCanary(ctx, w.opts.Client, w.opts.Canary, w.opts.Clock, w.opts.Logger, w.canaryRenewed)
	})
	wg.Go(func() { confirm(ctx, w.feed, liveReader{w.opts.Client}, w.opts.Logger) })
	wg.Wait()
}

// watching announces a watch and returns what runs it. All are announced before
// any runs, so that nothing counts as complete because another has not begun.
func watching[T any](w *Watcher, s source[T]) func(context.Context) {
	w.states.expect(s.resource)
	return func(ctx context.Context) { runWatch(ctx, s, w.states, w.opts.Logger) }
}

// watchInRounds runs all watches, and all of them anew whenever they were deaf.
func (w *Watcher) watchInRounds(ctx context.Context, watches []func(context.Context)) {
	for ctx.Err() == nil {
		round, end := context.WithCancel(ctx)
		var wg sync.WaitGroup
		for _, run := range watches {
			wg.Go(func() { run(round) })
		}
		select {
		case <-ctx.Done():
		case <-w.deaf:
		}
		end()
		wg.Wait()
	}
}

// canaryRenewed has the watches begin anew when the canary's does not bring the
// renewals back although it is open.
func (w *Watcher) canaryRenewed() {
	if !w.hearing.renewed(w.opts.Clock(), mayBeQuiet(w.states.all(), w.canaryResource())) {
		return
	}
	w.opts.Logger.Info("The watches are open and do not bring back the own Lease, so everything is listed anew. " +
		"Was etcd restored from a backup? Then the API server sends nothing newer than what was seen before")
	select {
	case w.deaf <- struct{}{}:
	default:
	}
	if w.opts.OnDeaf != nil {
		w.opts.OnDeaf()
	}
}

// mayBeQuiet reports whether nothing needs to be heard: the canary's own watch does
// not work and says so, or a list is still coming and is not to be cut off. Another
// watch that is refused, maybe for good, is no reason.
func mayBeQuiet(states []WatchState, canary string) bool {
	for _, s := range states {
		if s.Problem == "" && !s.Synced || s.Problem != "" && s.Resource == canary {
			return true
		}
	}
	return false
}

func (w *Watcher) stateChanged(s WatchState) {
	if isPods(s.Resource) {
		readable := true
		for _, other := range w.states.all() {
			readable = readable && (!isPods(other.Resource) || other.Synced)
		}
		w.opts.Cluster.SetPodsReadable(w.opts.Clock(), readable)
	}
	if s.Resource == nodesResource {
		w.opts.Cluster.SetNodesReadable(s.Synced)
	}
	if w.opts.OnWatchState != nil {
		w.opts.OnWatchState(s)
	}
}

const podsResource, nodesResource = "pods", "nodes"

func isPods(resource string) bool {
	return resource == podsResource || strings.HasPrefix(resource, podsResource+"/")
}

func named(resource, namespace string) string {
	if namespace == "" {
		return resource
	}
	return resource + "/" + namespace
}

func (w *Watcher) pods(ns string) source[corev1.Pod] {
	api := w.opts.Client.CoreV1().Pods(ns)
	return source[corev1.Pod]{
		resource: named(podsResource, ns),
		without:  "dead and ending pods are not noticed, leases alone decide",
		list:     func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return api.List(ctx, o) },
		watch:    func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return api.Watch(ctx, o) },
		sink: sink[corev1.Pod]{
			seen: w.feed.PodSeen, gone: w.feed.PodGone, listing: w.feed.PodListed,
			listed: func(pods []*corev1.Pod) { w.feed.PodListComplete(ns, pods) },
		},
	}
}

func (w *Watcher) nodes() source[corev1.Node] {
	api := w.opts.Client.CoreV1().Nodes()
	return source[corev1.Node]{
		resource: nodesResource,
		without:  "notices of nodes that are about to end are not seen",
		list:     func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return api.List(ctx, o) },
		watch:    func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return api.Watch(ctx, o) },
		sink:     sink[corev1.Node]{seen: w.feed.NodeSeen, gone: w.feed.NodeGone, listed: w.feed.NodesListed},
	}
}

func (w *Watcher) leases() source[coordinationv1.Lease] {
	api := w.opts.Client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	return source[coordinationv1.Lease]{
		resource: "leases in " + corev1.NamespaceNodeLease,
		without:  "the view never counts as fresh",
		list:     func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return api.List(ctx, o) },
		watch:    func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return api.Watch(ctx, o) },
		sink: sink[coordinationv1.Lease]{
			seen: w.feed.LeaseSeen,
			gone: func(*coordinationv1.Lease) {},
			// A list shows renewals of unknown age: the next one on the watch counts.
			listed: func([]*coordinationv1.Lease) {},
		},
	}
}

func (w *Watcher) slices(ns string) source[discoveryv1.EndpointSlice] {
	api := w.opts.Client.DiscoveryV1().EndpointSlices(ns)
	return source[discoveryv1.EndpointSlice]{
		resource: named("endpointslices", ns),
		without:  "pods that cannot be read are not known to be terminating, and pods of a Service are not registered",
		list:     func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return api.List(ctx, o) },
		watch:    func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return api.Watch(ctx, o) },
		sink: sink[discoveryv1.EndpointSlice]{
			seen: w.feed.SliceSeen, gone: w.feed.SliceGone,
			listed: func(list []*discoveryv1.EndpointSlice) { w.feed.SlicesListed(ns, list) },
		},
	}
}

func (w *Watcher) services(ns string) source[corev1.Service] {
	api := w.opts.Client.CoreV1().Services(ns)
	return source[corev1.Service]{
		resource: named("services", ns),
		without:  "pods that leave their Service stay in service, and publishNotReadyAddresses is not known",
		list:     func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return api.List(ctx, o) },
		watch:    func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return api.Watch(ctx, o) },
		sink: sink[corev1.Service]{
			seen: w.feed.ServiceSeen, gone: w.feed.ServiceGone,
			listed: func(list []*corev1.Service) { w.feed.ServicesListed(ns, list) },
		},
	}
}
