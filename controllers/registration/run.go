package registration

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/controllers/manager"
	"github.com/kureka/kureka/internal/cluster"
)

// +kubebuilder:rbac:groups=kureka.dev,resources=eurekaregistrations,verbs=list;watch
// +kubebuilder:rbac:groups=kureka.dev,resources=eurekaregistrations/status,verbs=patch

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

func setup(mgr ctrl.Manager, opts Options) error {
	made := manager.NewDecisions[decision]()
	d := &decider{reader: mgr.GetClient(), target: opts.Target, class: v1alpha1.RegistryClass(opts.Class), clock: opts.Clock, made: made}
	w := &statusWriter{
		client: mgr.GetClient(), about: made.About, target: opts.Target, clock: opts.Clock,
		outcome: manager.Written{Log: opts.Logger, Failed: "Cannot write the status of registrations; pods are registered all the same"},
	}
	return manager.Pair(mgr, "registrations", d, w, made, &v1alpha1.EurekaRegistration{})
}
