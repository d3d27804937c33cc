package manager

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kureka/kureka/api/v1alpha1"
)

const (
	// probeTimeout is how long the API server has for the first look.
	probeTimeout = 10 * time.Second
	// syncTimeout is how long a first list may take; it is long, because watches
	// try again by themselves.
	syncTimeout = time.Hour
)

// Options configure Run.
type Options struct {
	// Subject is what the kinds are called in logs, in the plural.
	Subject string
	// Kinds are the lists that must be readable before anything starts.
	Kinds []client.ObjectList
	// Setup adds the reconcilers. It is called once for every start.
	Setup func(ctrl.Manager) error
	// Namespaces limit what is read; all if empty.
	Namespaces []string
	Logger     logr.Logger
}

// Run runs the reconcilers until the context ends. Whatever goes wrong is logged
// when it begins and tried again after at most some five seconds; meanwhile what
// was in force stays in force.
func Run(ctx context.Context, cfg *rest.Config, opts Options) {
	complain := &complaint{log: opts.Logger, subject: opts.Subject}
	backoff := wait.Backoff{Duration: 250 * time.Millisecond, Factor: 2, Jitter: 0.1, Steps: 100, Cap: 5 * time.Second}
	_ = backoff.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		if err := runOnce(ctx, cfg, opts, complain); err != nil && ctx.Err() == nil {
			complain.about(time.Now(), err)
		}
		return false, nil
	})
}

func runOnce(ctx context.Context, cfg *rest.Config, opts Options, complain *complaint) error {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return fmt.Errorf("registering the custom resources: %w", err)
	}
	if err := probe(ctx, cfg, scheme, opts); err != nil {
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
					complain.about(time.Now(), fmt.Errorf("watching %s: %w", opts.Subject, err))
				}
			},
		},
		Controller: config.Controller{CacheSyncTimeout: syncTimeout, SkipNameValidation: new(true)},
	})
	if err != nil {
		return fmt.Errorf("making the manager of %s: %w", opts.Subject, err)
	}
	if err := opts.Setup(mgr); err != nil {
		return fmt.Errorf("setting up the controllers of %s: %w", opts.Subject, err)
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("running the controllers of %s: %w", opts.Subject, err)
	}
	return nil
}

// endsNormally reports whether a watch ended as every watch does sooner or later.
func endsNormally(err error) bool {
	return errors.Is(err, io.EOF) || apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
}

// probe reads every kind once. Watches would wait for a missing kind as well, but
// look for it more seldom and say so every time.
func probe(ctx context.Context, cfg *rest.Config, scheme *runtime.Scheme, opts Options) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	api, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("making the client for %s: %w", opts.Subject, err)
	}
	namespaces := opts.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	for _, kind := range opts.Kinds {
		for _, ns := range namespaces {
			if err := api.List(ctx, kind, client.InNamespace(ns), client.Limit(1)); err != nil {
				return fmt.Errorf("reading %s: %w", opts.Subject, err)
			}
		}
	}
	return nil
}
