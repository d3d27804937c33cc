package audit

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Workload is something that makes pods of one template, or a pod.
type Workload struct {
	Kind, Namespace, Name string
	// Source is the file and document that it was read from, for people.
	Source string
	// Replicas is how many pods are wanted; nil where that is not for a manifest to
	// say, as for a DaemonSet.
	Replicas *int32
	// Ends says that its pods run to completion.
	Ends bool
	// MaxUnavailable is how many pods, or percent of them, an update may end before new
	// ones are there; nil where the manifest does not say. A number of pods is compared
	// with how many there are at least, which an autoscaler decides if there is one.
	MaxUnavailable *intstr.IntOrString
	// Overlaps says that an update may make a new pod before the one that it is for has
	// ended, so that also one replica is two for a while.
	Overlaps bool
	Template corev1.PodTemplateSpec
}

// Autoscaler keeps a workload at no fewer pods than Least.
type Autoscaler struct {
	Namespace, Kind, Name string
	Least                 int32
}

// FromDeployment returns a Deployment as a Workload.
func FromDeployment(d *appsv1.Deployment) Workload {
	w := workload("Deployment", &d.ObjectMeta, d.Spec.Template)
	w.Replicas = atLeastSaid(d.Spec.Replicas)
	w.Overlaps = true
	if d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		w.MaxUnavailable, w.Overlaps = new(intstr.FromString("100%")), false
	} else if u := d.Spec.Strategy.RollingUpdate; u != nil {
		w.MaxUnavailable = u.MaxUnavailable
	}
	return w
}

// FromStatefulSet returns a StatefulSet as a Workload.
func FromStatefulSet(s *appsv1.StatefulSet) Workload {
	w := workload("StatefulSet", &s.ObjectMeta, s.Spec.Template)
	w.Replicas = atLeastSaid(s.Spec.Replicas)
	return w
}

// FromDaemonSet returns a DaemonSet as a Workload.
func FromDaemonSet(d *appsv1.DaemonSet) Workload {
	return workload("DaemonSet", &d.ObjectMeta, d.Spec.Template)
}

// FromJob returns a Job as a Workload.
func FromJob(j *batchv1.Job) Workload {
	w := workload("Job", &j.ObjectMeta, j.Spec.Template)
	w.Ends = true
	return w
}

// FromCronJob returns a CronJob as a Workload.
func FromCronJob(c *batchv1.CronJob) Workload {
	w := workload("CronJob", &c.ObjectMeta, c.Spec.JobTemplate.Spec.Template)
	w.Ends = true
	return w
}

// FromPod returns a pod as a Workload.
func FromPod(p *corev1.Pod) Workload {
	w := workload("Pod", &p.ObjectMeta, corev1.PodTemplateSpec{ObjectMeta: p.ObjectMeta, Spec: p.Spec})
	w.Ends = p.Spec.RestartPolicy != "" && p.Spec.RestartPolicy != corev1.RestartPolicyAlways
	w.Replicas = new(int32(1))
	return w
}

// FromTemplate returns anything that has a template as a Workload; replicas may be nil.
func FromTemplate(kind string, m *metav1.ObjectMeta, replicas *int32, template *corev1.PodTemplateSpec) Workload {
	w := workload(kind, m, *template)
	w.Replicas = replicas
	w.Overlaps = true // nobody knows better
	return w
}

func workload(kind string, m *metav1.ObjectMeta, template corev1.PodTemplateSpec) Workload {
	return Workload{Kind: kind, Namespace: m.Namespace, Name: m.Name, Template: template}
}

// atLeastSaid is what the API server makes of a number that is not there.
func atLeastSaid(replicas *int32) *int32 {
	if replicas == nil {
		return new(int32(1))
	}
	return replicas
}
