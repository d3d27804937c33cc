package dashboard_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/consumers"
	"github.com/kureka/kureka/internal/dashboard"
	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/internal/verdict"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

const oddID = "http://192.0.2.10:8080/a b%2F"

// incident is a view in which one pod is deleting, another is gone, and one
// instance is bound to no pod.
func incident(t *testing.T) http.Handler {
	t.Helper()
	engine := registry.New(noon, registry.Options{})
	c := cluster.New(engine, cluster.Options{})
	c.SetPodsReadable(noon, true)
	for i, name := range []string{"a", "b", "c"} {
		ip := netip.AddrFrom4([4]byte{192, 0, 2, byte(10 + i)})
		p := evidence.Pod{UID: "u-" + name, Namespace: "ns", Name: name, Node: "n1", IPs: []netip.Addr{ip}, Phase: evidence.Running, Ready: true, Created: noon}
		c.ObservePod(noon, p)
		id := name
		if name == "a" {
			id = oddID
		}
		c.Register(noon, ip, &registry.Record{App: "DEMO", ID: id, IPAddr: ip.String()})
		if name == "a" {
			p.Deleting = true
			c.ObservePod(noon.Add(time.Second), p)
		}
	}
	c.PodGone(noon.Add(2*time.Second), "u-b")
	c.Register(noon, netip.Addr{}, &registry.Record{App: "VM", ID: "v", IPAddr: "203.0.113.1"})
	return dashboard.New(dashboard.Options{
		View: c, Registry: engine, Consumers: audience(c, engine), Clock: func() time.Time { return noon.Add(3 * time.Second) },
		Watches: func() []dashboard.Watch { return []dashboard.Watch{{Resource: "pods", Synced: true}} },
	})
}

// audience is a pod and somebody else who have fetched the registry, after which an
// instance left that only the pod has learned of. Soon after a start there may be more.
func audience(c *cluster.Cluster, engine *registry.Engine) *consumers.Tracker {
	t := consumers.New(engine.Snapshot(), consumers.Options{PodAt: c.PodAt})
	for i := range 4 {
		at := noon.Add(time.Duration(10*i) * time.Second)
		t.Fetched(at, netip.MustParseAddr("192.0.2.12"), "Java-EurekaClient/v2.0.4", engine.Snapshot().Version)
		t.Fetched(at, netip.MustParseAddr("203.0.113.9"), "curl", 0)
	}
	now := noon.Add(30 * time.Second)
	engine.Register(now, registry.Caller{}, &registry.Record{App: "LEFT", ID: "l"}, registry.Binding{})
	t.Tick(now, engine.Snapshot())
	engine.Cancel(now, registry.Caller{}, registry.Key{App: "LEFT", ID: "l"})
	t.Tick(now, engine.Snapshot())
	t.Fetched(now.Add(10*time.Second), netip.MustParseAddr("192.0.2.12"), "Java-EurekaClient/v2.0.4", engine.Snapshot().Version)
	t.Tick(now.Add(10*time.Second), engine.Snapshot())
	return t
}

func TestConsumersAndDepartures(t *testing.T) {
	_, doc := get(t, incident(t), "/kureka/v1/consumers")
	if doc["known"] != 1.0 || doc["unknown"] != 2.0 || doc["slowestIntervalSeconds"] != 10.0 {
		t.Errorf("consumers: %v", doc)
	}
	only := func(list string, keys ...string) (out [][]any) {
		all, _ := doc[list].([]any)
		for _, one := range all {
			row := make([]any, 0, len(keys))
			for _, k := range keys {
				row = append(row, at(one, k))
			}
			out = append(out, row)
		}
		return out
	}
	if d := cmp.Diff([][]any{{"curl", nil}, {"Java-EurekaClient/v2.0.4", "ns/c"}}, only("consumers", "userAgent", "pod")); d != "" {
		t.Errorf("consumers (-want +got)\n%s", d)
	}
	if d := cmp.Diff([][]any{{"l", "removed", 10.0, 2.0}}, only("departures", "id", "cause", "tookSeconds", "consumersUnknown")); d != "" {
		t.Errorf("departures (-want +got)\n%s", d)
	}
}

