package manifest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/internal/audit"
)

// listOf returns the kind of the elements of a list, empty if they say it themselves.
func listOf(kind string) (element string, is bool) { return strings.CutSuffix(kind, "List") }

// items adds the elements of a list. An API server leaves their kind out.
func (r *reader) items(kind, apiVersion string, items []json.RawMessage) error {
	for i, item := range items {
		var err error
		if kind == "" {
			err = r.object(item)
		} else {
			err = r.add(kind, apiVersion, item)
		}
		if err != nil {
			return fmt.Errorf("item %d: %w", i+1, err)
		}
	}
	return nil
}

// add adds one object. Only kinds of the API groups that have them are looked at
// closely; anything else may still have a template of pods.
func (r *reader) add(kind, apiVersion string, text []byte) error {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		group = ""
	}
	var err error
	switch group {
	case "apps", "extensions":
		err = r.apps(kind, text)
	case "batch":
		err = r.batch(kind, text)
	case "autoscaling":
		err = r.autoscaling(kind, text)
	case "":
		err = r.core(kind, text)
	case "admissionregistration.k8s.io":
		err = r.webhooks(kind, text)
	case v1alpha1.Group:
		err = r.policies(kind, text)
	default:
		r.other(kind, text)
	}
	if err != nil {
		return fmt.Errorf("reading the %s: %w", kind, err)
	}
	return nil
}

func (r *reader) apps(kind string, text []byte) error {
	switch kind {
	case "Deployment":
		return workload(r, text, audit.FromDeployment)
	case "StatefulSet":
		return workload(r, text, audit.FromStatefulSet)
	case "DaemonSet":
		return workload(r, text, audit.FromDaemonSet)
	case "ReplicaSet":
		return workload(r, text, func(s *appsv1.ReplicaSet) audit.Workload {
			return audit.FromTemplate("ReplicaSet", &s.ObjectMeta, s.Spec.Replicas, &s.Spec.Template)
		})
	}
	return nil
}

func (r *reader) batch(kind string, text []byte) error {
	switch kind {
	case "Job":
		return workload(r, text, audit.FromJob)
	case "CronJob":
		return workload(r, text, audit.FromCronJob)
	}
	return nil
}

func (r *reader) core(kind string, text []byte) error {
	switch kind {
	case "Pod":
		return workload(r, text, audit.FromPod)
	case "ReplicationController":
		return workload(r, text, func(c *corev1.ReplicationController) audit.Workload {
			template := c.Spec.Template
			if template == nil {
				template = &corev1.PodTemplateSpec{}
			}
			return audit.FromTemplate("ReplicationController", &c.ObjectMeta, c.Spec.Replicas, template)
		})
	case "ConfigMap":
		return keep(r, text, &r.into.ConfigMaps)
	case "Namespace":
		return keep(r, text, &r.into.Namespaces)
	}
	return nil
}

func (r *reader) webhooks(kind string, text []byte) error {
	if kind != "MutatingWebhookConfiguration" {
		return nil
	}
	var loose struct {
		Webhooks []struct{ Name string } `json:"webhooks"`
	}
	if err := json.Unmarshal(text, &loose); err != nil {
		return err
	}
	for _, w := range loose.Webhooks {
		r.into.Webhooks = append(r.into.Webhooks, w.Name)
	}
	return nil
}

// policies reads policies. A field that there is not is a policy that does not do what
// somebody meant, so a file with one is bad; what is served was accepted by the API
// server, which may be of another version.
func (r *reader) policies(kind string, text []byte) error {
	switch kind {
	case "ClusterRegistryPolicy":
		return policy(r, text, &r.into.ClusterPolicies)
	case "RegistryPolicy":
		return policy(r, text, &r.into.Policies)
	}
	return nil
}

func policy[T any, P object[T]](r *reader, text []byte, to *[]T) error {
	var o T
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&o); err != nil && !r.live {
		return err
	}
	return keep[T, P](r, text, to)
}

func (r *reader) autoscaling(kind string, text []byte) error {
	if kind != "HorizontalPodAutoscaler" {
		return nil
	}
	var loose struct { // the same in all its versions
		metav1.ObjectMeta `json:"metadata"`

		Spec struct {
			Target struct{ Kind, Name string } `json:"scaleTargetRef"`
			Least  *int32                      `json:"minReplicas"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(text, &loose); err != nil {
		return err
	}
	a := audit.Autoscaler{
		Namespace: cmp.Or(loose.Namespace, r.namespace), Kind: loose.Spec.Target.Kind, Name: loose.Spec.Target.Name, Least: 1,
	}
	if loose.Spec.Least != nil {
		a.Least = *loose.Spec.Least
	}
	r.into.Autoscalers = append(r.into.Autoscalers, a)
	return nil
}

// other takes a kind that nobody knows here for a workload if it has a template of
// pods with containers where a Deployment has one, as an Argo Rollout does.
func (r *reader) other(kind string, text []byte) {
	var loose struct {
		metav1.ObjectMeta `json:"metadata"`

		Spec struct {
			Replicas *int32                  `json:"replicas"`
			Template *corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	err := json.Unmarshal(text, &loose) // an error only says that it is something else
	if err == nil && loose.Spec.Template != nil && len(loose.Spec.Template.Spec.Containers) > 0 {
		r.take(audit.FromTemplate(kind, &loose.ObjectMeta, loose.Spec.Replicas, loose.Spec.Template))
	}
}

func (r *reader) take(w audit.Workload) {
	w.Namespace = cmp.Or(w.Namespace, r.namespace)
	if !r.live {
		w.Source = fmt.Sprintf("%s, document %d", r.source, r.number)
	}
	r.into.Workloads = append(r.into.Workloads, w)
}

// object is what has metadata.
type object[T any] interface {
	*T
	metav1.Object
}

// keep adds an object as it is.
func keep[T any, P object[T]](r *reader, text []byte, to *[]T) error {
	var o T
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	if p := P(&o); p.GetNamespace() == "" {
		p.SetNamespace(r.namespace)
	}
	*to = append(*to, o)
	return nil
}
