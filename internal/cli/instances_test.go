package cli

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestInstances_areListedWithWhatDecides(t *testing.T) {
	t.Parallel()
	server := registry(t, map[string]any{
		"/kureka/v1/instances?app=orders&bound=false&limit=10000&namespace=shop&status=UP": instances{Matched: 10_001, Instances: []instance{
			{App: "ORDERS", ID: "o-1", Status: "UP", Reason: "HeldByFloor", Namespace: "shop", Bound: true, Node: "n1", LastRenewal: at(-12 * time.Second), UpdatedAt: *at(-time.Hour)},
			{App: "ORDERS", ID: "o-2", Status: "UP", Address: "192.0.2.2:8080", UpdatedAt: *at(-time.Minute)},
		}},
	})
	got := run(t, server, "instances", "--app", "orders", "--status", "UP", "--unbound", "-n", "shop", "-o", "wide")
	want := outcome{
		out: `APP      INSTANCE   STATUS   REASON        NAMESPACE        NODE   HEARD   ADDRESS          OVERRIDE   BOUND   CHANGED
ORDERS   o-1        UP       HeldByFloor   shop             n1     12s     -                -          yes     1h
ORDERS   o-2        UP       -             (outside pods)   -      -       192.0.2.2:8080   -          no      1m
`,
		err: "note: 9999 more are not shown; ask for less, for example with --app\n",
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(outcome{})); diff != "" {
		t.Errorf("it differs (-want +got):\n%s", diff)
	}
}

func TestDifferences_tellWhatCameWentAndChanged(t *testing.T) {
	t.Parallel()
	before := byName([]instance{{App: "A", ID: "1", Status: "UP"}, {App: "A", ID: "2", Status: "UP"}, {App: "A", ID: "3", Status: "UP"}})
	after := byName([]instance{{App: "A", ID: "2", Status: "OUT_OF_SERVICE", Reason: "PodDeleting"}, {App: "A", ID: "3", Status: "UP"}, {App: "B", ID: "4", Status: "STARTING"}})
	got := slices.Collect(differences(before, after))
	want := []string{"A/1  UP > gone", "A/2  UP > OUT_OF_SERVICE (PodDeleting)", "B/4  STARTING"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}

func TestWatch_refusesWhatItCannotShow(t *testing.T) {
	t.Parallel()
	many := registry(t, map[string]any{"/kureka/v1/instances?limit=10000": instances{Matched: 10_001, Instances: []instance{{App: "A", ID: "1"}}}})
	for want, args := range map[string][]string{
		"watching 10001 instances, of which the registry lists 1 at a time": {"instances", "--watch"},
		"leave --output out": {"instances", "--watch", "-o", "wide"},
	} {
		if got := run(t, many, args...); got.code != exitError || got.out != "" || !strings.Contains(got.err, want) {
			t.Errorf("%v: it says (%d) %s%s, want %q", args, got.code, got.out, got.err, want)
		}
	}
}

func TestDuration_hasTwoUnits(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"0s": -time.Second, "42s": 42 * time.Second, "3m20s": 200 * time.Second, "1h": time.Hour, "5h10m": 5*time.Hour + 10*time.Minute + 9*time.Second, "2d4h": 52 * time.Hour,
	} {
		if got := duration(d); got != want {
			t.Errorf("%v is written as %s, want %s", d, got, want)
		}
	}
}

func TestErrors_sayWhatToDo(t *testing.T) {
	t.Parallel()
	server := registry(t, nil)
	for want, args := range map[string][]string{
		"is no URL of a registry":       {"--server", "localhost:8761", "status"},
		"there is no certificate in":    {"--registry-ca-file", "cli_test.go", "status"},
		"there is no /kureka/v1/view":   {"status"},
		`unknown command "wy"`:          {"wy"},
		"accepts 2 arg(s), received 1":  {"why", "ORDERS"},
		"unknown flag: --insecure-port": {"status", "--insecure-port"},
	} {
		got := run(t, server, args...)
		if got.code != exitError || !strings.Contains(got.err, want) || !strings.HasPrefix(got.err, "error: ") {
			t.Errorf("%v: it says (%d) %s, want %q", args, got.code, got.err, want)
		}
	}
}
