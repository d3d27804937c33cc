package kubelet

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
)

// node keeps the Node object and its Lease.
type node struct {
	client  kubernetes.Interface
	options Options
	changed chan struct{} // the status is to be posted now
	renew   chan struct{} // the Lease is to be renewed now

	mu       sync.Mutex
	bootID   string
	notReady string // why the kubelet says it is not ready; empty means it is

	clockAhead time.Duration
}

func newNode(client kubernetes.Interface, options Options) *node {
	return &node{
		client:  client,
		options: options,
		changed: make(chan struct{}, 1),
		renew:   make(chan struct{}, 1),
		bootID:  newBootID(),
	}
}

func newBootID() string { return string(uuid.NewUUID()) }

// wake makes both loops act now.
func (n *node) wake() {
	nudge(n.changed)
	nudge(n.renew)
}

func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// register creates the Node, or takes over an existing one, and its Lease.
func (n *node) register(ctx context.Context) error {
	object := n.object()
	_, err := n.client.CoreV1().Nodes().Create(ctx, object, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		err = n.postStatus(ctx)
	}
	if err != nil {
		return fmt.Errorf("registering the node: %w", err)
	}
	return n.renewLease(ctx)
}

func (n *node) object() *corev1.Node {
	labels := map[string]string{
		corev1.LabelHostname:   n.options.Name,
		corev1.LabelOSStable:   "linux",
		corev1.LabelArchStable: "amd64",
	}
	if n.options.Zone != "" {
		labels[corev1.LabelTopologyZone] = n.options.Zone
	}
	maps.Copy(labels, n.options.Labels)
	object := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.options.Name, Labels: labels},
		Spec:       corev1.NodeSpec{PodCIDR: n.options.PodCIDR, PodCIDRs: []string{n.options.PodCIDR}},
	}
	n.fill(&object.Status, metav1.Now())
	return object
}

// postStatus puts the Node's status right if anybody, the node lifecycle
// controller above all, has written something else. A Node that was deleted stays
// deleted, as with a kubelet that keeps running.
func (n *node) postStatus(ctx context.Context) error {
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		object, err := n.client.CoreV1().Nodes().Get(ctx, n.options.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		updated := object.DeepCopy()
		n.fill(&updated.Status, metav1.Now())
		if apiequality.Semantic.DeepEqual(object.Status, updated.Status) {
			return nil
		}
		_, err = n.client.CoreV1().Nodes().UpdateStatus(ctx, updated, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("posting the node status: %w", err)
	}
	return nil
}

func (n *node) fill(status *corev1.NodeStatus, now metav1.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	status.Addresses = []corev1.NodeAddress{
		{Type: corev1.NodeInternalIP, Address: n.options.NodeIP},
		{Type: corev1.NodeHostName, Address: n.options.Name},
	}
	status.DaemonEndpoints.KubeletEndpoint.Port = int32(n.options.Port)
	status.NodeInfo.BootID = n.bootID
	status.NodeInfo.KubeletVersion = "v1.37.2"
	status.NodeInfo.OperatingSystem = "linux"
	status.NodeInfo.Architecture = "amd64"
	status.Capacity = corev1.ResourceList{
		corev1.ResourcePods:   resource.MustParse("1000"),
		corev1.ResourceCPU:    resource.MustParse("64"),
		corev1.ResourceMemory: resource.MustParse("256Gi"),
	}
	status.Allocatable = status.Capacity
	ready := corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status"}
	if n.notReady != "" {
		ready = corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "KubeletNotReady", Message: n.notReady}
	}
	for _, condition := range []corev1.NodeCondition{
		{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientMemory"},
		{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasNoDiskPressure"},
		{Type: corev1.NodePIDPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientPID"},
		ready,
	} {
		status.Conditions = setNodeCondition(status.Conditions, condition, now)
	}
}

// setNodeCondition leaves a condition alone that says the same already.
func setNodeCondition(conditions []corev1.NodeCondition, want corev1.NodeCondition, now metav1.Time) []corev1.NodeCondition {
	want.LastHeartbeatTime, want.LastTransitionTime = now, now
	for i, have := range conditions {
		if have.Type != want.Type {
			continue
		}
		if have.Status == want.Status && have.Reason == want.Reason && have.Message == want.Message {
			return conditions
		}
		if have.Status == want.Status {
			want.LastTransitionTime = have.LastTransitionTime
		}
		conditions[i] = want
		return conditions
	}
	return append(conditions, want)
}

// renewLease renews the Lease, or creates it with the Node as its owner.
func (n *node) renewLease(ctx context.Context) error {
	leases := n.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	lease, err := leases.Get(ctx, n.options.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return n.createLease(ctx)
	}
	if err != nil {
		return fmt.Errorf("reading the lease: %w", err)
	}
	lease.Spec = n.leaseSpec()
	if _, err := leases.Update(ctx, lease, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("renewing the lease: %w", err)
	}
	return nil
}

func (n *node) createLease(ctx context.Context) error {
	object, err := n.client.CoreV1().Nodes().Get(ctx, n.options.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the owner of the lease: %w", err)
	}
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Name:            n.options.Name,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: object.Name, UID: object.UID}},
		},
		Spec: n.leaseSpec(),
	}
	_, err = n.client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Create(ctx, lease, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) { // another renewal was faster
		return fmt.Errorf("creating the lease: %w", err)
	}
	return nil
}

func (n *node) leaseSpec() coordinationv1.LeaseSpec {
	n.mu.Lock()
	now := time.Now().Add(n.clockAhead)
	n.mu.Unlock()
	return coordinationv1.LeaseSpec{
		HolderIdentity:       new(n.options.Name),
		LeaseDurationSeconds: new(max(1, int32(n.options.LeaseDuration/time.Second))),
		RenewTime:            new(metav1.NewMicroTime(now)),
	}
}

// changeTaints edits the Node's taints, retrying when somebody else was faster.
func (n *node) changeTaints(ctx context.Context, change func([]corev1.Taint) []corev1.Taint) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		object, err := n.client.CoreV1().Nodes().Get(ctx, n.options.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		object.Spec.Taints = change(object.Spec.Taints)
		_, err = n.client.CoreV1().Nodes().Update(ctx, object, metav1.UpdateOptions{})
		return err
	})
}
