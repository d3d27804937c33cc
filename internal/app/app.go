package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/consumers"
	"github.com/kureka/kureka/internal/dashboard"
	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/gate"
	"github.com/kureka/kureka/internal/prober"
	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/internal/server"
	"github.com/kureka/kureka/internal/version"
)

const (
	tickInterval    = time.Second
	shutdownTimeout = 10 * time.Second
	journalLength   = 4096 // verdicts waiting to be logged
)

// Main runs a command line until the context ends. Logs go to out, a line of
// JSON each.
func Main(ctx context.Context, args []string, out io.Writer) error {
	opts, err := ParseArgs(args, out)
	switch {
	case errors.Is(err, ErrHelp):
		return nil
	case err != nil:
		return err
	}
	level := slog.Level(-opts.LogLevel)
	log := logr.FromSlogHandler(slog.NewJSONHandler(out, &slog.HandlerOptions{Level: level}))
	klog.SetLogger(log.WithName("client-go"))
	// What that library tells besides errors is for those who debug it.
	ctrllog.SetLogger(log.WithName("controller-runtime").V(1))
	a, err := New(ctx, opts, log)
	if err != nil {
		return err
	}
	return a.Run(ctx)
}

// App is one process of Kureka.
type App struct {
	opts      Options
	log       logr.Logger
	metrics   *prometheus.Registry
	reg       *registry.Engine
	cluster   *cluster.Cluster
	gate      *gate.Gate
	verdict   *verdictMetrics
	consumers *consumers.Tracker
	watch     *watching      // nil when standalone
	prober    *prober.Prober // nil when standalone or switched off
	keeper    *keeper        // nil without a snapshot file
	loaded    time.Time      // when the snapshot was saved that this process goes on from; zero if none
	catchUp   func()         // to be called once, when the registry is served; nil without a snapshot file
	journal   chan cluster.Change

	guard    guard
	servers  []listening
	draining atomic.Bool   // the end has been asked for
	stopping chan struct{} // closed when everybody who waits is to be let go
}

// listening is a server with the listener it will serve.
type listening struct {
	name string
	srv  *http.Server
	l    net.Listener
}

func (s listening) serve() error {
	if s.srv.TLSConfig != nil {
		return s.srv.ServeTLS(s.l, "", "") //nolint:wrapcheck // the caller knows more
	}
	return s.srv.Serve(s.l) //nolint:wrapcheck // the caller knows more
}

