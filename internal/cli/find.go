package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

const (
	// kurekaLabels are on every pod of Kureka, whoever installed it.
	kurekaLabels = "app.kubernetes.io/name=kureka"
	// portName is the name of its container port for the registry.
	portName = "eureka"
	// systemNamespace is where the documents install it.
	systemNamespace = "kureka-system"
	// tlsFlag is among the arguments of a Kureka that speaks TLS.
	tlsFlag = "--registry-tls-cert-file"
)

var errNoKureka = errors.New("no Kureka found in any namespace you may list; pass --kureka-namespace or --server")

// target is a pod of Kureka and how its registry is spoken to.
type target struct {
	namespace, pod string
	port           int32
	tls            bool
	// service is the name that its certificate is for: that of the installation.
	service string
}

// find looks for the pod of Kureka: where the user says, else everywhere, else, if
// that is forbidden, in the namespaces it is most likely to be in.
func (o *options) find(ctx context.Context, pods typedcorev1.PodsGetter, current string) (target, error) {
	if o.where != "" {
		found, err := list(ctx, pods, o.where)
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("no pod with the label %s runs in the namespace %s", kurekaLabels, o.where)
		}
		if err != nil {
			return target{}, fmt.Errorf("looking for Kureka: %w", err)
		}
		return choose(found)
	}
	found, err := list(ctx, pods, metav1.NamespaceAll)
	if apierrors.IsForbidden(err) {
		found, err = listLikely(ctx, pods, current)
	}
	if err != nil {
		return target{}, fmt.Errorf("looking for Kureka: %w", err)
	}
	return choose(found)
}

func listLikely(ctx context.Context, pods typedcorev1.PodsGetter, current string) ([]corev1.Pod, error) {
	for _, namespace := range []string{systemNamespace, current} {
		found, err := list(ctx, pods, namespace)
		if err != nil && !apierrors.IsForbidden(err) {
			return nil, err
		}
		if len(found) > 0 {
			return found, nil
		}
	}
	return nil, nil
}

// list returns the running pods of Kureka in a namespace.
func list(ctx context.Context, pods typedcorev1.PodsGetter, namespace string) ([]corev1.Pod, error) {
	all, err := pods.Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: kurekaLabels})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all.Items, func(p corev1.Pod) bool { return p.Status.Phase != corev1.PodRunning }), nil
}

// choose takes the pod of the only installation: a Ready one, and one that does not
// end, before others.
func choose(found []corev1.Pod) (target, error) {
	if len(found) == 0 {
		return target{}, errNoKureka
	}
	namespaces := map[string]bool{}
	for i := range found {
		namespaces[found[i].Namespace] = true
	}
	if len(namespaces) > 1 {
		names := make([]string, 0, len(namespaces))
		for name := range namespaces {
			names = append(names, name)
		}
		slices.Sort(names)
		return target{}, fmt.Errorf("there are Kurekas in %s: choose one with --kureka-namespace", strings.Join(names, ", "))
	}
	best := slices.MinFunc(found, func(a, b corev1.Pod) int { return cmp.Compare(rank(&a), rank(&b)) })
	return targetOf(&best)
}

func rank(p *corev1.Pod) int {
	rank := 0
	if p.DeletionTimestamp != nil {
		rank++
	}
	ready := slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
	if !ready {
		rank += 2
	}
	return rank
}

func targetOf(p *corev1.Pod) (target, error) {
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		for _, port := range c.Ports {
			if port.Name != portName {
				continue
			}
			return target{
				namespace: p.Namespace, pod: p.Name, port: port.ContainerPort, service: serviceOf(c.Args),
				tls: slices.ContainsFunc(c.Args, func(arg string) bool { return strings.HasPrefix(arg, tlsFlag) }),
			}, nil
		}
	}
	return target{}, fmt.Errorf("the pod %s/%s has no port named %s; pass --server", p.Namespace, p.Name, portName)
}

// serviceOf is the name of the installation, by which its Service and its own Lease
// go.
func serviceOf(args []string) string {
	for _, arg := range args {
		if name, ok := strings.CutPrefix(arg, "--canary-lease="); ok {
			return name
		}
	}
	return "kureka"
}
