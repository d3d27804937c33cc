package app

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/gate"
	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/internal/snapshotfile"
)

const (
	// snapshotInterval is the least time between two snapshots, and snapshotShare how
	// many times as long as one took the next one waits: in a registry so large that a
	// snapshot takes long, writing, which works half of the time, takes a tenth of one
	// core and no more.
	snapshotInterval = time.Second
	snapshotShare    = 4
	// quietInterval is how often the registry is saved when nothing but the ages of
	// leases has changed. A lease that is too young by this much costs nothing: it is
	// the interval of clients, and one interval is given to every lease anyway.
	quietInterval = 30 * time.Second
	// snapshotRetry is the pause after a failure.
	snapshotRetry = 5 * time.Second
	// snapshotStale is how old the last snapshot may become by failures. After that
	// no start may believe it: whoever came since would be missing.
	snapshotStale = time.Minute
	// startGCPercent lets the heap grow while a snapshot is loaded and the view
	// catches up: nearly everything that is made then stays, so collecting early is
	// work for nothing. GOMEMLIMIT still bounds it.
	startGCPercent = 400
	// outdatedAfter is how much later than the snapshot somebody must have renewed the
	// canary for the snapshot to be somebody else's past.
	outdatedAfter = 2 * time.Minute
)

// keeper writes the snapshot file. It belongs to one goroutine.
type keeper struct {
	file    *snapshotfile.File
	cluster *cluster.Cluster
	gate    *gate.Gate
	log     logr.Logger
	metrics *snapshotMetrics

	revision uint64    // that was saved last
	saved    time.Time // when; zero if never
	next     time.Time // not before
	failing  time.Time // since when writing fails
	aside    bool      // the file of before was set aside, because it was stale
	stuck    bool      // it could not be, which was logged
}

type snapshotMetrics struct {
	saved, took, size prometheus.Gauge
	failures          prometheus.Counter
}

func newSnapshotMetrics(reg prometheus.Registerer) *snapshotMetrics {
	auto := promauto.With(reg)
	return &snapshotMetrics{
		saved: auto.NewGauge(prometheus.GaugeOpts{
			Name: "kureka_snapshot_saved_timestamp_seconds", Help: "When the last snapshot was saved, in Unix time; 0 before the first.",
		}),
		took: auto.NewGauge(prometheus.GaugeOpts{
			Name: "kureka_snapshot_save_seconds", Help: "How long it took to save the last snapshot, with its rests.",
		}),
		size: auto.NewGauge(prometheus.GaugeOpts{
			Name: "kureka_snapshot_bytes", Help: "Size of the last snapshot.",
		}),
		failures: auto.NewCounter(prometheus.CounterOpts{
			Name: "kureka_snapshot_failures_total", Help: "Snapshots that could not be saved.",
		}),
	}
}

// run saves until the context ends.
func (k *keeper) run(ctx context.Context) {
	ticker := time.NewTicker(snapshotInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		k.tick(time.Now())
	}
}

func (k *keeper) tick(now time.Time) {
	k.recall(now)
	if k.due(now) {
		k.save(k.file.SaveGently)
	}
}

// recall takes back what was saved if list reads are refused after all: the registry
// was taken for whole, somebody has served since it was loaded, and a file that this
// process wrote would hide that from the next start.
func (k *keeper) recall(now time.Time) {
	if k.saved.IsZero() || k.gate.Open(now) {
		return
	}
	if k.setAside("it lacks who came while another process served") {
		k.saved = time.Time{}
	}
}

// due reports whether there is something to save. While list reads are refused the
// registry is not whole, and no start may take it for that.
func (k *keeper) due(now time.Time) bool {
	if now.Before(k.next) || !k.gate.Open(now) {
		return false
	}
	return k.saved.IsZero() || k.cluster.Revision() != k.revision || now.Sub(k.saved) >= quietInterval
}

// last saves what the process leaves behind.
func (k *keeper) last() {
	k.recall(time.Now())
	if k.gate.Open(time.Now()) {
		k.save(k.file.Save) // nobody else needs the processor any more
	}
}

// save takes a checkpoint and writes it.
func (k *keeper) save(write func(*cluster.Checkpoint) (int64, error)) {
	start := time.Now()
	revision := k.cluster.Revision()
	size, err := write(k.cluster.Checkpoint(start))
	took := time.Since(start)
	if err != nil {
		k.failed(start, err)
		return
	}
	if !k.failing.IsZero() {
		k.log.Info("Saving the snapshot again", "file", k.file.Path())
	}
	k.revision, k.saved, k.failing, k.aside, k.stuck = revision, start, time.Time{}, false, false
	k.next = start.Add(max(snapshotInterval, (1+snapshotShare)*took))
	k.metrics.saved.Set(float64(start.UnixMilli()) / 1000)
	k.metrics.took.Set(took.Seconds())
	k.metrics.size.Set(float64(size))
}

