package registration

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
	"github.com/kureka/kureka/internal/cluster"
)

// +kubebuilder:rbac:groups=kureka.dev,resources=eurekaregistrations,verbs=get;list;watch
// +kubebuilder:rbac:groups=kureka.dev,resources=eurekaregistrations/status,verbs=get;update;patch

// Target is told the complete set of offers and says what became of each. It must
// not block.
type Target interface {
	SetOffers(now time.Time, offers []cluster.Offer)
	OfferState(namespace, name string) (cluster.OfferState, bool)
}

// Options configure Run.
type Options struct {
	Target Target
	// Class is the name of this installation: registrations for another are ignored.
	Class string
	// Namespaces limit whose registrations are read; all if empty.
	Namespaces []string
	Clock      func() time.Time
	Logger     logr.Logger
}

// Run reads registrations until the context ends. Whatever goes wrong is logged
// when it begins and tried again after at most some five seconds; meanwhile what
// was registered stays so.
func Run(ctx context.Context, cfg *rest.Config, opts Options) {
	manager.Run(ctx, cfg, manager.Options{
		Subject:    "registrations",
		Kinds:      []client.ObjectList{&v1alpha1.EurekaRegistrationList{}},
		Setup:      func(mgr ctrl.Manager) error { return setup(mgr, opts) },
		Namespaces: opts.Namespaces,
		Logger:     opts.Logger,
	})
}

// setup adds one controller that registers and one that writes what became of it:
// a registration never waits for a status.
func setup(mgr ctrl.Manager, opts Options) error {
	changed := make(chan event.TypedGenericEvent[types.NamespacedName])
	d := &decider{
		reader: mgr.GetClient(), target: opts.Target, class: v1alpha1.RegistryClass(opts.Class), clock: opts.Clock, changed: changed,
	}
	w := &statusWriter{client: mgr.GetClient(), about: d.about, target: opts.Target, clock: opts.Clock, log: opts.Logger}
	all := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{}}
	})
	err := ctrl.NewControllerManagedBy(mgr).Named("registrations").
		// Only specs count: the status is what is written here.
		Watches(&v1alpha1.EurekaRegistration{}, all, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(source.Func(decideAtStart)).
		Complete(d)
	if err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).Named("registration-status").
		WatchesRawSource(source.TypedChannel(changed, handler.TypedFuncs[types.NamespacedName, reconcile.Request]{
			GenericFunc: func(
				_ context.Context, e event.TypedGenericEvent[types.NamespacedName], q workqueue.TypedRateLimitingInterface[reconcile.Request],
			) {
				q.Add(reconcile.Request{NamespacedName: e.Object})
			},
		})).
		Complete(w)
}

// decideAtStart asks for a decision that no event asks for: the last registration
// may have been deleted while nobody watched.
func decideAtStart(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	q.Add(reconcile.Request{})
	return nil
}
