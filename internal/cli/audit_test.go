package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kureka/kureka/internal/audit"
)

const (
	// ordersFile is what Helm renders of the chart of a service that was made for
	// another registry.
	ordersFile = "testdata/audit/orders.yaml"
	// drainOn turns the drain on for it.
	drainOn = `
apiVersion: v1
kind: Namespace
metadata: {name: default, labels: {kureka.dev/drain: Enabled}}
---
apiVersion: kureka.dev/v1alpha1
kind: RegistryPolicy
metadata: {name: default}
spec: {drain: {mode: Hold}}
`
)

// auditing runs the command with a standard input.
func auditing(t *testing.T, stdin string, args ...string) (out string, err error) {
	t.Helper()
	var buffer bytes.Buffer
	root := newRoot(Environment{Out: &buffer, Err: &buffer, Now: func() time.Time { return testNow }, Getenv: func(string) string { return "" }})
	root.SetIn(strings.NewReader(stdin))
	root.SetArgs(append([]string{"audit"}, args...))
	err = root.ExecuteContext(t.Context())
	return buffer.String(), err
}

func TestAudit_tellsWhatIsWrongWithARenderedChart(t *testing.T) {
	t.Parallel()
	got := run(t, "", "audit", "-f", ordersFile)
	want, err := os.ReadFile("testdata/audit/orders.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(outcome{out: string(want), code: exitFound}, got, cmp.AllowUnexported(outcome{})); diff != "" {
		t.Errorf("it differs (-want +got):\n%s", diff)
	}
}

func TestAudit_readsThePolicyFromStandardInput(t *testing.T) {
	t.Parallel()
	out, err := auditing(t, drainOn, "-f", ordersFile, "-f", "-", "-o", "json")
	if !errors.Is(err, errFound) {
		t.Fatalf("it ends with %v", err)
	}
	var answer struct {
		Findings []struct {
			Rule, Severity, Name, Source, Advice string
		}
		Workloads, Clients int
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Workloads != 2 || answer.Clients != 1 {
		t.Errorf("%d of %d workloads have a client, want 1 of 2", answer.Clients, answer.Workloads)
	}
	advice := map[string]string{}
	for _, f := range answer.Findings {
		advice[f.Rule] = f.Advice
		if f.Name != "orders" || f.Source != ordersFile+", document 5" {
			t.Errorf("%s is about %q in %q", f.Rule, f.Name, f.Source)
		}
	}
	if !strings.HasPrefix(advice["PreStopSleep"], "Remove the whole hook") || advice["DrainHeldBack"] == "" {
		t.Errorf("with the drain on it advises %q", advice)
	}
}

func TestAudit_endsWellBelowTheSeverityAskedFor(t *testing.T) {
	t.Parallel()
	const quiet = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 1, template: {spec: {containers: [{name: app, env: [{name: EUREKA_URL, value: x}]}]}}}"
	for severity, want := range map[string]error{"info": errFound, "warning": errFound, "error": nil} {
		if out, err := auditing(t, quiet, "-f", "-", "--fail-on", severity); !errors.Is(err, want) {
			t.Errorf("with --fail-on %s it ends with %v, want %v:\n%s", severity, err, want, out)
		}
	}
}

func TestAudit_saysWhatItCannotRead(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	bad := filepath.Join(folder, "b.yaml")
	for name, text := range map[string]string{"a.yaml": "kind: Service", "b.yaml": "kind: Service\n---\na: [", "c.txt": "a: ["} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string]struct {
		args []string
		want string
	}{
		"a folder with a bad file": {[]string{"-f", folder}, bad + ", document 2 (line 2): reading it as YAML"},
		"no file":                  {[]string{"-f", filepath.Join(folder, "none.yaml")}, "no such file"},
		"no severity":              {[]string{"-f", ordersFile, "--fail-on", "loud"}, `--fail-on: "loud" is none of info, warning and error`},
		"no form":                  {[]string{"-f", ordersFile, "-o", "xml"}, "--output"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t, "", append([]string{"audit"}, tc.args...)...)
			if got.code != exitError || !strings.Contains(got.err, tc.want) {
				t.Errorf("exit code %d, error %q, want %d and %q", got.code, got.err, exitError, tc.want)
			}
		})
	}
}

func TestAudit_saysThatNobodyHasAClient(t *testing.T) {
	t.Parallel()
	out, err := auditing(t, "# nothing\n---\n", "-f", "-")
	want := "0 of 0 workloads with a Eureka client; --every-workload looks at all of them, also where no manifest shows one.\n"
	if err != nil || out != want {
		t.Errorf("it says %q and ends with %v, want %q", out, err, want)
	}
}

func TestAdvice_isPrintedOnce(t *testing.T) {
	t.Parallel()
	f := audit.Finding{Rule: "NoDrain", Kind: "Deployment", Name: "a", Reason: "r", Advice: "do this"}
	g := f
	g.Name = "b"
	var out bytes.Buffer
	if err := (&auditAnswer{Report: audit.Report{Findings: []audit.Finding{f, g}, Clients: 2, Workloads: 2}}).print(&out, false); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "do this"); n != 1 {
		t.Errorf("the advice is there %d times:\n%s", n, out.String())
	}
}
