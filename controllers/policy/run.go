package policy

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/controllers/manager"
)

// +kubebuilder:rbac:groups=kureka.dev,resources=clusterregistrypolicies;registrypolicies,verbs=list;watch
// +kubebuilder:rbac:groups=kureka.dev,resources=clusterregistrypolicies/status;registrypolicies/status,verbs=patch

// Options configure Run.
type Options struct {
	// Target gets the policies. It must not block.
	Target Target
	// Figures for the status of namespaces; nil leaves them zero.
	Figures Figures
	// Effective, if set, is kept up to date with what is in force.
	Effective *Effective
	// Class is the name of this installation: policies for another are ignored.
	Class string
	// Namespaces limit whose policies are read; all if empty.
	Namespaces []string
	Clock      func() time.Time
	Logger     logr.Logger
}

// Run reads policies until the context ends. Whatever goes wrong is logged when it
// begins and tried again after at most some five seconds; meanwhile what was in
// force stays in force.
func Run(ctx context.Context, cfg *rest.Config, opts Options) {
	manager.Run(ctx, cfg, manager.Options{
		Subject:    "policies",
		Kinds:      []client.ObjectList{&v1alpha1.ClusterRegistryPolicyList{}, &v1alpha1.RegistryPolicyList{}},
		Setup:      func(mgr ctrl.Manager) error { return setup(mgr, opts) },
		Namespaces: opts.Namespaces,
		Logger:     opts.Logger,
	})
}

// setup adds one controller that decides and one that writes what was decided: a
// decision never waits for a status.
func setup(mgr ctrl.Manager, opts Options) error {
	changed := make(chan event.TypedGenericEvent[types.NamespacedName])
	d := &decider{
		reader: mgr.GetClient(), target: opts.Target, class: v1alpha1.RegistryClass(opts.Class), clock: opts.Clock, effective: opts.Effective, changed: changed,
	}
	w := &statusWriter{
		client: mgr.GetClient(), about: d.about, figures: opts.Figures, clock: opts.Clock,
		log: opts.Logger, written: map[string]time.Time{},
	}
	all := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{}}
	})
	// Only specs count: the status is what is written here.
	specs := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	err := ctrl.NewControllerManagedBy(mgr).Named("policies").
		Watches(&v1alpha1.ClusterRegistryPolicy{}, all, specs).
		Watches(&v1alpha1.RegistryPolicy{}, all, specs).
		WatchesRawSource(source.Func(decideAtStart)).
		Complete(d)
	if err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).Named("policy-status").
		WatchesRawSource(source.TypedChannel(changed, handler.TypedFuncs[types.NamespacedName, reconcile.Request]{
			GenericFunc: func(
				_ context.Context, e event.TypedGenericEvent[types.NamespacedName], q workqueue.TypedRateLimitingInterface[reconcile.Request],
			) {
				q.Add(reconcile.Request{NamespacedName: e.Object})
			},
		})).
		Complete(w)
}

// decideAtStart asks for a decision that no event asks for: the last policy may
// have been deleted while nobody watched.
func decideAtStart(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	q.Add(reconcile.Request{})
	return nil
}