// New opens the listeners and builds everything, but serves nothing before Run.
// The caller must call Run if there is no error.
func New(ctx context.Context, opts Options, log logr.Logger) (*App, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	a := &App{opts: opts, log: log, metrics: prometheus.NewRegistry(), journal: make(chan cluster.Change, journalLength), stopping: make(chan struct{})}
	err := a.listen(ctx)
	if err == nil {
		err = a.assemble(ctx)
	}
	if err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

// assemble builds what is served at the addresses.
func (a *App) assemble(ctx context.Context) error {
	fixed, err := a.opts.gate()
	if err != nil {
		return err
	}
	a.verdict = newVerdictMetrics(a.metrics)
	a.load(fixed)
	a.followConsumers()
	if a.probing() {
		a.prober = prober.New(prober.Options{
			Tell: func(r evidence.Probed) { a.cluster.Probed(time.Now(), r) }, Registerer: a.metrics,
		})
	}
	registerRegistryMetrics(a.metrics, a.reg, a.cluster)
	if a.opts.Mode == Manager {
		if a.watch, err = newWatching(a); err != nil {
			return err
		}
	} else {
		a.gate.Away(0, time.Time{})
	}
	if err := a.equip(); err != nil {
		return err
	}
	if a.watch == nil {
		return nil
	}
	a.watch.holds = a.holdPods(a.watch)
	return a.watch.listenForDrain(ctx, a)
}

// changed is told of every verdict, with the cluster's lock held: a slow log must
// not hold up the next death.
func (a *App) changed(ch cluster.Change) time.Duration {
	took := time.Since(ch.At)
	a.verdict.changed(ch, took)
	select {
	case a.journal <- ch:
	default:
		a.verdict.unlogged.Inc()
	}
	if a.watch != nil {
		a.watch.changed(ch)
	}
	return took
}

// The servers, by the names that logs tell them by.
const apiServer, metricsServer, probesServer = "Eureka API", "metrics", "probes"

// listen opens the addresses, before any file is touched: a second process that is
// started by mistake ends here and leaves the snapshot of the first one alone.
func (a *App) listen(ctx context.Context) error {
	for _, s := range []struct{ name, flag, addr string }{
		{apiServer, "registry-bind-address", a.opts.RegistryAddr},
		{metricsServer, "metrics-bind-address", a.opts.MetricsAddr},
		{probesServer, "health-probe-bind-address", a.opts.ProbeAddr},
	} {
		l, err := listenOn(ctx, s.name, s.flag, s.addr)
		if err != nil {
			return err
		}
		if l != nil {
			a.servers = append(a.servers, listening{name: s.name, l: l})
		}
	}
	return nil
}

// equip gives every listener its server.
func (a *App) equip() error {
	proxies, err := prefixes("trusted-proxies", a.opts.TrustedProxies)
	if err != nil {
		return err
	}
	peers, err := prefixes("replication-peers", a.opts.ReplicationPeers)
	if err != nil {
		return err
	}
	api, err := server.New(server.Options{
		Registry: a.cluster, Clock: time.Now, Gate: a.gate.Open, Logger: a.log.WithName("server"),
		Registerer: a.metrics, TrustedProxies: proxies, Peers: peers, Prefixes: a.opts.basePaths(), Fetched: a.consumers.Fetched,
	})
	if err != nil {
		return err
	}
	if a.guard, err = newGuard(&a.opts, a.log, a.metrics); err != nil {
		return err
	}
	limits := server.Limits{MaxConnections: a.opts.connections(openFiles())}
	if limits.MaxConnections < a.opts.MaxConnections {
		a.log.Info("The limit on open files bounds the connections", "connections", limits.MaxConnections, "flag", "--max-connections")
	}
	public, err := server.NewHTTPServer(a.untilDrained(a.withDashboard(api)), limits, a.metrics)
	if err != nil {
		return err
	}
	a.guard.protect(public)
	public.Handler = a.withHolds(public.Handler)
	all := map[string]*http.Server{apiServer: public, metricsServer: smallServer(metricsHandler(a.metrics)), probesServer: smallServer(a.probes())}
	for i := range a.servers {
		s := &a.servers[i]
		s.srv = all[s.name]
		s.srv.ErrorLog = slog.NewLogLogger(logr.ToSlogHandler(a.log.WithName(s.name).V(1)), slog.LevelInfo)
	}
	return nil
}

// withDashboard puts the answers for people beside the API. The path is compared
// as it came: a multiplexer would redirect what clients send.
func (a *App) withDashboard(api http.Handler) http.Handler {
	if a.opts.Dashboard == DashboardOff {
		return api
	}
	opts := dashboard.Options{
		View: a.cluster, Registry: a.reg, Consumers: a.consumers, Clock: time.Now, Logger: a.log.WithName("dashboard"),
		Started: a.gate.Opened(), ListsFrom: a.gate.ListsFrom, Stopping: a.stopping,
	}
	if a.watch != nil {
		opts.Watches = a.watch.states
	}
	people := dashboard.New(opts)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if dashboard.Answers(r) {
			people.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}

// explainListen says what to do about an address that cannot be had.
func explainListen(err error, flag, addr string) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s is in use by another process: stop it, or choose another address with --%s", addr, flag)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("not allowed to bind %s: choose a port above 1023 with --%s", addr, flag)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("this machine has no address %s: choose another with --%s", addr, flag)
	}
	return err
}

// Addr returns the address of the Eureka API.
func (a *App) Addr() net.Addr { return a.servers[0].l.Addr() }

// Run serves until the context ends, and then on for the shutdown delay: everything
// is answered and watched while whoever sends requests learns that it is not to.
// Then requests in progress may finish. Nothing is cancelled at the end: clients
// will renew with the next process.
func (a *App) Run(ctx context.Context) error {
	a.log.Info("Starting", "version", version.String(), "mode", a.opts.Mode)
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var wg sync.WaitGroup
	failed := make(chan error, len(a.servers))
	for _, s := range a.servers {
		a.log.Info("Listening", "for", s.name, "address", s.l.Addr().String())
		wg.Go(func() {
			if err := s.serve(); !errors.Is(err, http.ErrServerClosed) {
				failed <- fmt.Errorf("serving the %s: %w", s.name, err)
			}
		})
	}
	a.announceGate()
	if a.catchUp != nil {
		wg.Go(a.catchUp)
	}
	a.start(work, &wg)
	var err error
	select {
	case <-ctx.Done():
		err = a.drain(failed)
	case err = <-failed:
	}
	a.log.Info("Stopping")
	close(a.stopping)
	a.shutdown(work)
	cancel()
	wg.Wait()
	if a.keeper != nil {
		a.keeper.last()
	}
	return err
}

