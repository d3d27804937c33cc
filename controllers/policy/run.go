package policy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kureka/kureka/api/v1alpha1"
)

// +kubebuilder:rbac:groups=kureka.dev,resources=clusterregistrypolicies;registrypolicies,verbs=list;watch
// +kubebuilder:rbac:groups=kureka.dev,resources=clusterregistrypolicies/status;registrypolicies/status,verbs=patch

const (
	// probeTimeout is how long the API server has for the first look.
	probeTimeout = 10 * time.Second
	// syncTimeout is how long a first list may take; it is long, because watches
	// try again by themselves.
	syncTimeout = time.Hour
)

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
	// What the library tells besides errors is for those who debug it.
	ctrl.SetLogger(opts.Logger.V(1))
	complain := &complaint{log: opts.Logger}
	backoff := wait.Backoff{Duration: 250 * time.Millisecond, Factor: 2, Jitter: 0.1, Steps: 100, Cap: 5 * time.Second}
	_ = backoff.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		if err := runOnce(ctx, cfg, opts, complain); err != nil && ctx.Err() == nil {
			complain.about(err)
		}
		return false, nil
	})
}

func runOnce(ctx context.Context, cfg *rest.Config, opts Options, complain *complaint) error {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return fmt.Errorf("registering the custom resources: %w", err)
	}
	if err := probe(ctx, cfg, scheme, opts.Namespaces); err != nil {
		return err
	}
	complain.settle()
	namespaces := make(map[string]cache.Config, len(opts.Namespaces))
	for _, name := range opts.Namespaces {
		namespaces[name] = cache.Config{}
	}
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:  scheme,
		Logger:  opts.Logger.V(1),
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache: cache.Options{
			DefaultNamespaces: namespaces,
			DefaultTransform:  cache.TransformStripManagedFields(),
			DefaultWatchErrorHandler: func(_ context.Context, _ *toolscache.Reflector, err error) {
				if !endsNormally(err) {
					complain.about(fmt.Errorf("watching policies: %w", err))
				}
			},
		},
		Controller: config.Controller{CacheSyncTimeout: syncTimeout, SkipNameValidation: new(true)},
	})
	if err != nil {
		return fmt.Errorf("making the manager of policies: %w", err)
	}
	if err := setup(mgr, opts); err != nil {
		return fmt.Errorf("setting up the controllers of policies: %w", err)
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("running the controllers of policies: %w", err)
	}
	return nil
}

// endsNormally reports whether a watch ended as every watch does sooner or later.
func endsNormally(err error) bool {
	return errors.Is(err, io.EOF) || apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
}

// probe reads both kinds once. Watches would wait for a missing kind as well, but
// look for it more seldom and say so every time.
func probe(ctx context.Context, cfg *rest.Config, scheme *runtime.Scheme, namespaces []string) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	api, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("making the client for policies: %w", err)
	}
	if err := api.List(ctx, &v1alpha1.ClusterRegistryPolicyList{}, client.Limit(1)); err != nil {
		return fmt.Errorf("reading cluster policies: %w", err)
	}
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	for _, ns := range namespaces {
		if err := api.List(ctx, &v1alpha1.RegistryPolicyList{}, client.InNamespace(ns), client.Limit(1)); err != nil {
			return fmt.Errorf("reading the policies of namespaces: %w", err)
		}
	}
	return nil
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

// complaint logs an error when it begins and not again while it lasts.
type complaint struct {
	log  logr.Logger
	mu   sync.Mutex
	last string
}

func (c *complaint) about(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kind := kindOf(err)
	if kind == c.last {
		return
	}
	c.last = kind
	if kind == missing {
		c.log.Info("The custom resources are not installed, the built-in policy is in force. " +
			"They are used as soon as they are: kubectl apply -k config/crd")
		return
	}
	c.log.Error(err, "Cannot read the policies, what was in force stays so")
}

// settle makes the next error one that begins.
func (c *complaint) settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = ""
}

// Kinds of errors; others are named by their reason at the API server.
const (
	missing = "missing"
	other   = "other"
)

func kindOf(err error) string {
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return missing
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return string(status.Status().Reason)
	}
	return other
}
