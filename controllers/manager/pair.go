package manager

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

const (
	// StatusEvery is how often a status is looked at.
	StatusEvery = 10 * time.Second
	// afterConflict is how long the cache has to see what somebody else wrote.
	afterConflict = time.Second
)

// Pair adds one reconciler that decides about all objects of some kinds, whichever
// of them changed, and one that writes into an object's status what was decided: a
// decision never waits for a status.
func Pair[D any](mgr ctrl.Manager, name string, decide, write reconcile.Reconciler, made *Decisions[D], kinds ...client.Object) error {
	all := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{}}
	})
	b := ctrl.NewControllerManagedBy(mgr).Named(name).WatchesRawSource(source.Func(decideAtStart))
	for _, kind := range kinds {
		b = b.Watches(kind, all, builder.WithPredicates(specChanged()))
	}
	if err := b.Complete(decide); err != nil {
		return fmt.Errorf("adding the controller of %s: %w", name, err)
	}
	err := ctrl.NewControllerManagedBy(mgr).Named(name + "-status").
		WatchesRawSource(source.TypedChannel(made.changed, handler.TypedFuncs[types.NamespacedName, reconcile.Request]{
			GenericFunc: func(
				_ context.Context, e event.TypedGenericEvent[types.NamespacedName], q workqueue.TypedRateLimitingInterface[reconcile.Request],
			) {
				q.Add(reconcile.Request{NamespacedName: e.Object})
			},
		})).
		Complete(write)
	if err != nil {
		return fmt.Errorf("adding the controller of the status of %s: %w", name, err)
	}
	return nil
}

// specChanged lets pass what may change a decision: the status is what is written
// here. An object that was deleted and created anew while nobody watched comes as an
// update from one generation to the same.
func specChanged() predicate.Predicate {
	replaced := predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
		UpdateFunc:  func(e event.UpdateEvent) bool { return e.ObjectOld.GetUID() != e.ObjectNew.GetUID() },
	}
	return predicate.Or(predicate.GenerationChangedPredicate{}, replaced)
}

// decideAtStart asks for a decision that no event asks for: the last object may
// have been deleted while nobody watched.
func decideAtStart(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	q.Add(reconcile.Request{})
	return nil
}

// Written turns what came of writing a status into when to look again. A status that
// cannot be written harms nobody, so it is told once and tried again at the usual
// time. It is not safe for concurrent use.
type Written struct {
	Log logr.Logger
	// Failed is what is logged with the first error.
	Failed string

	failing bool // from the first write that fails to the next that does not
}

// Outcome says when to look again.
func (w *Written) Outcome(err error) reconcile.Result {
	switch {
	case apierrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: afterConflict}
	case err == nil:
		w.failing = false
	case !w.failing:
		w.failing = true
		w.Log.Error(err, w.Failed)
	}
	return reconcile.Result{RequeueAfter: StatusEvery}
}
