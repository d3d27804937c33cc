package cluster

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/internal/verdict"
)

// A restart at any moment of any history shows what was shown, tells of nothing,
// and goes on as if it had not happened.
func TestARestartShowsWhatWasShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &history{t: t, now: time.Unix(1_700_000_000, 0)}
		h.start(nil)
		h.c.SetPodsReadable(h.now, true)
		for range rapid.IntRange(1, 4).Draw(t, "lives") {
			for range rapid.IntRange(1, 30).Draw(t, "steps") {
				h.step()
				h.now = h.now.Add(time.Millisecond)
			}
			h.restart()
			h.check()
		}
		h.end()
	})
}

// start makes a view of a process of its own; observe is told of changes.
func (h *history) start(observe func(Change) time.Duration) {
	policy := registry.DefaultPolicy()
	policy.SelfPreservation = false
	h.reg = registry.New(h.now, registry.Options{Policy: policy})
	h.c = New(h.reg, Options{AllNamespaces: true, Observer: observe})
	h.c.fallback.SelfPreservation = false
}

func (h *history) restart() {
	before := h.shown()
	saved, err := json.Marshal(h.c.Checkpoint(h.now))
	if err != nil {
		h.t.Fatal(err)
	}
	h.now = h.now.Add(time.Duration(rapid.IntRange(1, 600_000).Draw(h.t, "away")) * time.Millisecond)
	var cp Checkpoint
	if err := json.Unmarshal(saved, &cp); err != nil {
		h.t.Fatal(err)
	}
	h.start(func(ch Change) time.Duration { h.t.Fatalf("a restart told of %+v", ch); return 0 })
	catchUp, err := h.c.Restore(h.now, &cp)
	if err != nil {
		h.t.Fatal(err)
	}
	catchUp()
	h.c.opts.Observer = func(Change) time.Duration { return 0 }
	if d := cmp.Diff(before, h.shown(), cmpopts.IgnoreUnexported(registry.Instance{})); d != "" {
		h.t.Fatalf("shown (-before +after):\n%s", d)
	}
	h.firstLists()
}

// firstLists is what the watches deliver after a start.
func (h *history) firstLists() {
	for _, p := range h.pods {
		h.c.ObservePod(h.now, *p)
	}
	for _, known := range h.c.KnownPods() {
		if !slices.ContainsFunc(h.pods, func(p *evidence.Pod) bool { return p.UID == known.UID }) {
			h.c.PodGone(h.now, known.UID)
		}
	}
	h.c.SetPodsReadable(h.now, true)
}

// shown is all that readers see.
func (h *history) shown() map[string]registry.Instance {
	out := map[string]registry.Instance{}
	for i := range h.c.Snapshot().All() {
		out[i.Key().String()] = visible(i)
	}
	for i := range h.c.Snapshot().Changes() {
		out["change of "+i.Key().String()] = visible(i)
	}
	return out
}

func visible(i *registry.Instance) registry.Instance {
	return registry.Instance{
		Status: i.Status, Client: i.Client, Override: i.Override, Verdict: i.Verdict, Action: i.Action, Partition: i.Partition,
		PodUID: i.PodUID, Node: i.Node, Interval: i.Interval, Duration: i.Duration,
		RegisteredMS: i.RegisteredMS, UpdatedMS: i.UpdatedMS, ServiceUpMS: i.ServiceUpMS, EvictedMS: i.EvictedMS,
	}
}

