package feed

import (
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/evidence"
)

// Target takes in evidence. A *cluster.Cluster does.
type Target interface {
	podTarget
	nodeTarget
	sliceTarget
	serviceTarget
}

type podTarget interface {
	ObservePod(now time.Time, seen evidence.Pod) (doubted bool)
	PodGone(now time.Time, uid string)
	PodPresent(now, sent time.Time, seen evidence.Pod)
	KnownPods() []cluster.KnownPod
}

type nodeTarget interface {
	ObserveNode(now time.Time, seen evidence.Node) (doubted bool)
	NodePresent(now, sent time.Time, seen evidence.Node)
	NodeGone(now, sent time.Time, name string)
	KnownNodes() []string
	ObserveLease(now time.Time, name string, renewed time.Time, lasts time.Duration)
	ObserveCanary(now, written time.Time)
}

type serviceTarget interface {
	ObserveService(now time.Time, namespace, name string, readyOrNot bool)
	ServiceGone(now time.Time, namespace, name string)
	ReplaceServices(now time.Time, namespace string, current map[string]bool)
}

type sliceTarget interface {
	ObserveSlice(now time.Time, slice string, current []cluster.Endpoint)
	ReplaceSlices(now time.Time, namespace string, current map[string][]cluster.Endpoint)
}

// Feed tells a Target what is seen. Its methods may be called concurrently; none
// of them but Confirm waits for anything.
type Feed struct {
	to    Target
	clock func() time.Time
	doubt chan struct{}

	mu    sync.Mutex
	pods  map[string]cluster.KnownPod // doubted, by UID, so bounded by the pods that are known
	nodes map[string]struct{}         // doubted
}

// New returns a feed of a target.
func New(to Target, clock func() time.Time) *Feed {
	return &Feed{
		to: to, clock: clock, doubt: make(chan struct{}, 1),
		pods: map[string]cluster.KnownPod{}, nodes: map[string]struct{}{},
	}
}

// PodSeen takes in a pod that a watch or a list shows.
func (f *Feed) PodSeen(p *corev1.Pod) {
	if f.to.ObservePod(f.clock(), podEvidence(p)) {
		f.doubtPod(cluster.KnownPod{UID: string(p.UID), Namespace: p.Namespace, Name: p.Name})
	}
}

// PodGone takes in a removal that the watch itself has seen.
func (f *Feed) PodGone(p *corev1.Pod) { f.to.PodGone(f.clock(), string(p.UID)) }

// PodListed takes in a pod of a list that is still coming, and leaves of the pod
// only what PodListComplete needs: a large list would take gigabytes.
func (f *Feed) PodListed(p *corev1.Pod) {
	f.PodSeen(p)
	*p = corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: p.UID}}
}

// PodListComplete takes in which pods a list held, all of them told by PodListed
// before. It replaces what was seen of a namespace so far, of all if it is empty.
func (f *Feed) PodListComplete(namespace string, pods []*corev1.Pod) {
	present := make(map[types.UID]bool, len(pods))
	for _, p := range pods {
		present[p.UID] = true
	}
	for _, known := range f.to.KnownPods() {
		if !present[types.UID(known.UID)] && (namespace == "" || namespace == known.Namespace) {
			f.doubtPod(known)
		}
	}
}

// NodeSeen takes in a node that a watch or a list shows.
func (f *Feed) NodeSeen(n *corev1.Node) {
	if f.to.ObserveNode(f.clock(), nodeEvidence(n)) {
		f.doubtNode(n.Name)
	}
}

// NodeGone takes in that a watch has seen the node's removal.
func (f *Feed) NodeGone(n *corev1.Node) { f.doubtNode(n.Name) }

// NodesListed takes in a list that replaces what was seen so far.
func (f *Feed) NodesListed(nodes []*corev1.Node) {
	present := make(map[string]bool, len(nodes))
	for _, n := range nodes {
		present[n.Name] = true
		f.NodeSeen(n)
	}
	for _, name := range f.to.KnownNodes() {
		if !present[name] {
			f.doubtNode(name)
		}
	}
}

// LeaseSeen takes in that a watch shows a node's Lease renewed. A list shows
// renewals of unknown age and is not to be told.
func (f *Feed) LeaseSeen(l *coordinationv1.Lease) {
	var renewed time.Time
	if l.Spec.RenewTime != nil {
		renewed = l.Spec.RenewTime.Time
	}
	var lasts time.Duration
	if l.Spec.LeaseDurationSeconds != nil {
		lasts = time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second
	}
	f.to.ObserveLease(f.clock(), l.Name, renewed, lasts)
}

// CanarySeen takes in that a watch shows the own Lease.
func (f *Feed) CanarySeen(l *coordinationv1.Lease) {
	if t := l.Spec.RenewTime; t != nil {
		f.to.ObserveCanary(f.clock(), t.Time)
	}
}

// SliceSeen takes in an EndpointSlice.
func (f *Feed) SliceSeen(s *discoveryv1.EndpointSlice) {
	f.to.ObserveSlice(f.clock(), s.Namespace+"/"+s.Name, sliceEvidence(s))
}

// SliceGone takes in that an EndpointSlice was removed.
func (f *Feed) SliceGone(s *discoveryv1.EndpointSlice) {
	f.to.ObserveSlice(f.clock(), s.Namespace+"/"+s.Name, nil)
}

// SlicesListed takes in a list that replaces what was seen of a namespace so far,
// of all if it is empty.
func (f *Feed) SlicesListed(namespace string, list []*discoveryv1.EndpointSlice) {
	current := make(map[string][]cluster.Endpoint, len(list))
	for _, s := range list {
		current[s.Namespace+"/"+s.Name] = sliceEvidence(s)
	}
	f.to.ReplaceSlices(f.clock(), namespace, current)
}

// ServiceSeen takes in a Service.
func (f *Feed) ServiceSeen(s *corev1.Service) {
	f.to.ObserveService(f.clock(), s.Namespace, s.Name, s.Spec.PublishNotReadyAddresses)
}

// ServiceGone takes in that a Service was removed.
func (f *Feed) ServiceGone(s *corev1.Service) { f.to.ServiceGone(f.clock(), s.Namespace, s.Name) }

// ServicesListed takes in a list that replaces what was seen of a namespace so far,
// of all if it is empty.
func (f *Feed) ServicesListed(namespace string, list []*corev1.Service) {
	current := make(map[string]bool, len(list))
	for _, s := range list {
		current[s.Namespace+"/"+s.Name] = s.Spec.PublishNotReadyAddresses
	}
	f.to.ReplaceServices(f.clock(), namespace, current)
}
