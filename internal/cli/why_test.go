package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	rules "github.com/kureka/kureka/internal/verdict"
)

// up is an instance that nothing is against.
func up() explanation {
	return explanation{
		App: "ORDERS", ID: "o-1", Listed: true, Status: "UP", ClientStatus: "UP", ViewFresh: true, UpdatedAt: at(-time.Hour),
		Verdict: verdict{Class: "none"},
		Binding: binding{Pod: &pod{Namespace: "shop", Name: "orders-1", Node: "n1", Phase: "Running", Ready: true}},
		Lease:   &lease{Namespace: "shop", RenewalIntervalSeconds: 30, DurationSeconds: 90, LastRenewal: *at(-12 * time.Second)},
		Floor:   floor{InService: 3, Live: 4, MinInService: 2},
		Policy:  policy{Mode: "Enforce", Source: "ClusterRegistryPolicy", ReadyGraceSeconds: 90},
	}
}

func TestTell_beginsWithWhatIsSoAndWhy(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*explanation)
		want   string
	}{
		"nothing against it": {func(*explanation) {}, "ORDERS/o-1 is UP since 02:14:15 UTC (1h ago) or earlier: nothing is against it."},
		"a verdict": {func(e *explanation) {
			e.Status, e.Verdict = "OUT_OF_SERVICE", verdict{Class: "ending", Reason: "PodDeleting", InForce: "PodDeleting"}
			e.Changes = []change{{At: *at(-95 * time.Second), Effect: "taken-out", Reason: "PodDeleting"}}
		}, "ORDERS/o-1 is OUT_OF_SERVICE since 03:12:40 UTC (1m35s ago): its pod shop/orders-1 is being deleted."},
		"the floor": {func(e *explanation) {
			e.Verdict = verdict{Class: "planned-notice", Reason: "NodeScaleDown", InForce: "HeldByFloor"}
		}, "ORDERS/o-1 is UP although the cluster autoscaler removes its node n1: the floor of its application keeps it in service."},
		"mode Observe": {func(e *explanation) {
			e.Policy.Mode, e.Verdict = "Observe", verdict{Class: "ending", Reason: "ContainerDown", Detail: "container app"}
		}, "ORDERS/o-1 is UP although its container is not running (container app): the policy only observes."},
		"a pod that is gone in mode Observe": {
			func(e *explanation) { e.Binding = binding{Unbound: "PodGoneButOnlyObserved"} },
			"ORDERS/o-1 is UP although its pod is gone: the policy only observes.",
		},
		"what the policy ignores": {func(e *explanation) {
			e.Checks = []check{{Name: "PodNotReady", Class: "observed", Fires: true, Ignored: true, Detail: "since noon"}}
		}, "ORDERS/o-1 is UP although the kubelet says that its pod shop/orders-1 is not ready (since noon): the policy ignores that."},
		"an override": {
			func(e *explanation) { e.Status, e.Override = "OUT_OF_SERVICE", "OUT_OF_SERVICE" },
			"ORDERS/o-1 is OUT_OF_SERVICE since 02:14:15 UTC (1h ago) or earlier: an override says so.",
		},
		"the client": {
			func(e *explanation) { e.Status, e.ClientStatus = "DOWN", "DOWN" },
			"ORDERS/o-1 is DOWN since 02:14:15 UTC (1h ago) or earlier: its own client says so.",
		},
		"a late heartbeat": {
			func(e *explanation) { e.Lease.LastRenewal = *at(-50 * time.Second) },
			"ORDERS/o-1 is UP although a heartbeat is late: the last one came 50s ago, and one is due every 30 s.",
		},
		"a first witness": {
			func(e *explanation) {
				e.Checks = []check{{Name: "NodeSilent", Class: "inferred", Waits: "the Lease has not changed for 31s; no second witness yet"}}
			},
			"ORDERS/o-1 is UP although one witness speaks against its node n1: the Lease has not changed for 31s; no second witness yet.",
		},
		"a held lease": {
			func(e *explanation) { e.Lease.LastRenewal = *at(-400 * time.Second) },
			"ORDERS/o-1 is UP although its last heartbeat is 6m40s old: its lease has run out, and self-preservation holds it.",
		},
		"a marked lease": {
			func(e *explanation) { e.Status, e.Verdict.InForce = "OUT_OF_SERVICE", "HeldExpired" },
			"ORDERS/o-1 is OUT_OF_SERVICE since 02:14:15 UTC (1h ago) or earlier: its lease has run out and self-preservation holds it, but its node and others on it are heard: it is its process that is silent, and not the network.",
		},
		"another namespace": {
			func(e *explanation) { e.Listed, e.Binding.Hidden = false, "test" },
			"ORDERS/o-1 is registered, but clients do not see it: the namespace test came first with this application.",
		},
		"a pod that nobody has seen": {
			func(e *explanation) { e.Listed, e.Binding = false, binding{Unbound: "PodNotSeenYet"} },
			"ORDERS/o-1 is registered, but clients do not see it: its pod has not been seen yet.",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := up()
			tc.change(&e)
			s := tell(&inquiry{App: "ORDERS", ID: "o-1", now: testNow, Known: &e, Namespace: &namespace{Name: "shop", SelfPreservation: "Engaged"}})
			if s.Headline != tc.want {
				t.Errorf("it says\n%s\nwant\n%s", s.Headline, tc.want)
			}
			if len(s.Next) == 0 {
				t.Error("it does not say what happens next")
			}
		})
	}
}

