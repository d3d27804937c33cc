package cli

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/kureka/kureka/api/v1alpha1"
)

// policies are the custom resources that decide, as far as there are any.
type policies struct {
	cluster    *v1alpha1.ClusterRegistryPolicy
	namespaces map[string]*v1alpha1.RegistryPolicy
}

// The resources that decide, which are also how a policy is called that holds.
const (
	sourceBuiltIn   = "built in"
	sourceCluster   = "ClusterRegistryPolicy"
	sourceNamespace = "RegistryPolicy"
)

// effective returns the policy in force in a namespace, nil for what is built in.
func (p *policies) effective(namespace string) (policy *v1alpha1.Policy, source string) {
	if own := p.namespaces[namespace]; own != nil && own.Status.Effective != nil {
		return own.Status.Effective, sourceNamespace
	}
	if p.cluster != nil && p.cluster.Status.Effective != nil {
		return p.cluster.Status.Effective, sourceCluster
	}
	return nil, sourceBuiltIn
}

// readPolicies reads the policies of the cluster, and those of one namespace, or of
// all if it is empty. Where the custom resources are not installed there are none.
func (o *options) readPolicies(ctx context.Context, namespace string) (*policies, error) {
	config, _, err := o.cluster()
	if err != nil {
		return nil, err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("reaching the API server: %w", err)
	}
	out := &policies{namespaces: map[string]*v1alpha1.RegistryPolicy{}}
	group := v1alpha1.GroupVersion()
	whole, err := client.Resource(group.WithResource("clusterregistrypolicies")).Get(ctx, v1alpha1.PolicyName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return nil, fmt.Errorf("reading the policy of the cluster: %w", err)
	default:
		out.cluster = &v1alpha1.ClusterRegistryPolicy{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(whole.Object, out.cluster); err != nil {
			return nil, fmt.Errorf("reading the policy of the cluster: %w", err)
		}
	}
	list, err := client.Resource(group.WithResource("registrypolicies")).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		return out, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the policies of namespaces: %w", err)
	}
	for i := range list.Items {
		own := &v1alpha1.RegistryPolicy{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, own); err != nil {
			return nil, fmt.Errorf("reading the policy of %s: %w", list.Items[i].GetNamespace(), err)
		}
		out.namespaces[own.Namespace] = own
	}
	return out, nil
}

// readPod reads a pod through the API server.
func (o *options) readPod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	config, _, err := o.cluster()
	if err != nil {
		return nil, err
	}
	core, err := typedcorev1.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("reaching the API server: %w", err)
	}
	p, err := core.Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading the pod %s/%s: %w", namespace, name, err)
	}
	return p, nil
}
