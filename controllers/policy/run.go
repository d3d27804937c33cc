package policy

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	// Mode is built in instead of Enforce, unless empty.
	Mode v1alpha1.PolicyMode
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

func setup(mgr ctrl.Manager, opts Options) error {
	made := manager.NewDecisions[decision]()
	d := &decider{
		reader: mgr.GetClient(), target: opts.Target, class: v1alpha1.RegistryClass(opts.Class), mode: opts.Mode, clock: opts.Clock, effective: opts.Effective, made: made,
	}
	w := newStatusWriter(mgr.GetClient(), made.About, opts)
	return manager.Pair(mgr, "policies", d, w, made, &v1alpha1.ClusterRegistryPolicy{}, &v1alpha1.RegistryPolicy{})
}
