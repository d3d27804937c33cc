package truth

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// apiServer keeps objects and everything that was ever written.
type apiServer struct {
	w      *world
	down   int // outages in force
	writes int
	pods   resource[*corev1.Pod]
	nodes  resource[*corev1.Node]
	leases resource[*coordinationv1.Lease]
	canary resource[*coordinationv1.Lease]
	offers resource[*offering]
}

func (a *apiServer) up() bool { return a.down == 0 }

// resource is the objects of one kind by name. Objects are never changed: a new
// state is a copy.
type resource[T metav1.Object] struct {
	live    map[string]T
	history []written[T]
	ordered []T // those that live, by name; nil when that has to be found anew
}

type written[T metav1.Object] struct {
	at   time.Duration
	obj  T
	gone bool
}

func nameOf(o metav1.Object) string { return o.GetNamespace() + "/" + o.GetName() }

func (r *resource[T]) write(at time.Duration, obj T, gone bool) {
	if r.live == nil {
		r.live = map[string]T{}
	}
	r.ordered = nil
	r.history = append(r.history, written[T]{at, obj, gone})
	if gone {
		delete(r.live, nameOf(obj))
	} else {
		r.live[nameOf(obj)] = obj
	}
}

// upTo is how much had been written by a moment.
func (r *resource[T]) upTo(at time.Duration) int {
	n, _ := slices.BinarySearchFunc(r.history, at, func(w written[T], at time.Duration) int { return cmp.Or(cmp.Compare(w.at, at), -1) })
	return n
}

// list is the objects after so many writes.
func (r *resource[T]) list(writes int) []T {
	live := map[string]T{}
	for _, w := range r.history[:writes] {
		if w.gone {
			delete(live, nameOf(w.obj))
		} else {
			live[nameOf(w.obj)] = w.obj
		}
	}
	out := make([]T, 0, len(live))
	for _, name := range slices.Sorted(maps.Keys(live)) {
		out = append(out, live[name])
	}
	return out
}

// sorted is the objects that exist, by name.
func (r *resource[T]) sorted() []T {
	if r.ordered == nil {
		r.ordered = make([]T, 0, len(r.live))
		for _, name := range slices.Sorted(maps.Keys(r.live)) {
			r.ordered = append(r.ordered, r.live[name])
		}
	}
	return r.ordered
}

// version is the next resource version.
func (a *apiServer) version() string {
	a.writes++
	return strconv.Itoa(a.writes)
}

// putPod writes a pod and lets the operator and the kubelet know.
func (a *apiServer) putPod(p *corev1.Pod) {
	p.ResourceVersion = a.version()
	a.pods.write(a.w.now, p, false)
	a.w.op.expect()
	a.tellKubelet(p)
}

func (a *apiServer) deletePod(p *corev1.Pod) {
	a.pods.write(a.w.now, p, true)
	a.w.op.expect()
	a.tellKubelet(p)
}

func (a *apiServer) tellKubelet(p *corev1.Pod) {
	if n := a.w.nodes[p.Spec.NodeName]; n != nil {
		a.w.after(50*time.Millisecond, n.reconcile)
	}
}

func (a *apiServer) putNode(n *corev1.Node) {
	n.ResourceVersion = a.version()
	a.nodes.write(a.w.now, n, false)
	a.w.op.expect()
}

func (a *apiServer) deleteNode(n *corev1.Node) {
	a.nodes.write(a.w.now, n, true)
	a.w.op.expect()
}

// pod returns the object of a pod that exists.
func (a *apiServer) pod(p *pod) *corev1.Pod {
	if o := a.pods.live[p.ns+"/"+p.name]; o != nil && string(o.UID) == p.uid {
		return o
	}
	return nil
}

func (a *apiServer) node(name string) *corev1.Node { return a.nodes.live["/"+name] }

// live reads for the operator, at the moment the call is sent; the answer takes its
// time to arrive, in which other things happen. It implements feed.Reader.
type live struct{ op *operator }

// Pod implements feed.Reader.
func (l live) Pod(_ context.Context, namespace, name string) (*corev1.Pod, error) {
	if err := l.reach(); err != nil {
		return nil, err
	}
	p := l.op.w.api.pods.live[namespace+"/"+name]
	if p != nil {
		l.op.reads(p)
	}
	l.wait()
	if p == nil {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, name)
	}
	return p, nil
}

// PodPage implements feed.Reader.
func (l live) PodPage(_ context.Context, namespace, _ string) (*corev1.PodList, error) {
	if err := l.reach(); err != nil {
		return nil, err
	}
	list := &corev1.PodList{}
	for _, p := range l.op.w.api.pods.sorted() {
		if p.Namespace == namespace {
			l.op.reads(p)
			list.Items = append(list.Items, *p)
		}
	}
	l.wait()
	return list, nil
}

// Node implements feed.Reader.
func (l live) Node(_ context.Context, name string) (*corev1.Node, error) {
	if err := l.reach(); err != nil {
		return nil, err
	}
	n := l.op.w.api.node(name)
	l.wait()
	if n != nil {
		l.op.view.read[name] = versionOf(n)
	}
	if n == nil {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "nodes"}, name)
	}
	return n, nil
}

func (l live) reach() error {
	if !l.op.reachesAPI() {
		return apierrors.NewTimeoutError("the API server does not answer", 1)
	}
	if l.op.dice.chance(15) {
		return apierrors.NewTooManyRequests("the API server is busy", 1)
	}
	return nil
}

func (l live) wait() {
	w := l.op.w
	w.runUntil(w.now + l.op.dice.between(5*time.Millisecond, 300*time.Millisecond))
}