func TestTell_blamesNoClientThatIsNotThere(t *testing.T) {
	t.Parallel()
	e := up()
	e.Status, e.ClientStatus, e.Lease, e.Binding.KeptBy, e.Binding.Pod.Ready = "STARTING", "STARTING", nil, "annotations", false
	s := tell(&inquiry{App: "ORDERS", ID: "o-1", now: testNow, Known: &e})
	if want := "ORDERS/o-1 is STARTING since 02:14:15 UTC (1h ago) or earlier: its pod has not been ready yet."; s.Headline != want {
		t.Errorf("it says\n%s\nwant\n%s", s.Headline, want)
	}
	for _, f := range s.Evidence {
		if f.about == "client" {
			t.Errorf("it has evidence of a client: %s", f.text)
		}
	}
	if diff := cmp.Diff([]string{"See what its pod waits for: kubectl -n shop describe pod orders-1"}, s.Advice); diff != "" {
		t.Errorf("the advice differs (-want +got):\n%s", diff)
	}
}

func TestTell_saysWhatItRemembersOfWhatLeft(t *testing.T) {
	t.Parallel()
	gone := change{At: *at(-time.Minute), Effect: "removed", Class: "proof", Reason: "PodGone", Witness: "pod", Detail: "deleted", Namespace: "shop", Pod: "orders-1"}
	tests := map[string]struct {
		q    inquiry
		want string
	}{
		"by proof":   {inquiry{Past: []change{gone}, Left: &ended{At: at(-time.Minute), Reason: "PodGone"}}, "was removed at 03:13:15 UTC (1m ago) because its pod shop/orders-1 is gone (deleted)."},
		"by itself":  {inquiry{Left: &ended{At: at(-time.Minute), Reason: "Cancelled"}}, "was cancelled at 03:13:15 UTC (1m ago), by its client or by somebody in its name."},
		"by silence": {inquiry{Left: &ended{At: at(-time.Minute), Reason: "LeaseExpired"}}, "its lease ran out at 03:13:15 UTC (1m ago) because no heartbeat came."},
		"by itself, after another of its id had died": {inquiry{Past: []change{gone}, Left: &ended{At: at(-time.Second), Reason: "Cancelled"}}, "was cancelled at 03:14:14 UTC"},
		"yesterday": {inquiry{Left: &ended{At: at(-26 * time.Hour), Reason: "LeaseExpired"}}, "its lease ran out at 2026-11-29 01:14:15 UTC (1d2h ago)"},
		"nothing":   {inquiry{}, "nothing is remembered of it."},
		"by its own client": {
			inquiry{Past: []change{{At: *at(-time.Minute), Effect: "unlisted", Class: "none", Reason: "ClientRegistered", Witness: "pod", Namespace: "shop", Pod: "orders-1"}}},
			"was removed at 03:13:15 UTC (1m ago) because the client in its pod shop/orders-1 has registered ORDERS itself.",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.q.App, tc.q.ID, tc.q.now = "ORDERS", "o-1", testNow
			if got := tell(&tc.q).Headline; !strings.HasPrefix(got, "ORDERS/o-1 is not registered") || !strings.Contains(got, tc.want) {
				t.Errorf("it says %q, want %q", got, tc.want)
			}
		})
	}
}

