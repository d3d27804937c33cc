package dashboard_test

import (
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/dashboard"
	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/internal/verdict"
)

// trial is a view that only observes: one pod is found gone and heartbeats for a
// minute more, another is deleting.
func trial(t *testing.T) http.Handler {
	t.Helper()
	engine := registry.New(noon, registry.Options{})
	c := cluster.New(engine, cluster.Options{})
	policy := verdict.DefaultPolicy()
	policy.Observe = true
	c.SetPolicies(noon, policy, map[string]verdict.Policy{"shop": policy})
	c.SetPodsReadable(noon, true)
	for i, name := range []string{"a", "b"} {
		ip := netip.AddrFrom4([4]byte{192, 0, 2, byte(10 + i)})
		p := evidence.Pod{UID: "u-" + name, Namespace: "shop", Name: name, IPs: []netip.Addr{ip}, Phase: evidence.Running, Created: noon}
		c.ObservePod(noon, p)
		c.Register(noon, ip, &registry.Record{App: "DEMO", ID: name, IPAddr: ip.String()})
	}
	c.PodGone(noon.Add(time.Second), "u-a")
	c.ObservePod(noon.Add(30*time.Second), evidence.Pod{
		UID: "u-b", Namespace: "shop", Name: "b", IPs: []netip.Addr{netip.MustParseAddr("192.0.2.11")},
		Phase: evidence.Running, Created: noon, Deleting: true,
	})
	c.Renew(noon.Add(time.Minute), netip.MustParseAddr("192.0.2.10"), registry.NewKey("DEMO", "a"), registry.Beat{})
	c.Tick(noon.Add(time.Minute))
	return dashboard.New(dashboard.Options{View: c, Registry: engine, Clock: func() time.Time { return noon.Add(2 * time.Minute) }})
}

func TestTheObserveReportSumsUpAndTellsEachFinding(t *testing.T) {
	h := trial(t)
	tests := map[string]struct {
		reasons  []any
		findings int
	}{
		"": {[]any{
			map[string]any{"reason": "PodGone", "effect": "would-remove", "class": "proof", "found": 1.0, "contradicted": 1.0, "withdrawn": 0.0, "confirmed": 0.0},
			map[string]any{"reason": "PodDeleting", "effect": "would-take-out", "class": "ending", "found": 1.0, "contradicted": 0.0, "withdrawn": 0.0, "confirmed": 0.0},
		}, 2},
		"?since=95s": {[]any{
			map[string]any{"reason": "PodDeleting", "effect": "would-take-out", "class": "ending", "found": 1.0, "contradicted": 0.0, "withdrawn": 0.0, "confirmed": 0.0},
		}, 1},
		"?since=2026-11-29T12:10:00Z": {[]any{}, 0},
		"?namespace=other":            {[]any{}, 0},
	}
	for query, want := range tests {
		code, doc := get(t, h, "/kureka/v1/observe"+query)
		if d := cmp.Diff(any(want.reasons), doc["reasons"]); code != http.StatusOK || d != "" {
			t.Errorf("%q: %d (-want +got)\n%s", query, code, d)
		}
		if list, _ := doc["findings"].([]any); len(list) != want.findings {
			t.Errorf("%q: %d findings, want %d", query, len(list), want.findings)
		}
	}
	_, doc := get(t, h, "/kureka/v1/observe?limit=1")
	list, _ := doc["findings"].([]any)
	if len(list) != 1 || at(list[0], "id") != "b" || at(list[0], "outcome") != nil {
		t.Errorf("the newest is %v", list)
	}
	_, doc = get(t, h, "/kureka/v1/observe")
	list, _ = doc["findings"].([]any)
	if at(list[1], "outcome") != "contradicted" || at(list[1], "settledAt") != "2026-11-29T12:01:00Z" {
		t.Errorf("the one that heartbeated is %v", list[1])
	}
	for _, query := range []string{"?since=yesterday", "?since=-1h", "?limit=0", "?reason=PodGone"} {
		if code, _ := get(t, h, "/kureka/v1/observe"+query); code != http.StatusBadRequest {
			t.Errorf("%q: %d", query, code)
		}
	}
}

func TestAnExplanationTellsThePolicyAndTheLastChanges(t *testing.T) {
	_, doc := get(t, trial(t), "/kureka/v1/instances/DEMO/b")
	if at(doc, "policy", "source") != "RegistryPolicy" || at(doc, "policy", "mode") != "Observe" || at(doc, "policy", "unreachableAfterSeconds") != 20.0 {
		t.Errorf("policy: %v", doc["policy"])
	}
	list, _ := doc["changes"].([]any)
	if len(list) != 1 || at(list[0], "effect") != "would-take-out" || at(list[0], "tookMilliseconds") != 0.0 {
		t.Errorf("changes: %v", list)
	}
}
