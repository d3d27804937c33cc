package feed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/evidence"
)

// ConfirmByGet is how many doubted pods are read one by one; more are found out by
// one list per namespace.
const ConfirmByGet = 5

// Reader reads from the API server as it is now, never from a cache. That an
// object does not exist is told by an error for which apierrors.IsNotFound holds.
type Reader interface {
	Pod(ctx context.Context, namespace, name string) (*corev1.Pod, error)
	// PodPage reads the page that begins at a token, the first if it is empty, of a
	// consistent list.
	PodPage(ctx context.Context, namespace, token string) (*corev1.PodList, error)
	Node(ctx context.Context, name string) (*corev1.Node, error)
}

// Doubted tells when there is something to Confirm.
func (f *Feed) Doubted() <-chan struct{} { return f.doubt }

// Doubts returns how many pods and nodes wait for a live read.
func (f *Feed) Doubts() (pods, nodes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.pods), len(f.nodes)
}

// Confirm asks live about everything that is doubted. Only a 404, a newer UID or
// the absence from a complete and consistent list confirms. What cannot be read
// stays in doubt, and the error says why.
func (f *Feed) Confirm(ctx context.Context, live Reader) error {
	f.mu.Lock()
	pods, nodes := f.pods, f.nodes
	f.pods, f.nodes = map[string]cluster.KnownPod{}, map[string]struct{}{}
	f.mu.Unlock()
	var errs []error
	for _, group := range groups(pods) {
		if err := f.confirmPods(ctx, live, group); err != nil {
			errs = append(errs, fmt.Errorf("reading %d pods that a list lacks: %w", len(group), err))
			for _, p := range group {
				f.doubtPod(p)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		if err := f.confirmNode(ctx, live, name); err != nil {
			errs = append(errs, fmt.Errorf("reading node %s, which a list lacks: %w", name, err))
			f.doubtNode(name)
		}
	}
	return errors.Join(errs...)
}

func (f *Feed) doubtPod(p cluster.KnownPod) {
	f.mu.Lock()
	f.pods[p.UID] = p
	f.mu.Unlock()
	f.signal()
}

func (f *Feed) doubtNode(name string) {
	f.mu.Lock()
	f.nodes[name] = struct{}{}
	f.mu.Unlock()
	f.signal()
}

func (f *Feed) signal() {
	select {
	case f.doubt <- struct{}{}:
	default:
	}
}

// groups splits the pods into those asked about in one go.
func groups(pods map[string]cluster.KnownPod) [][]cluster.KnownPod {
	by := map[string][]cluster.KnownPod{}
	few := len(pods) <= ConfirmByGet
	for uid, p := range pods {
		key := p.Namespace
		if few {
			key = uid
		}
		by[key] = append(by[key], p)
	}
	out := make([][]cluster.KnownPod, 0, len(by))
	for _, key := range slices.Sorted(maps.Keys(by)) {
		out = append(out, by[key])
	}
	return out
}

func (f *Feed) confirmPods(ctx context.Context, live Reader, pods []cluster.KnownPod) error {
	if len(pods) > 1 {
		return f.confirmByList(ctx, live, pods)
	}
	p, sent := pods[0], f.clock()
	read, err := live.Pod(ctx, p.Namespace, p.Name)
	switch {
	case apierrors.IsNotFound(err):
		f.to.PodGone(f.clock(), p.UID)
		return nil
	case err != nil:
		return err
	}
	if string(read.UID) != p.UID {
		f.to.PodGone(f.clock(), p.UID)
	}
	f.to.PodPresent(f.clock(), sent, podEvidence(read))
	return nil
}

// confirmByList keeps of a namespace's pods only those that are asked about, and of
// these what a Target is told: there may be tens of thousands.
func (f *Feed) confirmByList(ctx context.Context, live Reader, pods []cluster.KnownPod) error {
	doubted := make(map[string]bool, len(pods))
	for _, p := range pods {
		doubted[p.UID] = true
	}
	present, sent := map[string]evidence.Pod{}, f.clock()
	for token := ""; ; {
		page, err := live.PodPage(ctx, pods[0].Namespace, token)
		if err != nil {
			return err
		}
		for i := range page.Items {
			if uid := string(page.Items[i].UID); doubted[uid] {
				present[uid] = podEvidence(&page.Items[i])
			}
		}
		if token = page.Continue; token == "" {
			break
		}
	}
	for _, p := range pods {
		if seen, ok := present[p.UID]; ok {
			f.to.PodPresent(f.clock(), sent, seen)
		} else {
			f.to.PodGone(f.clock(), p.UID)
		}
	}
	return nil
}

func (f *Feed) confirmNode(ctx context.Context, live Reader, name string) error {
	sent := f.clock()
	read, err := live.Node(ctx, name)
	switch {
	case apierrors.IsNotFound(err):
		f.to.NodeGone(f.clock(), sent, name)
		return nil
	case err != nil:
		return err
	}
	f.to.NodePresent(f.clock(), sent, nodeEvidence(read))
	return nil
}
