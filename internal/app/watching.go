package app

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/controllers"
	"github.com/kureka/kureka/controllers/drain"
	"github.com/kureka/kureka/controllers/policy"
	"github.com/kureka/kureka/controllers/readiness"
	"github.com/kureka/kureka/controllers/registration"
	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/dashboard"
	"github.com/kureka/kureka/internal/gate"
	"github.com/kureka/kureka/internal/hold"
	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/internal/version"
)

// absenceRetry is the pause between two attempts to learn how long the registry
// was away.
const absenceRetry = 2 * time.Second

// watching is the part of the process that needs a cluster. None of it can stop
// the rest.
type watching struct {
	log     logr.Logger
	gate    *gate.Gate
	client  kubernetes.Interface
	canary  controllers.CanaryOptions
	watcher *controllers.Watcher
	events  *controllers.Events
	config  *rest.Config
	policy  policy.Options
	drain   *drain.Options // nil without a webhook
	holds   *hold.Handler
	offers  registration.Options
	release readiness.Options
	metrics *watchMetrics
	deaf    chan struct{}        // the policies are to be read anew
	served  func(last time.Time) // told when the registry was last served before this start
}

func newWatching(a *App) (*watching, error) {
	cfg, err := restConfig(a.opts.Kubeconfig)
	if err != nil {
		return nil, err
	}
	compact := rest.CopyConfig(cfg) // decoding JSON is several times the work
	compact.ContentType, compact.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON
	client, err := kubernetes.NewForConfig(compact)
	if err != nil {
		return nil, fmt.Errorf("building the Kubernetes client: %w", err)
	}
	w := &watching{
		log: a.log.WithName("cluster"), gate: a.gate, client: client, config: cfg,
		canary:  controllers.CanaryOptions{Namespace: a.opts.Namespace, Name: a.opts.CanaryName, Identity: hostname(), ListsFrom: a.gate.ListsFrom},
		events:  controllers.NewEvents(client, hostname(), a.log.WithName("events")),
		metrics: newWatchMetrics(a.metrics), deaf: make(chan struct{}, 1), served: a.checkLoaded,
	}
	w.policy = policy.Options{
		Target: a.cluster, Effective: policy.NewEffective(), Figures: figures{a.reg}, Namespaces: a.opts.WatchNamespaces, Class: a.opts.RegistryClass,
		Mode: v1alpha1.PolicyMode(a.opts.PolicyMode), Clock: time.Now, Logger: a.log.WithName("policy"),
	}
	w.offers = registration.Options{
		Target: a.cluster, Namespaces: a.opts.WatchNamespaces, Class: a.opts.RegistryClass,
		Clock: time.Now, Logger: a.log.WithName("registration"),
	}
	w.release = w.releaseOptions(a)
	w.metrics.registerDropped(a.metrics, w.events.Dropped)
	w.watcher = controllers.NewWatcher(controllers.Options{
		Client: client, Cluster: a.cluster, Namespaces: a.opts.WatchNamespaces, Canary: w.canary,
		Clock: time.Now, Logger: w.log, OnWatchState: w.metrics.state, OnDeaf: w.readResourcesAnew,
	})
	return w, nil
}

// restConfig finds the cluster. The error says where it was looked for.
func restConfig(kubeconfig string) (*rest.Config, error) {
	cfg, err := loadConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	cfg.UserAgent = "kureka/" + version.String()
	cfg.QPS = -1 // the API server's own fairness sets the pace
	// A connection that is dead without a word is noticed after these seconds;
	// client-go reads them from the environment only.
	for name, seconds := range map[string]string{"HTTP2_READ_IDLE_TIMEOUT_SECONDS": "5", "HTTP2_PING_TIMEOUT_SECONDS": "5"} {
		if os.Getenv(name) == "" {
			if err := os.Setenv(name, seconds); err != nil {
				return nil, fmt.Errorf("setting %s: %w", name, err)
			}
		}
	}
	return cfg, nil
}

func loadConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" && os.Getenv("KUBECONFIG") == "" {
		cfg, err := rest.InClusterConfig()
		if err != nil {
			return nil, fmt.Errorf("finding the cluster: no --kubeconfig, no KUBECONFIG, and not running in a pod; "+
				"name a kubeconfig file, or use \"kureka standalone\" to run without a cluster (%w)", err)
		}
		return cfg, nil
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	cfg, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		where := "--kubeconfig " + kubeconfig
		if kubeconfig == "" {
			where = "KUBECONFIG=" + os.Getenv("KUBECONFIG")
		}
		return nil, fmt.Errorf("reading the kubeconfig named by %s: %w", where, err)
	}
	return cfg, nil
}

// figures tells the policies' status how a namespace's leases stand.
type figures struct{ reg *registry.Engine }

// Namespace implements policy.Figures.
func (f figures) Namespace(name string) (leases, expected, received, held int, engaged, ok bool) {
	p, ok := f.reg.Partition(name)
	return p.Leases, int(p.Expected), int(p.Received), p.Held, p.Engaged, ok
}

// states tells people how the watches are doing.
func (w *watching) states() []dashboard.Watch {
	states := w.watcher.States()
	out := make([]dashboard.Watch, 0, len(states))
	for _, s := range states {
		out = append(out, dashboard.Watch{Resource: s.Resource, Synced: s.Synced, Problem: s.Problem})
	}
	slices.SortFunc(out, func(a, b dashboard.Watch) int { return strings.Compare(a.Resource, b.Resource) })
	return out
}

func (w *watching) changed(ch cluster.Change) { w.events.Changed(ch) }

// run watches until the context ends. The canary's age is read before it is
// renewed for the first time, or it would always be young; if it may not be read,
// it is renewed all the same.
func (w *watching) run(ctx context.Context) {
	var wg sync.WaitGroup
	aged := make(chan struct{})
	wg.Go(func() {
		defer close(aged)
		w.learnAbsence(ctx)
	})
	wg.Go(func() { w.events.Run(ctx) })
	wg.Go(func() { w.runDrain(ctx) })
	wg.Go(func() { readiness.Run(ctx, w.release) })
	wg.Go(func() { w.watcher.Run(ctx, aged) })
	wg.Go(func() { w.readResources(ctx) })
	wg.Wait()
}

// readResources reads the custom resources, and all of them anew whenever the watches were deaf:
// theirs go on from the same past.
func (w *watching) readResources(ctx context.Context) {
	for ctx.Err() == nil {
		round, end := context.WithCancel(ctx)
		var wg sync.WaitGroup
		wg.Go(func() { policy.Run(round, w.config, w.policy) })
		wg.Go(func() { registration.Run(round, w.config, w.offers) })
		select {
		case <-ctx.Done():
		case <-w.deaf:
		}
		end()
		wg.Wait()
	}
}

func (w *watching) readResourcesAnew() {
	select {
	case w.deaf <- struct{}{}:
	default:
	}
}

// learnAbsence reads how old the canary is until it is known.
func (w *watching) learnAbsence(ctx context.Context) {
	for {
		absence, err := controllers.ReadAbsence(ctx, w.client, w.canary, w.gate.Opened())
		switch {
		case apierrors.IsForbidden(err):
			w.log.Info("Not allowed to read the canary Lease, so nobody knows how long the registry was away; grant get on leases in its namespace",
				"lease", w.canary.Namespace+"/"+w.canary.Name, "startGate", w.gate.Lasts().String())
			return
		case err == nil:
			w.served(absence.Renewed)
			w.gate.Away(absence.Age, absence.ListsFrom)
			w.log.Info("Learned how long the registry was away", "absence", absence.Age.Round(time.Second).String(), "startGate", w.gate.Lasts().String())
			return
		}
		w.log.V(1).Info("Cannot read the canary Lease yet", "cause", err.Error())
		select {
		case <-ctx.Done():
			return
		case <-time.After(absenceRetry):
		}
	}
}
