package manifest

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kureka/kureka/internal/audit"
)

// seen are the kinds that are looked at, by their API group, and those whose pods need
// not be.
var seen = map[schema.GroupKind]bool{
	{Group: appsv1.GroupName, Kind: "Deployment"}:            true,
	{Group: appsv1.GroupName, Kind: "StatefulSet"}:           true,
	{Group: appsv1.GroupName, Kind: "DaemonSet"}:             true,
	{Group: appsv1.GroupName, Kind: "ReplicaSet"}:            true,
	{Group: batchv1.GroupName, Kind: "Job"}:                  true,
	{Group: batchv1.GroupName, Kind: "CronJob"}:              true,
	{Group: "argoproj.io", Kind: "Rollout"}:                  true,
	{Group: corev1.GroupName, Kind: "Pod"}:                   true,
	{Group: corev1.GroupName, Kind: "ReplicationController"}: true,
	{Group: corev1.GroupName, Kind: "Node"}:                  true, // of static pods, which no client is in
}

// workload adds an object that makes pods, or a pod, unless what made it is looked at.
// What a kind made that is not looked at is looked at itself, but not its pods: they
// are counted, because each of them would say the same.
func workload[T any](r *reader, text []byte, from func(*T) audit.Workload) error {
	var object T
	if err := json.Unmarshal(text, &object); err != nil {
		return err
	}
	w := from(&object)
	maker, made := makerOf(text)
	switch {
	case !made:
		r.take(w)
	case seen[maker]:
	case w.Kind == "Pod":
		if r.into.Unseen == nil {
			r.into.Unseen = map[string]int{}
		}
		r.into.Unseen[maker.String()]++
	case w.Replicas == nil || *w.Replicas > 0: // else it is an old revision, or at rest
		r.take(w)
	}
	return nil
}

// makerOf returns the kind of what made an object and controls it, if anything did.
func makerOf(text []byte) (kind schema.GroupKind, made bool) {
	var object metav1.PartialObjectMetadata
	if err := json.Unmarshal(text, &object); err != nil {
		return kind, false
	}
	owner := metav1.GetControllerOf(&object)
	if owner == nil {
		return kind, false
	}
	return schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind(), true
}
