package controllers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// maxBackoff caps the pause between two attempts to reach the API server, so that
// the view is whole again soon after an outage.
const maxBackoff = 5 * time.Second

// sink takes what one watch sees. A removal seen by the watch itself comes
// through gone; what a complete list no longer holds is for listed to find out.
type sink[T any] struct {
	seen func(*T)
	gone func(*T)
	// listing, if set, takes each object of a list while the list is still coming,
	// and may drop what listed does not need: a list is kept until it is complete.
	listing func(*T)
	listed  func([]*T)
}

// source is one resource that is watched.
type source[T any] struct {
	resource string // plural, for people and metrics
	without  string // what is not known while it cannot be watched
	list     func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch    func(context.Context, metav1.ListOptions) (watch.Interface, error)
	sink     sink[T]
}

// pageSize is how many objects the API server is asked for at once where it cannot
// stream a list: few, because a page is in memory several times while it is read.
const pageSize = 100

// listAll reads the complete list of the latest state page by page. It leaves
// nothing of that to the reflector: that would ask for what may be old, for which
// the API server ignores the limit and sends everything in one piece.
func (s *source[T]) listAll(ctx context.Context) (runtime.Object, error) {
	var all []runtime.Object
	o := metav1.ListOptions{Limit: pageSize}
	for {
		list, err := s.list(ctx, o)
		if err != nil {
			return nil, err
		}
		err = meta.EachListItem(list, func(obj runtime.Object) error {
			if item, ok := any(obj).(*T); ok && s.sink.listing != nil {
				s.sink.listing(item)
			}
			all = append(all, obj)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("reading a page of %s: %w", s.resource, err)
		}
		page, err := meta.ListAccessor(list)
		if err != nil {
			return nil, fmt.Errorf("reading a page of %s: %w", s.resource, err)
		}
		if o.Continue = page.GetContinue(); o.Continue == "" {
			return list, meta.SetList(list, all)
		}
	}
}

// runWatch keeps the sink up to date until the context ends. It resumes rather
// than reloads, and backs off up to maxBackoff.
func runWatch[T any](ctx context.Context, s source[T], states *watchStates, log logr.Logger) {
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
			obj, err := s.listAll(ctx)
			states.note(s.resource, s.without, err)
			return obj, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := s.watch(ctx, o)
			states.note(s.resource, s.without, err)
			return w, err
		},
	}
	silent := klog.New(nil) // states.note has said what matters
	var zero T
	r := cache.NewReflectorWithOptions(lw, any(&zero), &store[T]{sink: s.sink, synced: func() { states.synced(s.resource) }},
		cache.ReflectorOptions{
			Name:    "kureka/" + s.resource,
			Logger:  &silent,
			Backoff: &wait.Backoff{Duration: 500 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 10, Cap: maxBackoff},
		})
	log.V(1).Info("Watching", "resource", s.resource)
	r.RunWithContext(klog.NewContext(ctx, silent))
}

// store hands a reflector's objects on and keeps none: package cluster keeps what
// it needs.
type store[T any] struct {
	sink   sink[T]
	synced func()
}

// Transformer implements cache.TransformingStore. The reflector calls it for each
// object of a list that is streamed, and keeps the objects until it is complete.
func (s *store[T]) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		if o, ok := obj.(*T); ok && o != nil && s.sink.listing != nil {
			s.sink.listing(o)
		}
		return obj, nil
	}
}

// Add implements cache.ReflectorStore.
func (s *store[T]) Add(obj any) error { return s.Update(obj) }

// Update implements cache.ReflectorStore.
func (s *store[T]) Update(obj any) error {
	if o, ok := obj.(*T); ok && o != nil {
		s.sink.seen(o)
	}
	return nil
}

// Delete implements cache.ReflectorStore. An object of another type, or a
// tombstone, is no sight of a removal: the next complete list will tell.
func (s *store[T]) Delete(obj any) error {
	if o, ok := obj.(*T); ok && o != nil {
		s.sink.gone(o)
	}
	return nil
}

// Replace implements cache.ReflectorStore.
func (s *store[T]) Replace(list []any, _ string) error {
	objs := make([]*T, 0, len(list))
	for _, obj := range list {
		if o, ok := obj.(*T); ok && o != nil {
			objs = append(objs, o)
		}
	}
	s.sink.listed(objs)
	s.synced()
	return nil
}

// Resync implements cache.ReflectorStore. Nothing is cached, so nothing is
// replayed.
func (s *store[T]) Resync() error { return nil }

// WatchState is how one watch is doing.
type WatchState struct {
	Resource string
	// Synced says that the complete list has been seen since the last refusal.
	Synced bool
	// Problem is empty while all is well, else cause and cure in one line.
	Problem string
}

// watchStates keeps the state of every watch and says when one changes.
type watchStates struct {
	log      logr.Logger
	onChange func(WatchState)

	telling sync.Mutex // keeps the calls of onChange in the order of the changes
	mu      sync.Mutex
	m       map[string]WatchState
}

// expect makes a resource known before its watch has said anything.
func (w *watchStates) expect(resource string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.m[resource] = WatchState{Resource: resource}
}

// note takes in the result of a call. Only a change is logged: an outage is one
// line, not one every few seconds.
func (w *watchStates) note(resource, without string, err error) {
	problem := ""
	switch {
	case err == nil, errors.Is(err, context.Canceled):
	case apierrors.IsResourceExpired(err), apierrors.IsGone(err), apierrors.IsTooManyRequests(err):
		return // the reflector lists again, or waits as it was told to
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		problem = fmt.Sprintf("not allowed to list and watch %s: %s. Grant both to Kureka's service account; see config/rbac/role.yaml. Cause: %v",
			resource, without, err)
	default:
		problem = fmt.Sprintf("cannot reach the API server for %s: %s. Retrying at least every %s. Cause: %v", resource, without, maxBackoff, err)
	}
	denied := apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)
	w.change(resource, func(s *WatchState) {
		s.Problem = problem
		s.Synced = s.Synced && !denied
	})
}

func (w *watchStates) synced(resource string) {
	w.change(resource, func(s *WatchState) { s.Synced = true })
}

func (w *watchStates) change(resource string, apply func(*WatchState)) {
	w.telling.Lock()
	defer w.telling.Unlock()
	w.mu.Lock()
	old := w.m[resource]
	next := old
	apply(&next)
	w.m[resource] = next
	w.mu.Unlock()
	if old == next {
		return
	}
	switch {
	case next.Problem != "" && old.Problem == "":
		w.log.Info("A watch is not working", "resource", resource, "problem", next.Problem)
	case next.Problem == "" && old.Problem != "":
		w.log.Info("A watch is working again", "resource", resource)
	case next.Synced && !old.Synced:
		w.log.Info("A watch has delivered its list", "resource", resource)
	}
	w.onChange(next)
}

// all returns the states.
func (w *watchStates) all() []WatchState {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]WatchState, 0, len(w.m))
	for _, s := range w.m {
		out = append(out, s)
	}
	return out
}