func TestWording_isThereForEveryCheckThatActs(t *testing.T) {
	t.Parallel()
	for _, c := range rules.Checks() {
		if c.Class == rules.Hint {
			continue
		}
		w := wordingOf(c.Reason, c.Class.String())
		n := names{app: "APP", id: "id", namespace: "ns", pod: "p", node: "n", detail: "d", confirmed: "prober"}
		for _, text := range []string{w.because, w.next, w.do} {
			if text == "" || strings.HasPrefix(text, c.Reason) {
				t.Errorf("%s: words are missing: %+v", c.Reason, w)
			}
			if filled := n.fill(text); strings.ContainsAny(filled, "{}") {
				t.Errorf("%s: nothing stands for the braces in %q", c.Reason, filled)
			}
		}
	}
}

// clusterReasons are the reasons that internal/cluster gives beside those of checks, as
// far as they remove instances.
func clusterReasons(t *testing.T) []string {
	t.Helper()
	removesNothing := []string{"PodRegistered", "Recovered", "HeldByFloor", "AppInSeveralNamespaces", "OtherNamespaceFirst", "AnnotationInvalid"}
	files, err := filepath.Glob("../cluster/*.go")
	if err != nil {
		t.Fatal(err)
	}
	constant := regexp.MustCompile(`(?m)^(?:const |\t)Reason\w+\s*=\s*"(\w+)"`)
	var out []string
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range constant.FindAllStringSubmatch(string(source), -1) {
			if !slices.Contains(removesNothing, found[1]) {
				out = append(out, found[1])
			}
		}
	}
	return out
}

func TestWording_isThereForEveryRemovalByTheCluster(t *testing.T) {
	t.Parallel()
	reasons := clusterReasons(t)
	if !slices.Contains(reasons, "ClientRegistered") {
		t.Fatalf("the reasons are not found, only %v", reasons)
	}
	for _, reason := range reasons {
		c := change{At: testNow, Effect: "unlisted", Class: "none", Reason: reason, Witness: "pod", Namespace: "shop", Pod: "orders-1"}
		s := tell(&inquiry{App: "ORDERS", ID: "o-1", now: testNow, Past: []change{c}})
		if strings.Contains(s.Headline, "because "+reason) || len(s.Advice) == 0 {
			t.Errorf("%s: words are missing: %q, advice %q", reason, s.Headline, s.Advice)
		}
		for _, f := range s.Evidence {
			if strings.Contains(f.text, "none") {
				t.Errorf("%s: it tells a class that there is not: %s", reason, f.text)
			}
		}
		if text := s.Headline + strings.Join(s.Advice, ""); strings.ContainsAny(text, "{}") {
			t.Errorf("%s: nothing stands for the braces in %q", reason, text)
		}
	}
}

func TestWhy_asksForWhatIsLeft(t *testing.T) {
	t.Parallel()
	server := registry(t, map[string]any{
		"/kureka/v1/changes?app=ORDERS&id=a%2Fb":           changes{[]change{}},
		"/kureka/v1/lastn":                                 lastN{},
		"/kureka/v1/instances?app=ORDERS&limit=10&q=a%2Fb": instances{},
		"/kureka/v1/instances?app=ORDERS&limit=10":         instances{Matched: 1, Instances: []instance{{App: "ORDERS", ID: "orders-2"}}},
	})
	got := run(t, server, "why", "orders", "a/b")
	want := `ORDERS/a/b is not registered, and nothing is remembered of it.

What you can do
  Perhaps one of these was meant: orders-2
`
	if got.out != want || got.code != exitOK {
		t.Errorf("it says (%d)\n%s%s\nwant\n%s", got.code, got.out, got.err, want)
	}
}
