package rolling

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kureka/kureka/test/rig/controlplane"
	"github.com/kureka/kureka/test/rig/stage"
)

// kureka is the cluster address of Kureka's Service, and where Kureka listens.
const kureka = services + ".10"

// installWebhook has the API server ask about pods. The Service has the address that
// Kureka itself listens on, because nothing here translates one into the other.
func installWebhook(ctx context.Context, rig *stage.Rig) error {
	objects, err := controlplane.Manifests(manifests("webhook", "webhook.yaml"))
	if err != nil {
		return err
	}
	service, err := controlplane.Manifests(manifests("manager", "service.yaml"))
	if err != nil {
		return err
	}
	for _, object := range service {
		if err := unstructured.SetNestedField(object.Object, kureka, "spec", "clusterIP"); err != nil {
			return fmt.Errorf("choosing the Service's address: %w", err)
		}
	}
	return apply(ctx, rig, append(objects, service...)...)
}

// apply creates or changes objects.
func apply(ctx context.Context, rig *stage.Rig, objects ...*unstructured.Unstructured) error {
	api, err := client.New(rig.Plane.Config(), client.Options{})
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	for _, object := range objects {
		if err := api.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("rolling"), client.ForceOwnership); err != nil {
			return fmt.Errorf("applying %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// drain has a namespace's pods drained by a policy, and returns once pods get what
// the policy says.
func drain(ctx context.Context, s *stage.Stage, policy string) error {
	objects, err := controlplane.DecodeManifests(strings.NewReader(
		"apiVersion: kureka.dev/v1alpha1\nkind: RegistryPolicy\nmetadata: {name: default, namespace: " + s.Namespace + "}\nspec: " + policy + "\n"))
	if err != nil {
		return err
	}
	if err := apply(ctx, s.Rig, objects...); err != nil {
		return err
	}
	patch := []byte(`{"metadata":{"labels":{"kureka.dev/drain":"Enabled"}}}`)
	if _, err := s.Rig.Client.CoreV1().Namespaces().Patch(ctx, s.Namespace, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("opting the namespace in: %w", err)
	}
	probe := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "probe"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: ordersImage}}},
	}
	return stage.Until(ctx, "pods to be drained", func(ctx context.Context) (bool, error) {
		seen, err := s.Rig.Client.CoreV1().Pods(s.Namespace).Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil && reportOf(seen) != "", err
	})
}

// reportOf is what was done to a pod when it was created, empty if nothing was.
func reportOf(pod *corev1.Pod) string { return pod.Annotations["kureka.dev/drain-report"] }

// bind gives pods that have no node the one with the fewest pods, among those that
// have no taint: the control plane has no scheduler.
func bind(ctx context.Context, s *stage.Stage, nodes []*stage.Node) error {
	pods, err := s.Rig.Client.CoreV1().Pods(s.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing the pods: %w", err)
	}
	load := map[string]int{}
	for i := range pods.Items {
		load[pods.Items[i].Spec.NodeName]++
	}
	if load[""] == 0 {
		return nil
	}
	free, err := untainted(ctx, s, nodes)
	if err != nil {
		return err
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Spec.NodeName != "" || len(free) == 0 {
			continue
		}
		best := free[0]
		for _, node := range free {
			if load[node] < load[best] {
				best = node
			}
		}
		load[best]++
		binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: pod.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: best}}
		if err := s.Rig.Client.CoreV1().Pods(s.Namespace).Bind(ctx, binding, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("binding pod %s: %w", pod.Name, err)
		}
	}
	return nil
}

func untainted(ctx context.Context, s *stage.Stage, nodes []*stage.Node) (names []string, err error) {
	for _, n := range nodes {
		node, err := s.Rig.Client.CoreV1().Nodes().Get(ctx, n.Name, metav1.GetOptions{})
		if err != nil {
			return nil, fmt.Errorf("reading node %s: %w", n.Name, err)
		}
		if len(node.Spec.Taints) == 0 {
			names = append(names, n.Name)
		}
	}
	return names, nil
}