// start runs what goes on beside the answers.
func (a *App) start(ctx context.Context, wg *sync.WaitGroup) {
	wg.Go(func() { a.tick(ctx) })
	wg.Go(func() { a.tickConsumers(ctx) })
	wg.Go(func() { a.writeJournal(ctx) })
	for _, follow := range a.guard.loops() {
		wg.Go(func() { follow(ctx) })
	}
	if a.watch != nil {
		wg.Go(func() { a.watch.run(ctx) })
	}
	if a.keeper != nil {
		wg.Go(func() { a.keeper.run(ctx) })
	}
}

// drain goes on serving for the shutdown delay. Readiness is refused meanwhile, and
// every answer asks its client to connect anew for the next question.
func (a *App) drain(failed <-chan error) error {
	a.draining.Store(true)
	if a.opts.ShutdownDelay == 0 {
		return nil
	}
	a.log.Info("Draining: not ready any more, and serving on", "for", a.opts.ShutdownDelay.String(), "flag", "--shutdown-delay")
	timer := time.NewTimer(a.opts.ShutdownDelay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case err := <-failed:
		return err
	}
}

func (a *App) announceGate() {
	if d := a.gate.Lasts(); d > 0 {
		a.log.Info("Refusing list reads for a while, so that clients keep what they have until everybody has come back",
			"for", d.String(), "flag", "--start-gate")
	}
}

// shutdown closes the listeners and lets requests in progress finish. One that
// takes too long, a client that reads a list slowly for example, is cut off: that is
// no failure of this process.
func (a *App) shutdown(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, shutdownTimeout)
	defer cancel()
	for _, s := range a.servers {
		if err := s.srv.Shutdown(ctx); err != nil {
			a.log.Info("Cutting off requests that take too long", "server", s.name, "waited", shutdownTimeout.String())
			_ = s.srv.Close() // the listener is closed already
		}
	}
}

// close ends an app that is not run.
func (a *App) close() {
	for _, s := range a.servers {
		_ = s.l.Close() // it has served nothing
	}
	if a.catchUp != nil {
		a.catchUp() // or the view stays locked and the collector lazy
	}
}

// writeJournal logs every verdict.
func (a *App) writeJournal(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			for len(a.journal) > 0 {
				a.logVerdict(<-a.journal)
			}
			return
		case ch := <-a.journal:
			a.logVerdict(ch)
		}
	}
}

func (a *App) logVerdict(ch cluster.Change) {
	a.log.Info("Verdict", "app", ch.Key.App, "id", ch.Key.ID, "effect", ch.Effect, "reason", ch.Reason, "class", ch.Class.String(),
		"witness", ch.Witness, "confirmed", ch.Confirmed, "detail", ch.Detail, "namespace", ch.Namespace, "pod", ch.Pod, "node", ch.Node)
}

// tick lets time pass in the registry.
func (a *App) tick(ctx context.Context) {
	ticker := time.NewTicker(tickInterval)
	defer ticker.Stop()
	fresh := a.cluster.Fresh()
	for {
		select {
		case <-ctx.Done():
			if a.prober != nil {
				a.prober.Wait()
			}
			return
		case <-ticker.C:
		}
		ticked := a.cluster.Tick(time.Now())
		if a.prober != nil {
			a.prober.Ask(ctx, a.cluster.Probes(time.Now()))
		}
		for _, gone := range ticked.Evicted {
			a.log.Info("Evicted: its lease expired", "app", gone.Key.App, "id", gone.Key.ID, "namespace", gone.Partition)
		}
		for _, t := range ticked.Transitions {
			msg := "Self-preservation ended"
			if t.Engaged {
				msg = "Self-preservation holds leases: too many renewals are missing"
			}
			a.log.Info(msg, "namespace", t.Partition, "expectedPerMinute", t.Expected, "receivedPerMinute", t.Received)
		}
		if now := a.cluster.Fresh(); now != fresh {
			fresh = now
			a.log.Info("The view of the cluster changed", "fresh", fresh)
		}
	}
}

// hostname names this process in Leases and Events.
func hostname() string {
	if name, err := os.Hostname(); err == nil {
		return name
	}
	return product
}
