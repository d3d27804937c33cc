package kubelet

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// requestTimeout bounds every request, so that a frozen API server never blocks a
// kubelet for good.
const requestTimeout = 5 * time.Second

// Kubelet runs the pods of one node. Its methods may be called from several
// goroutines.
type Kubelet struct {
	options   Options
	client    kubernetes.Interface
	log       logr.Logger
	addresses *addresses
	node      *node
	rewatch   chan struct{} // the workers are to be brought in line now

	cancel  context.CancelFunc
	running sync.WaitGroup

	mu          sync.Mutex
	silent      bool
	keepOrphans bool
	vanished    []func() error // bring the addresses back
	booted      bool           // the workers do not know yet that the node has booted
	bound       []*corev1.Pod  // what the watch shows, also while silent
	workers     map[types.UID]*worker
}

// New prepares a kubelet that talks to the API server as config says.
func New(config *rest.Config, options Options) (*Kubelet, error) {
	options = options.withDefaults()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the client of kubelet %s: %w", options.Name, err)
	}
	addresses, err := newAddresses(options.PodCIDR)
	if err != nil {
		return nil, fmt.Errorf("preparing kubelet %s: %w", options.Name, err)
	}
	if options.Logger.GetSink() == nil {
		options.Logger = logr.Discard()
	}
	return &Kubelet{
		options:   options,
		client:    client,
		log:       options.Logger.WithValues("node", options.Name),
		addresses: addresses,
		node:      newNode(client, options),
		rewatch:   make(chan struct{}, 1),
		workers:   map[types.UID]*worker{},
	}, nil
}

// Start registers the Node with its Lease and goes on in the background until
// Stop. ctx bounds the registration only.
func (k *Kubelet) Start(ctx context.Context) error {
	if err := k.node.register(ctx); err != nil {
		return fmt.Errorf("starting kubelet %s: %w", k.options.Name, err)
	}
	ctx, k.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if err := k.openPort(ctx); err != nil {
		k.Stop()
		return fmt.Errorf("starting kubelet %s: %w", k.options.Name, err)
	}
	k.running.Go(func() { k.every(ctx, k.options.RenewInterval, k.node.renew, k.node.renewLease) })
	k.running.Go(func() { k.every(ctx, k.options.Timings.NodeStatus, k.node.changed, k.node.postStatus) })
	k.running.Go(func() { k.watch(ctx) })
	k.running.Go(func() { k.catchUp(ctx) })
	return nil
}

// Stop kills all processes and returns when everything has ended. The objects
// stay in the API as they are: this is a node that is switched off.
func (k *Kubelet) Stop() {
	if k.cancel == nil {
		return
	}
	k.cancel()
	k.running.Wait()
	k.appear()
}

// every runs do now, at each interval and whenever woken, except while silent.
func (k *Kubelet) every(ctx context.Context, interval time.Duration, wake <-chan struct{}, do func(context.Context) error) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		if !k.isSilent() {
			k.attempt(ctx, do)
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-ticker.C:
		}
	}
}

// attempt makes one bounded request and logs what became of it; the next tick is
// the retry.
func (k *Kubelet) attempt(ctx context.Context, do func(context.Context) error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if err := do(ctx); err != nil {
		k.log.V(1).Info("request failed", "error", err.Error())
	}
}

// watch follows the pods bound to this node. After an outage it is back within
// half a second, where client-go would take up to 30 s.
func (k *Kubelet) watch(ctx context.Context) {
	pods := cache.NewListWatchFromClient(k.client.CoreV1().RESTClient(), "pods", corev1.NamespaceAll,
		fields.OneTermEqualSelector("spec.nodeName", k.options.Name))
	store := cache.NewUndeltaStore(func(objects []any) { k.observe(ctx, objects) }, cache.MetaNamespaceKeyFunc)
	log := k.log.V(1)
	cache.NewReflectorWithOptions(pods, &corev1.Pod{}, store, cache.ReflectorOptions{
		Logger:  &log,
		Name:    k.options.Name,
		Backoff: &wait.Backoff{Duration: 50 * time.Millisecond, Factor: 2, Steps: 4, Cap: 400 * time.Millisecond},
	}).RunWithContext(ctx)
}

// observe is called with everything the watch shows, at each change.
func (k *Kubelet) observe(ctx context.Context, objects []any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.bound = k.bound[:0]
	for _, object := range objects {
		if pod, ok := object.(*corev1.Pod); ok {
			k.bound = append(k.bound, pod)
		}
	}
	k.reconcile(ctx)
}

// catchUp acts on what the watch has shown in a time of silence.
func (k *Kubelet) catchUp(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.rewatch:
		}
		k.mu.Lock()
		k.reconcile(ctx)
		k.mu.Unlock()
	}
}

// reconcile brings the workers in line with the watch; k.mu is held.
func (k *Kubelet) reconcile(ctx context.Context) {
	if k.silent || ctx.Err() != nil {
		return
	}
	present := make(map[types.UID]bool, len(k.bound))
	for _, pod := range k.bound {
		present[pod.UID] = true
		w := k.workers[pod.UID]
		if w == nil && isTerminal(pod.Status.Phase) {
			continue
		}
		if w == nil {
			w = newWorker(k, pod)
			k.workers[pod.UID] = w
			k.running.Go(func() { w.run(ctx) })
		}
		if w.seen != pod.ResourceVersion {
			w.seen = pod.ResourceVersion
			w.post(func(now time.Time) { w.update(now, pod) })
		}
	}
	for uid, w := range k.workers {
		if !present[uid] {
			w.post(func(time.Time) { w.gone = true })
		}
		// Only after the news, so that a boot does not restart what was deleted.
		if k.booted {
			w.post(w.reboot)
		}
	}
	k.booted = false
}

// forget drops a worker that has nothing left to do.
func (k *Kubelet) forget(uid types.UID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.workers, uid)
}

func (k *Kubelet) isSilent() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.silent
}

func (k *Kubelet) keepsOrphans() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keepOrphans
}

func isTerminal(phase corev1.PodPhase) bool {
	return phase == corev1.PodSucceeded || phase == corev1.PodFailed
}
