package policy

import (
	"context"
	"fmt"
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
)

// figuresEvery is how often the figures of a namespace are written at most.
const figuresEvery = manager.StatusEvery

// Figures tells how the leases of a namespace stand: their number, the expected
// and received renewals a minute rounded down, how many expired ones are held, and
// whether self-preservation is engaged; ok is false for a namespace without any.
type Figures interface {
	Namespace(name string) (leases, expected, received, held int, engaged, ok bool)
}

// statusWriter writes what was decided about an object into its status.
type statusWriter struct {
	client  client.Client
	about   func(types.NamespacedName) (decision, bool)
	figures Figures
	clock   func() time.Time
	outcome manager.Written
	// written is when figures were written last, by namespace.
	written map[string]time.Time
}

func newStatusWriter(c client.Client, about func(types.NamespacedName) (decision, bool), opts Options) *statusWriter {
	return &statusWriter{
		client: c, about: about, figures: opts.Figures, clock: opts.Clock, written: map[string]time.Time{},
		outcome: manager.Written{Log: opts.Logger, Failed: "Cannot write the status of policies; they are in force all the same"},
	}
}

// Reconcile writes the status of one object if it is not as it should be. It is
// never called twice at the same time.
func (w *statusWriter) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	d, ok := w.about(req.NamespacedName)
	if !ok {
		delete(w.written, req.Namespace)
		return reconcile.Result{}, nil
	}
	var err error
	if req.Namespace == "" {
		err = w.writeCluster(ctx, req.NamespacedName, d)
	} else {
		err = w.writeNamespace(ctx, req.NamespacedName, d)
	}
	return w.outcome.Outcome(err), nil
}

func (w *statusWriter) writeCluster(ctx context.Context, name types.NamespacedName, d decision) error {
	var o v1alpha1.ClusterRegistryPolicy
	if err := w.client.Get(ctx, name, &o); err != nil {
		return client.IgnoreNotFound(err)
	}
	if o.UID != d.uid {
		return nil
	}
	before := o.DeepCopy()
	o.Status.ObservedGeneration, o.Status.Effective = d.generation, &d.effective
	w.setConditions(&o.Status.Conditions, d)
	if equality.Semantic.DeepEqual(before.Status, o.Status) {
		return nil
	}
	return w.patch(ctx, &o, before)
}

func (w *statusWriter) writeNamespace(ctx context.Context, name types.NamespacedName, d decision) error {
	var o v1alpha1.RegistryPolicy
	if err := w.client.Get(ctx, name, &o); err != nil {
		return client.IgnoreNotFound(err)
	}
	if o.UID != d.uid {
		return nil
	}
	before := o.DeepCopy()
	o.Status.ObservedGeneration, o.Status.Effective = d.generation, &d.effective
	w.setConditions(&o.Status.Conditions, d)
	now := w.clock()
	due := now.Sub(w.written[name.Namespace]) >= figuresEvery
	if due {
		o.Status.Figures = w.figuresOf(name.Namespace, d.effective.SelfPreservation.Mode)
	}
	if equality.Semantic.DeepEqual(before.Status, o.Status) {
		return nil
	}
	if err := w.patch(ctx, &o, before); err != nil {
		return err
	}
	if due {
		w.written[name.Namespace] = now
	}
	return nil
}

func (w *statusWriter) patch(ctx context.Context, o, before client.Object) error {
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := client.IgnoreNotFound(w.client.Status().Patch(ctx, o, patch)); err != nil {
		return fmt.Errorf("writing the status of the policy %s: %w", client.ObjectKeyFromObject(o), err)
	}
	return nil
}

func (w *statusWriter) figuresOf(namespace string, mode v1alpha1.Switch) *v1alpha1.LeaseFigures {
	f := &v1alpha1.LeaseFigures{SelfPreservation: v1alpha1.SelfPreservationWatching}
	if w.figures != nil {
		leases, expected, received, held, engaged, _ := w.figures.Namespace(namespace)
		f.Leases, f.Expected, f.Received, f.Held = int32(leases), int32(expected), int32(received), int32(held)
		if engaged {
			f.SelfPreservation = v1alpha1.SelfPreservationEngaged
		}
	}
	if mode == v1alpha1.Disabled {
		f.SelfPreservation = v1alpha1.SelfPreservationDisabled
	}
	return f
}

// setConditions says that the decision is in force, and whether the whole spec is.
func (w *statusWriter) setConditions(conditions *[]metav1.Condition, d decision) {
	accepted := metav1.Condition{
		Type: v1alpha1.ConditionAccepted, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonAccepted,
		Message: "Every field is in use",
	}
	if len(d.problems) > 0 {
		accepted.Status, accepted.Reason = metav1.ConditionFalse, d.problems[0].Reason
		accepted.Message = message(d.problems)
	}
	ready := metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonInForce,
		Message: "The policy in status.effective decides",
	}
	for _, c := range []metav1.Condition{accepted, ready} {
		c.ObservedGeneration, c.LastTransitionTime = d.generation, metav1.NewTime(w.clock())
		meta.SetStatusCondition(conditions, c)
	}
}

// message names every problem. It is far below what a condition can hold: there
// are some thirty fields, and taints are the longest value.
func message(problems []Problem) string {
	parts := make([]string, 0, len(problems))
	for _, p := range problems {
		parts = append(parts, p.Field+": "+p.Message)
	}
	return strings.Join(parts, "; ")
}