// get asks the handler and decodes the answer into generic JSON.
func get(t *testing.T, h http.Handler, target string) (int, map[string]any) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody))
	var doc map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
		t.Fatalf("%s: %v\n%s", target, err, w.Body.String())
	}
	return w.Code, doc
}

// at follows a path of keys.
func at(doc any, keys ...string) any {
	for _, k := range keys {
		m, ok := doc.(map[string]any)
		if !ok {
			return nil
		}
		doc = m[k]
	}
	return doc
}

func TestAnInstanceIsExplained(t *testing.T) {
	code, doc := get(t, incident(t), "/kureka/v1/instances/demo/"+url.PathEscape(oddID))
	if code != http.StatusOK {
		t.Fatalf("%d %v", code, doc)
	}
	want := map[string]any{
		"status": "OUT_OF_SERVICE", "clientStatus": "UP", "reason": "PodDeleting", "inForce": "PodDeleting", "class": "ending",
		"pod": "a", "deleting": true, "live": 1.0, "minInService": 1.0, "interval": 30.0,
	}
	got := map[string]any{
		"status": doc["status"], "clientStatus": doc["clientStatus"], "reason": at(doc, "verdict", "reason"),
		"inForce": at(doc, "verdict", "inForce"), "class": at(doc, "verdict", "class"), "pod": at(doc, "binding", "pod", "name"),
		"deleting": at(doc, "binding", "pod", "deleting"), "live": at(doc, "floor", "live"),
		"minInService": at(doc, "floor", "minInService"), "interval": at(doc, "lease", "renewalIntervalSeconds"),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	fired := []string{}
	checks, _ := doc["checks"].([]any)
	for _, c := range checks {
		if at(c, "fires") == true {
			name, _ := at(c, "name").(string)
			fired = append(fired, name)
		}
	}
	if !slices.Equal(fired, []string{"PodDeleting"}) || len(checks) < 20 {
		t.Errorf("%d checks, fired %v", len(checks), fired)
	}
	if _, vm := get(t, incident(t), "/kureka/v1/instances/VM/v"); at(vm, "binding", "unbound") != cluster.UnboundNoOwner {
		t.Errorf("unbound instance: %v", vm)
	}
}

func TestChangesAreToldNewestFirstAndFiltered(t *testing.T) {
	tests := map[string][]string{
		"":                    {"PodGone removed", "PodDeleting taken-out"},
		"?limit=1":            {"PodGone removed"},
		"?reason=PodDeleting": {"PodDeleting taken-out"},
		"?app=demo&pod=b":     {"PodGone removed"},
		"?namespace=other":    {},
	}
	for query, want := range tests {
		_, doc := get(t, incident(t), "/kureka/v1/changes"+query)
		list, _ := doc["changes"].([]any)
		got := make([]string, 0, len(list))
		for _, c := range list {
			reason, _ := at(c, "reason").(string)
			effect, _ := at(c, "effect").(string)
			got = append(got, reason+" "+effect)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
}

func TestNamespacesAndView(t *testing.T) {
	_, doc := get(t, incident(t), "/kureka/v1/namespaces")
	list, _ := doc["namespaces"].([]any)
	if len(list) != 2 || at(list[0], "name") != "" || at(list[1], "name") != "ns" || at(list[1], "leases") != 2.0 {
		t.Errorf("namespaces: %v", doc)
	}
	_, doc = get(t, incident(t), "/kureka/v1/view")
	if doc["fresh"] != false || doc["podsReadable"] != true || doc["instances"] != 3.0 || len(doc["watches"].([]any)) != 1 {
		t.Errorf("view: %v", doc)
	}
}

func TestANamespaceSaysThatItsSelfPreservationIsDisabled(t *testing.T) {
	engine := registry.New(noon, registry.Options{})
	c := cluster.New(engine, cluster.Options{})
	off := verdict.DefaultPolicy()
	off.SelfPreservation = false
	c.SetPolicies(noon, verdict.DefaultPolicy(), map[string]verdict.Policy{"off": off})
	for i, namespace := range []string{"off", "on"} {
		ip := netip.AddrFrom4([4]byte{192, 0, 2, byte(10 + i)})
		c.ObservePod(noon, evidence.Pod{UID: namespace, Namespace: namespace, Name: "p", IPs: []netip.Addr{ip}, Phase: evidence.Running, Ready: true, Created: noon})
		c.Register(noon, ip, &registry.Record{App: "DEMO", ID: namespace, IPAddr: ip.String()})
	}
	h := dashboard.New(dashboard.Options{View: c, Registry: engine, Clock: func() time.Time { return noon }})
	_, doc := get(t, h, "/kureka/v1/namespaces")
	got := map[any]any{}
	for _, n := range doc["namespaces"].([]any) {
		got[at(n, "name")] = at(n, "selfPreservation")
	}
	if got["off"] != "Disabled" || got["on"] != "Watching" {
		t.Errorf("self-preservation: %v", got)
	}
}

func TestQuestionsThatMakeNoSenseAreAnswered(t *testing.T) {
	tests := map[string]int{
		"/kureka/v1/": 404, "/kureka/v1/other": 404, "/kureka/v1/instance": 404, "/kureka/v1/instances/DEMO": 400,
		"/kureka/v1/instances/DEMO/none": 404, "/kureka/v1/changes?limit=0": 400, "/kureka/v1/changes?limit=x": 400,
		"/kureka/v1/changes?limit=10001": 400, "/kureka/v1/changes?ap=DEMO": 400,
	}
	for target, want := range tests {
		if code, doc := get(t, incident(t), target); code != want || doc["error"] == "" {
			t.Errorf("%s: %d %v, want %d", target, code, doc, want)
		}
	}
	w := httptest.NewRecorder()
	incident(t).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodDelete, "/kureka/v1/changes", http.NoBody))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("DELETE: %d", w.Code)
	}
}

