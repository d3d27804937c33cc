package registration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/controllers/manager"
	"github.com/kureka/kureka/internal/cluster"
)

// statusWriter writes what became of a registration into its status.
type statusWriter struct {
	client client.Client
	about  func(types.NamespacedName) (decision, bool)
	target Target
	clock  func() time.Time

	outcome manager.Written
}

// Reconcile writes the status of one object if it is not as it should be. It is
// never called twice at the same time.
func (w *statusWriter) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	d, ok := w.about(req.NamespacedName)
	if !ok {
		return reconcile.Result{}, nil
	}
	return w.outcome.Outcome(w.write(ctx, req.NamespacedName, d)), nil
}

func (w *statusWriter) write(ctx context.Context, name types.NamespacedName, d decision) error {
	var o v1alpha1.EurekaRegistration
	if err := w.client.Get(ctx, name, &o); err != nil {
		return client.IgnoreNotFound(err)
	}
	if o.UID != d.uid {
		return nil
	}
	state, _ := w.target.OfferState(name.Namespace, name.Name)
	before := o.DeepCopy()
	o.Status.ObservedGeneration = d.generation
	o.Status.MatchedPods, o.Status.RegisteredInstances = new(int32(state.Matched)), new(int32(state.Registered))
	for _, c := range []metav1.Condition{accepted(d), ready(d, state)} {
		c.ObservedGeneration, c.LastTransitionTime = d.generation, metav1.NewTime(w.clock())
		meta.SetStatusCondition(&o.Status.Conditions, c)
	}
	if equality.Semantic.DeepEqual(before.Status, o.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := client.IgnoreNotFound(w.client.Status().Patch(ctx, &o, patch)); err != nil {
		return fmt.Errorf("writing the status of the registration %s: %w", name, err)
	}
	return nil
}

func accepted(d decision) metav1.Condition {
	if d.fault != "" {
		return metav1.Condition{
			Type: v1alpha1.ConditionAccepted, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonInvalid,
			Message: d.fault + "; nothing is registered by this",
		}
	}
	return metav1.Condition{
		Type: v1alpha1.ConditionAccepted, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonAccepted, Message: "Every field is in use",
	}
}

// ready says whether every pod that should be listed is.
func ready(d decision, state cluster.OfferState) metav1.Condition {
	c := metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse}
	switch {
	case d.fault != "":
		c.Reason, c.Message = v1alpha1.ReasonInvalid, "See Accepted"
	case len(state.Problems) > 0:
		worst := slices.MinFunc(state.Problems, func(a, b cluster.OfferProblem) int { return gravity(a.Reason) - gravity(b.Reason) })
		c.Reason, c.Message = worst.Reason, problems(state)
	case state.Matched == 0:
		c.Reason, c.Message = v1alpha1.ReasonNoPods, "No pod matches"
	default:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, v1alpha1.ReasonRegistered, figures(state)
	}
	return c
}

// gravity orders reasons: what concerns the whole registration comes first.
func gravity(reason string) int {
	return slices.Index([]string{
		v1alpha1.ReasonServiceNotFound, v1alpha1.ReasonPortNotFound, v1alpha1.ReasonAlreadyRegistered,
		v1alpha1.ReasonInstanceIDTaken, v1alpha1.ReasonRegistryFull,
	}, reason)
}

func problems(state cluster.OfferState) string {
	parts := make([]string, 0, len(state.Problems)+1)
	for _, p := range state.Problems {
		if p.Pods == 0 {
			parts = append(parts, p.Detail)
			continue
		}
		parts = append(parts, fmt.Sprintf("%d of %d pods, such as %s: %s", p.Pods, state.Matched, p.Pod, p.Detail))
	}
	return strings.Join(append(parts, figures(state)), "; ")
}

// figures says how many pods are listed, and what keeps others from it that is no
// problem.
func figures(state cluster.OfferState) string {
	text := fmt.Sprintf("%d of %d pods are listed by this", state.Registered, state.Matched)
	if state.Own > 0 {
		text += fmt.Sprintf(", %d by their own client", state.Own)
	}
	if state.Cancelled > 0 {
		text += fmt.Sprintf(", %d cancelled by their own client", state.Cancelled)
	}
	if state.Waiting > 0 {
		text += fmt.Sprintf(", %d have no address yet", state.Waiting)
	}
	return text
}
