package drain

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"

	"github.com/kureka/kureka/controllers/admit"
)

// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=mutatingwebhookconfigurations,resourceNames=kureka,verbs=get;update

// +kubebuilder:rbac:groups="",namespace=kureka-system,resources=services,resourceNames=kureka,verbs=list

// Path is where the API server asks.
const Path = "/mutate-pods"

// sleepSince is the first version of Kubernetes that has the sleep action without
// a feature gate.
const sleepSince = "1.30"

// Limits of the webhook's server. The API server waits for a few seconds at most.
const (
	headerTimeout = 5 * time.Second
	answerTimeout = 10 * time.Second
	maxHeader     = 64 << 10
)

// askEvery is the pause between two attempts to learn the version of Kubernetes.
const askEvery = 2 * time.Second

// Options configure Run.
type Options struct {
	Listener net.Listener
	Client   kubernetes.Interface
	Settings Settings
	Fetching Fetching
	Hold     Hold
	// Others change pods that are being created as well, by the path where the API
	// server asks.
	Others map[string]admit.Mutate
	// CertDir holds tls.crt and tls.key, which somebody else renews and has trusted.
	// They may come late. Empty: a certificate of our own making is used, and
	// Configuration is told.
	CertDir string
	// Configuration is the name of the MutatingWebhookConfiguration, and Names the
	// DNS names by which the API server calls.
	Configuration string
	Names         []string
	Clock         func() time.Time
	Logger        logr.Logger
	// Done is told the outcome of each question. It must not block.
	Done func(outcome string)
}

// Run answers until the context ends. Nothing that goes wrong here stops anything
// else: pods are then created as they are.
func Run(ctx context.Context, opts Options) error {
	defer func() { _ = opts.Listener.Close() }() // a refused connection is the fastest answer
	known, err := opts.version(ctx)
	if err != nil {
		return nil // the end came first
	}
	noSleep := whyNoSleep(known)
	if noSleep != "" {
		opts.Logger.Info("Pods get no sleep", "cause", noSleep)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	get := opts.certificate(ctx, &wg)
	held := &holder{Hold: opts.Hold}
	wg.Go(func() { held.follow(ctx, opts.Client, opts.Logger) })
	srv := &http.Server{
		Handler: opts.handler(held, noSleep), ReadHeaderTimeout: headerTimeout, ReadTimeout: answerTimeout, WriteTimeout: answerTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog:  slog.NewLogLogger(logr.ToSlogHandler(opts.Logger.V(1)), slog.LevelInfo),
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: get, NextProtos: []string{"h2", "http/1.1"}},
	}
	wg.Go(func() {
		<-ctx.Done()
		stopping, stop := context.WithTimeout(context.WithoutCancel(ctx), headerTimeout)
		defer stop()
		_ = srv.Shutdown(stopping) // what is not answered by then is let through by the API server
	})
	if err := srv.ServeTLS(opts.Listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the webhook: %w", err)
	}
	return nil
}

// version asks for the version of Kubernetes until it is known: an old one would
// refuse the pods that were given a sleep.
func (o *Options) version(ctx context.Context) (known string, err error) {
	err = wait.PollUntilContextCancel(ctx, askEvery, true, func(ctx context.Context) (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		info, err := discovery.ToServerVersionInterfaceWithContext(o.Client.Discovery()).ServerVersionWithContext(ctx)
		if err != nil {
			o.Logger.V(1).Info("Cannot read the version of Kubernetes yet", "cause", err.Error())
			return false, nil
		}
		known = info.GitVersion
		return true, nil
	})
	return known, err
}

// whyNoSleep says why pods of a version of Kubernetes cannot sleep, empty if they
// can. A version that cannot be read is some vendor's and new.
func whyNoSleep(gitVersion string) string {
	v, err := version.ParseGeneric(gitVersion)
	if err == nil && v.LessThan(version.MustParseGeneric(sleepSince)) {
		return fmt.Sprintf("Kubernetes %s has no preStop sleep, %s and newer have", gitVersion, sleepSince)
	}
	return ""
}

func (o *Options) handler(held *holder, noSleep string) http.Handler {
	mux := http.NewServeMux()
	i := &injector{settings: o.Settings, fetching: o.Fetching, hold: held, noSleep: noSleep, done: o.Done}
	mux.Handle(Path, admit.Handler(admit.Options{Mutate: i.mutate, Logger: o.Logger, Passed: o.Done}))
	for path, mutate := range o.Others {
		mux.Handle(path, admit.Handler(admit.Options{Mutate: mutate, Logger: o.Logger}))
	}
	return mux
}

// certificate returns where the server gets its certificate from.
func (o *Options) certificate(ctx context.Context, wg *sync.WaitGroup) func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if o.CertDir == "" {
		own := &certificate{names: o.Names, clock: o.Clock}
		wg.Go(func() { own.keep(ctx, o.Client, o.Configuration, o.Logger) })
		return own.get
	}
	mounted := &mounted{dir: o.CertDir, log: o.Logger.WithValues("folder", o.CertDir)}
	wg.Go(func() { mounted.follow(ctx) })
	return mounted.get
}