// The description names every key that the API answers with.
func TestTheDescriptionKnowsEveryKey(t *testing.T) {
	h := incident(t)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/kureka/v1/openapi.yaml", http.NoBody))
	var described any
	if err := yaml.Unmarshal(w.Body.Bytes(), &described); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"instances/demo/" + url.PathEscape(oddID), "instances/VM/v", "instances", "changes", "observe", "namespaces", "consumers", "lastn", "view", "none"} {
		_, doc := get(t, h, "/kureka/v1/"+target)
		if target == "observe" {
			_, doc = get(t, trial(t), "/kureka/v1/observe?since=1h")
		}
		for _, key := range keysOf(doc) {
			if !strings.Contains(w.Body.String(), key+":") {
				t.Errorf("%s: %s is not described", target, key)
			}
		}
	}
}

// What the description calls required is in the answer.
func TestAnswersHoldWhatTheDescriptionPromises(t *testing.T) {
	h := incident(t)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/kureka/v1/openapi.yaml", http.NoBody))
	var described map[string]any
	if err := yaml.Unmarshal(w.Body.Bytes(), &described); err != nil {
		t.Fatal(err)
	}
	for schema, target := range map[string]string{"View": "view", "LastN": "lastn", "Consumers": "consumers", "Explanation": "instances/demo/" + url.PathEscape(oddID)} {
		_, doc := get(t, h, "/kureka/v1/"+target)
		required, _ := at(described, "components", "schemas", schema, "required").([]any)
		if len(required) == 0 {
			t.Errorf("%s promises nothing", schema)
		}
		for _, key := range required {
			if name, _ := key.(string); at(doc, name) == nil {
				t.Errorf("%s: the answer lacks %v", schema, key)
			}
		}
	}
}

func keysOf(v any) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			out = append(append(out, k), keysOf(inner)...)
		}
	case []any:
		for _, inner := range v {
			out = append(out, keysOf(inner)...)
		}
	}
	return out
}