func TestRestore_refusesWhatDoesNotFitTogether(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	key := registry.NewKey("A", "1")
	record := func(pod string) *registry.Checkpoint {
		return &registry.Checkpoint{Instances: []registry.SavedInstance{{
			Record: &registry.Record{App: key.App, ID: key.ID}, Binding: registry.Binding{PodUID: pod},
		}}}
	}
	for name, tc := range map[string]struct {
		cp   Checkpoint
		want string
	}{
		"no registry":              {Checkpoint{}, "no registry"},
		"a binding without record": {Checkpoint{Registry: &registry.Checkpoint{}, Instances: []SavedInstance{{Key: key}}}, "no record"},
		"a record without binding": {Checkpoint{Registry: record("")}, "without a binding"},
		"a pod that is not there":  {Checkpoint{Registry: record("p"), Instances: []SavedInstance{{Key: key, Pod: "p"}}}, "unknown pod"},
		"two answers which pod":    {Checkpoint{Registry: record("p"), Instances: []SavedInstance{{Key: key}}}, "two pods"},
		"kept for nobody": {Checkpoint{
			Registry:  &registry.Checkpoint{Instances: []registry.SavedInstance{{Record: &registry.Record{App: key.App, ID: key.ID}, Kept: true}}},
			Instances: []SavedInstance{{Key: key}},
		}, "kept for no pod"},
		"a pod without UID":         {Checkpoint{Registry: &registry.Checkpoint{}, Pods: []SavedPod{{}}}, "twice"},
		"what the registry refuses": {Checkpoint{Registry: &registry.Checkpoint{Version: -1}}, "out of range"},
		"no interval":               {Checkpoint{Registry: &registry.Checkpoint{}, Policies: SavedPolicies{Namespaces: map[string]SavedPolicy{"x": {}}}}, "interval"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.cp.Policies.Fallback.DefaultInterval == 0 {
				tc.cp.Policies.Fallback = SavedPolicy(verdict.DefaultPolicy())
			}
			c := New(registry.New(now, registry.Options{}), Options{})
			if _, err := c.Restore(now, &tc.cp); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestACheckpointSurvivesItsFormat(t *testing.T) {
	s := newScenario()
	for _, line := range []string{
		"node n1 cidr=10.0.0.0/24 addr=192.0.2.7 taint=x", "pod a-1 uid=a ip=10.0.0.1+fd00::1 node=n1 owner=rs version=7 containers=app:8080:c1:run:3",
		"register APP/a ip=10.0.0.1 from=10.0.0.1 status=UP", "register APP/b ip=192.0.2.1 status=UP", "override APP/b DOWN",
		"register APP/gone ip=192.0.2.2", "cancel APP/gone",
	} {
		if err := s.run(line); err != nil {
			t.Fatal(err)
		}
	}
	cp := s.c.Checkpoint(s.now)
	text, err := json.Marshal(cp)
	if err != nil {
		t.Fatal(err)
	}
	var back Checkpoint
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	same := cmpopts.EquateComparable(netip.Addr{}, netip.AddrPort{}, netip.Prefix{}, evidence.Labels{})
	if d := cmp.Diff(cp, &back, cmpopts.EquateEmpty(), same); d != "" {
		t.Errorf("(-saved +read):\n%s", d)
	}
}

// TestWhoAsksTheViewWaitsUntilItHasCaughtUp has a client register again between the
// two halves of a restoration.
func TestWhoAsksTheViewWaitsUntilItHasCaughtUp(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	addr := netip.MustParseAddr("10.0.0.1")
	before := New(registry.New(now, registry.Options{}), Options{AllNamespaces: true})
	before.ObservePod(now, evidence.Pod{UID: "u", Namespace: "n", Name: "p", Phase: evidence.Running, Ready: true, IPs: []netip.Addr{addr}, Created: now.Add(-time.Hour)})
	rec := &registry.Record{App: "A", ID: "1", IPAddr: "10.0.0.1", Status: registry.Up}
	before.Register(now, addr, rec)

	reg := registry.New(now, registry.Options{})
	after := New(reg, Options{AllNamespaces: true})
	catchUp, err := after.Restore(now, before.Checkpoint(now))
	if err != nil {
		t.Fatal(err)
	}
	if shown := reg.Snapshot().Get(rec.Key()); shown == nil || shown.PodUID != "u" {
		t.Errorf("shown before the view has caught up: %+v", shown)
	}
	registered := make(chan registry.Outcome)
	go func() { registered <- after.Register(now, addr, rec) }()
	catchUp()
	if got := <-registered; got != registry.Done {
		t.Errorf("registered anew: %v", got)
	}
	if got, _ := after.Explain(now, rec.Key()); got.Pod == nil || got.Pod.UID != "u" {
		t.Errorf("bound to %+v, want its pod", got.Pod)
	}
}
