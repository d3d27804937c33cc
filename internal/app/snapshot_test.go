package app

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/gate"
	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/internal/snapshotfile"
)

// kept are the options of an app with a snapshot file and the automatic gate.
func kept(path string) Options {
	o := options(Standalone)
	o.SnapshotFile, o.StartGate = path, GateAuto
	return o
}

// leave makes a snapshot with one instance, as a process leaves it.
func leave(t *testing.T, path string) {
	t.Helper()
	o := kept(path)
	o.StartGate = GateOff
	a, stop := start(t, o)
	if code, _ := ask(t, a.Addr(), http.MethodPost, "/eureka/apps/DEMO", demoBody("a", "192.0.2.10")); code != http.StatusNoContent {
		t.Fatalf("registering: %d", code)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
}

func TestAStartGoesOnFromTheSnapshot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registry.snapshot")
	leave(t, path)
	a, _ := start(t, kept(path))
	if code, body := ask(t, a.Addr(), http.MethodGet, "/eureka/apps", ""); code != http.StatusOK || !strings.Contains(body, "UP_1_") {
		t.Errorf("the list at once: %d %s", code, body)
	}
	if code, _ := ask(t, a.Addr(), http.MethodPut, "/eureka/apps/DEMO/a", ""); code != http.StatusOK {
		t.Errorf("a heartbeat: %d", code)
	}
}

// loudly starts an app and returns what it logged so far.
func loudly(t *testing.T, o Options) (*App, string) {
	t.Helper()
	var log safeBuffer
	a, err := New(t.Context(), o, logr.FromSlogHandler(slog.NewJSONHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.close)
	return a, log.String()
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func TestAFileThatCannotBeUsedIsSetAsideAndListsWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registry.snapshot")
	leave(t, path)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"empty": {}, "cut": good[:len(good)/2], "damaged": append(bytes.Clone(good[:len(good)-1]), good[len(good)-1]^1),
		"newer": bytes.Replace(good, []byte("snapshot 1.0"), []byte("snapshot 7.0"), 1),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "registry.snapshot")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			a, log := loudly(t, kept(path))
			if a.gate.Open(time.Now()) || a.reg.Snapshot().Len() != 0 {
				t.Errorf("lists are answered with %d instances", a.reg.Snapshot().Len())
			}
			if !strings.Contains(log, "cannot be used") {
				t.Errorf("nothing about it in %s", log)
			}
			if kept, err := os.ReadFile(path + ".unusable"); err != nil || !bytes.Equal(kept, content) {
				t.Errorf("it was not kept: %v", err)
			}
		})
	}
}

func TestAPlaceThatCannotHoldASnapshotStopsNobody(t *testing.T) {
	dir := t.TempDir()
	for name, tc := range map[string]struct{ path, says string }{
		"a folder":       {dir, "name a file in it"},
		"no such folder": {filepath.Join(dir, "none", "x"), "make it, or mount a volume there"},
	} {
		t.Run(name, func(t *testing.T) {
			a, log := loudly(t, kept(tc.path))
			if a.gate.Open(time.Now()) {
				t.Error("lists are answered")
			}
			if !strings.Contains(log, tc.says) {
				t.Errorf("no %q in %s", tc.says, log)
			}
			a.keeper.failed(time.Now(), errors.New("x"))
			a.keeper.failed(time.Now().Add(2*snapshotStale), errors.New("x")) // and nothing is set aside
		})
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Errorf("the folder is gone: %v", err)
	}
}

// newKeeper returns a keeper over a registry with one instance.
func newKeeper(t *testing.T, path string, g *gate.Gate) *keeper {
	t.Helper()
	now := time.Now()
	reg := registry.New(now, registry.Options{})
	c := cluster.New(reg, cluster.Options{})
	reg.Register(now, registry.Caller{}, &registry.Record{App: "A", ID: "1"}, registry.Binding{})
	return &keeper{file: snapshotfile.New(path), cluster: c, gate: g, log: logr.Discard(), metrics: newSnapshotMetrics(prometheus.NewRegistry())}
}

func TestASnapshotIsDueOnChangeAndNowAndThen(t *testing.T) {
	now := time.Now()
	k := newKeeper(t, filepath.Join(t.TempDir(), "x"), gate.New(now, 0))
	want := func(what string, after time.Duration, want bool) {
		t.Helper()
		if got := k.due(now.Add(after)); got != want {
			t.Errorf("%s: due is %v", what, got)
		}
	}
	want("the first", 0, true)
	k.revision, k.saved, k.next = k.cluster.Revision(), now, now.Add(time.Second)
	want("nothing changed", 2*time.Second, false)
	want("leases have aged", quietInterval, true)
	k.revision--
	want("a change", 2*time.Second, true)
	want("a change right after", 500*time.Millisecond, false)
}

// A registry that waits for clients to come back is not whole.
func TestNothingIsSavedWhileListsAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	k := newKeeper(t, path, gate.New(time.Now(), -1))
	if k.due(time.Now()) {
		t.Error("due")
	}
	k.last()
	if _, err := os.Stat(path); err == nil {
		t.Error("saved at the end")
	}
}

func TestAStaleSnapshotIsSetAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	k := newKeeper(t, path, gate.New(time.Now(), 0))
	k.save(k.file.Save)
	now := time.Now()
	k.failed(now, syscall.ENOSPC)
	k.failed(now.Add(snapshotStale/2), syscall.ENOSPC)
	if _, err := os.Stat(path); err != nil {
		t.Errorf("gone too early: %v", err)
	}
	k.failed(now.Add(snapshotStale), syscall.ENOSPC)
	if _, err := k.file.Load(); !errors.Is(err, snapshotfile.ErrNone) {
		t.Errorf("a start would find %v", err)
	}
	k.save(k.file.Save)
	if _, err := k.file.Load(); err != nil || !k.failing.IsZero() || k.aside {
		t.Errorf("when it works again: %v", err)
	}
}

