package controllers

import (
	"context"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kureka/kureka/internal/cluster"
)

const (
	// confirmByGet is how many pods are read one by one; more are found out by one
	// list per namespace.
	confirmByGet   = 5
	confirmTimeout = 10 * time.Second // for one call
	confirmPage    = 500
	confirmBackoff = time.Second
)

// confirmer asks the API server live about what a watch did not see itself: a
// pod missing from a list may be a list from the past. Only a 404, a newer UID or
// the absence from a complete and consistent list confirms. Any error keeps the
// instance and is tried again.
type confirmer struct {
	client  kubernetes.Interface
	cluster *cluster.Cluster
	clock   func() time.Time
	log     logr.Logger
	wake    chan struct{}

	mu    sync.Mutex
	pods  map[string]cluster.KnownPod // by UID, so bounded by the pods that are known
	nodes map[string]struct{}
}

func newConfirmer(client kubernetes.Interface, c *cluster.Cluster, clock func() time.Time, log logr.Logger) *confirmer {
	return &confirmer{
		client: client, cluster: c, clock: clock, log: log, wake: make(chan struct{}, 1),
		pods: map[string]cluster.KnownPod{}, nodes: map[string]struct{}{},
	}
}

// pod asks for a live read of a pod. It does not block.
func (c *confirmer) pod(p cluster.KnownPod) {
	c.mu.Lock()
	c.pods[p.UID] = p
	c.mu.Unlock()
	c.signal()
}

// node asks for a live read of a node. It does not block.
func (c *confirmer) node(name string) {
	c.mu.Lock()
	c.nodes[name] = struct{}{}
	c.mu.Unlock()
	c.signal()
}

func (c *confirmer) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *confirmer) run(ctx context.Context) {
	backoff := confirmBackoff
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		}
		if c.round(ctx) {
			backoff = confirmBackoff
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(backoff):
		}
		backoff = min(2*backoff, maxBackoff)
		c.signal()
	}
}

// round asks about everything that is waiting and reports whether nothing is
// left to be asked again.
func (c *confirmer) round(ctx context.Context) bool {
	c.mu.Lock()
	pods, nodes := c.pods, c.nodes
	c.pods, c.nodes = map[string]cluster.KnownPod{}, map[string]struct{}{}
	c.mu.Unlock()
	done := true
	for _, group := range groups(pods) {
		if err := c.readPods(ctx, group); err != nil {
			done = false
			for _, p := range group {
				c.pod(p)
			}
			c.log.V(1).Info("Keeping pods that a list lacks until they are read", "pods", len(group), "cause", err.Error())
		}
	}
	for name := range nodes {
		if err := c.readNode(ctx, name); err != nil {
			done = false
			c.node(name)
			c.log.V(1).Info("Keeping a node that a list lacks until it is read", "node", name, "cause", err.Error())
		}
	}
	return done
}

// groups splits the pods into those asked about in one go.
func groups(pods map[string]cluster.KnownPod) [][]cluster.KnownPod {
	by := map[string][]cluster.KnownPod{}
	few := len(pods) <= confirmByGet
	for uid, p := range pods {
		key := p.Namespace
		if few {
			key = uid
		}
		by[key] = append(by[key], p)
	}
	out := make([][]cluster.KnownPod, 0, len(by))
	for _, g := range by {
		out = append(out, g)
	}
	return out
}

func (c *confirmer) readPods(ctx context.Context, pods []cluster.KnownPod) error {
	if len(pods) > 1 {
		return c.listPods(ctx, pods)
	}
	ctx, cancel := context.WithTimeout(ctx, confirmTimeout)
	defer cancel()
	p, sent := pods[0], c.clock()
	live, err := c.client.CoreV1().Pods(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		c.cluster.PodGone(c.clock(), p.UID)
		return nil
	case err != nil:
		return err
	}
	if string(live.UID) != p.UID {
		c.cluster.PodGone(c.clock(), p.UID)
	}
	c.cluster.PodPresent(c.clock(), sent, podEvidence(live))
	return nil
}

// listPods reads the namespace page by page. An empty resource version makes the
// list consistent: it cannot be from the past.
func (c *confirmer) listPods(ctx context.Context, pods []cluster.KnownPod) error {
	present, sent := map[string]*corev1.Pod{}, c.clock()
	opts := metav1.ListOptions{Limit: confirmPage}
	for {
		page, err := c.page(ctx, pods[0].Namespace, opts)
		if err != nil {
			return err
		}
		for i := range page.Items {
			present[string(page.Items[i].UID)] = &page.Items[i]
		}
		if opts.Continue = page.Continue; opts.Continue == "" {
			break
		}
	}
	for _, p := range pods {
		if live := present[p.UID]; live != nil {
			c.cluster.PodPresent(c.clock(), sent, podEvidence(live))
		} else {
			c.cluster.PodGone(c.clock(), p.UID)
		}
	}
	return nil
}

func (c *confirmer) page(ctx context.Context, namespace string, opts metav1.ListOptions) (*corev1.PodList, error) {
	ctx, cancel := context.WithTimeout(ctx, confirmTimeout)
	defer cancel()
	return c.client.CoreV1().Pods(namespace).List(ctx, opts)
}

func (c *confirmer) readNode(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, confirmTimeout)
	defer cancel()
	sent := c.clock()
	_, err := c.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		c.cluster.NodeGone(c.clock(), sent, name)
		return nil
	}
	return err // a node that is there is the watch's business
}