func (k *keeper) failed(now time.Time, err error) {
	k.metrics.failures.Inc()
	k.next = now.Add(snapshotRetry)
	if k.failing.IsZero() {
		k.failing = now
		k.log.Error(err, "Cannot save the snapshot; trying again, and if it lasts the next start will know nobody", "file", k.file.Path())
	}
	if k.aside || now.Sub(k.failing) < snapshotStale {
		return
	}
	k.aside = k.setAside("it is out of date")
}

// setAside keeps every start from the file on the disk and reports whether that
// worked. It is to be called again until it does.
func (k *keeper) setAside(why string) bool {
	name, err := k.file.SetAside()
	if err != nil {
		if !k.stuck {
			k.log.Error(err, "The snapshot on the disk cannot be set aside; remove it before the next start", "file", k.file.Path(), "why", why)
		}
		k.stuck = true
		return false
	}
	k.stuck = false
	k.log.Info("No start shall use the snapshot on the disk", "why", why, "keptAs", name)
	return true
}

// load builds gate, registry and view, from the snapshot file if there is one that
// can be used. Whatever is wrong with it is told with the cure, and the process
// starts without it.
func (a *App) load(fixed time.Duration) {
	if a.opts.SnapshotFile == "" {
		a.begin(time.Now(), fixed)
		return
	}
	usual := debug.SetGCPercent(startGCPercent)
	if usual < 0 || usual > startGCPercent { // GOGC asks for a lazier one
		debug.SetGCPercent(usual)
	}
	a.catchUp = func() { debug.SetGCPercent(usual) }
	log := a.log.WithName("snapshot")
	file := snapshotfile.New(a.opts.SnapshotFile)
	problem := file.Prepare()
	if problem != nil {
		log.Error(problem, "Cannot write snapshots", "file", file.Path())
	}
	cp, err := file.Load()
	now := time.Now() // not before: nobody was heard while the file was read
	a.begin(now, fixed)
	a.keeper = &keeper{file: file, gate: a.gate, log: log, metrics: newSnapshotMetrics(a.metrics)}
	defer func() { a.keeper.cluster = a.cluster }()
	if err == nil {
		err = a.goOn(now, cp)
	}
	switch _, unusable := errors.AsType[*snapshotfile.UnusableError](err); {
	case errors.Is(err, snapshotfile.ErrNone):
		log.Info("No snapshot yet", "file", file.Path())
	case unusable:
		aside, asideErr := file.SetAside()
		log.Error(errors.Join(err, asideErr), "The snapshot cannot be used; starting without it", "file", file.Path(), "keptAs", aside)
	case err != nil:
		log.Error(err, "The snapshot cannot be read; starting without it", "file", file.Path())
	case problem != nil:
		log.Info("The snapshot was loaded, but nobody can have kept it up to date: list reads wait for clients to come back", "file", file.Path())
	default:
		a.gate.Loaded()
		a.loaded = snapshotfile.Saved(cp)
		log.Info("Goes on from the snapshot", "file", file.Path(), "instances", a.reg.Snapshot().Len(),
			"saved", a.loaded.UTC().Format(time.RFC3339), "age", now.Sub(a.loaded).Round(time.Millisecond).String())
	}
}

// goOn restores registry and view.
func (a *App) goOn(now time.Time, cp *cluster.Checkpoint) error {
	a.observeRestored(cp)
	catchUp, err := a.cluster.Restore(now, cp)
	if err != nil {
		a.build(now)
		return &snapshotfile.UnusableError{Why: err.Error()}
	}
	loaded := a.catchUp
	a.catchUp = func() {
		catchUp()
		loaded()
	}
	return nil
}

// begin makes the gate, from now on, and what it is the gate of.
func (a *App) begin(now time.Time, fixed time.Duration) {
	a.gate = gate.New(now, fixed)
	a.build(now)
}

// build makes an empty registry and an empty view.
func (a *App) build(now time.Time) {
	a.reg = registry.New(now, registry.Options{MaxInstances: a.opts.MaxInstances, Remembered: a.gate.Lasts()})
	a.cluster = cluster.New(a.reg, cluster.Options{
		AllNamespaces: len(a.opts.WatchNamespaces) == 0, Class: a.opts.RegistryClass, Probing: a.probing(), Observer: a.changed,
	})
	a.observeAtFirst(now)
}

// probing reports whether silent nodes are asked by TCP.
func (a *App) probing() bool { return a.opts.Mode == Manager && a.opts.Prober == ProberOn }

// checkLoaded refuses list reads after all if somebody served after the snapshot
// that this process started from was saved, which a canary renewed later shows.
func (a *App) checkLoaded(renewed time.Time) {
	if a.loaded.IsZero() || renewed.Sub(a.loaded) < outdatedAfter {
		return
	}
	a.gate.Outdated()
	a.log.Info("The registry was served after the snapshot was saved: it lacks who came since, so list reads wait for clients to come back",
		"saved", a.loaded.UTC().Format(time.RFC3339), "served", renewed.UTC().Format(time.RFC3339), "flag", "--start-gate")
}