// Where it cannot be moved, that is said once, and tried until it can be.
func TestAStaleSnapshotThatCannotBeSetAsideIsTriedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	inTheWay := filepath.Join(path+".unusable", "full")
	if err := os.MkdirAll(inTheWay, 0o700); err != nil {
		t.Fatal(err)
	}
	var log safeBuffer
	k := newKeeper(t, path, gate.New(time.Now(), 0))
	k.log = logr.FromSlogHandler(slog.NewJSONHandler(&log, nil))
	k.save(k.file.Save)
	now := time.Now()
	for range 3 {
		k.failed(now, syscall.EROFS)
		now = now.Add(snapshotStale)
	}
	if n := strings.Count(log.String(), "cannot be set aside"); n != 1 || k.aside {
		t.Errorf("said %d times, aside is %v: %s", n, k.aside, log.String())
	}
	if err := os.RemoveAll(path + ".unusable"); err != nil {
		t.Fatal(err)
	}
	k.failed(now, syscall.EROFS)
	if _, err := k.file.Load(); !errors.Is(err, snapshotfile.ErrNone) || !k.aside {
		t.Errorf("a start would find %v", err)
	}
}

// What was saved before it showed that somebody had served since looks as young as
// the whole registry would.
func TestASnapshotThatWasSavedTooEarlyIsTakenBack(t *testing.T) {
	for name, later := range map[string]func(*keeper){
		"at the next tick": func(k *keeper) { k.tick(time.Now().Add(snapshotInterval)) },
		"at the end":       (*keeper).last,
	} {
		t.Run(name, func(t *testing.T) {
			g := gate.New(time.Now(), -1)
			k := newKeeper(t, filepath.Join(t.TempDir(), "x"), g)
			g.Loaded()
			k.tick(time.Now())
			if _, err := k.file.Load(); err != nil {
				t.Fatalf("nothing was saved: %v", err)
			}
			g.Outdated()
			later(k)
			if _, err := k.file.Load(); !errors.Is(err, snapshotfile.ErrNone) {
				t.Errorf("a start would find %v", err)
			}
			if whole := g.ListsFrom(); !k.due(whole) {
				t.Error("nothing is due once lists are answered")
			}
		})
	}
}

// A file that this process only read says itself how old it is.
func TestASnapshotThatTurnsOutToBeOutdatedIsKeptUntilItIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registry.snapshot")
	leave(t, path)
	a, _ := loudly(t, kept(path))
	a.checkLoaded(a.loaded.Add(outdatedAfter))
	a.keeper.tick(time.Now())
	if _, err := a.keeper.file.Load(); err != nil {
		t.Errorf("a start would find %v", err)
	}
}

func TestASecondProcessLeavesTheSnapshotAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registry.snapshot")
	first, _ := start(t, kept(path))
	writing := filepath.Join(filepath.Dir(path), ".registry.snapshot.tmp-1")
	if err := os.WriteFile(writing, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o := kept(path)
	o.RegistryAddr = first.Addr().String()
	if _, err := New(t.Context(), o, logr.Discard()); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("the second one: %v", err)
	}
	if _, err := os.Stat(writing); err != nil {
		t.Errorf("what the first one writes is gone: %v", err)
	}
}

func TestASnapshotOfSomebodyElsesPastIsNotTheWholeRegistry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "registry.snapshot")
	leave(t, path)
	a, _ := loudly(t, kept(path))
	for _, tc := range []struct {
		renewed time.Time
		open    bool
	}{
		{time.Time{}, true}, // there is no canary
		{a.loaded.Add(-time.Hour), true},
		{a.loaded.Add(quietInterval), true},
		{a.loaded.Add(outdatedAfter), false},
	} {
		a.checkLoaded(tc.renewed)
		if got := a.gate.Open(time.Now()); got != tc.open {
			t.Errorf("canary renewed %s after the snapshot: lists are answered is %v", tc.renewed.Sub(a.loaded), got)
		}
	}
	a.gate.Away(0, time.Time{})
	if d := a.gate.Lasts(); d != 45*time.Second {
		t.Errorf("then the gate lasts %s", d)
	}
}

// Whoever asks while the process drains is answered, told to connect anew, and told
// by readiness to go elsewhere.
func TestTheEndIsAnnounced(t *testing.T) {
	a, _ := start(t, options(Standalone))
	if status, closes := get(t, a, "/eureka/apps"); status != http.StatusOK || closes {
		t.Errorf("before: %d, closes is %v", status, closes)
	}
	a.draining.Store(true)
	if status, closes := get(t, a, "/eureka/apps"); status != http.StatusOK || !closes {
		t.Errorf("while draining: %d, closes is %v", status, closes)
	}
	if status, _ := ask(t, a.servers[2].l.Addr(), http.MethodGet, "/readyz", ""); status != http.StatusServiceUnavailable {
		t.Errorf("ready: %d", status)
	}
	if status, _ := ask(t, a.servers[2].l.Addr(), http.MethodGet, "/healthz", ""); status != http.StatusOK {
		t.Errorf("alive: %d", status)
	}
}

// get returns the status, and whether the server closes the connection.
func get(t *testing.T, a *App, path string) (status int, closes bool) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+a.Addr().String()+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := web.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Close
}
