package alerts

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kureka/kureka/test/conformance"
)

var withPrometheus = flag.Bool("prometheus", false, "have Prometheus' own tool check and play the alerts")

const rules = "../../charts/kureka/files/alerts.yaml"

type alert struct {
	Alert, Expr         string
	Labels, Annotations map[string]string
}

func readAlerts(t *testing.T) (all []alert) {
	t.Helper()
	var file struct {
		Groups []struct{ Rules []alert }
	}
	if err := yaml.Unmarshal([]byte(read(t, rules)), &file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	if len(all) == 0 {
		t.Fatal("no alerts")
	}
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	metric = regexp.MustCompile(`kureka_[a-z_]+`)
	suffix = regexp.MustCompile(`_(bucket|count|sum)$`)
)

func TestAlertsAskForMetricsThatThereAre(t *testing.T) {
	page := read(t, "../../docs/metrics.md")
	for _, a := range readAlerts(t) {
		names := metric.FindAllString(a.Expr, -1)
		if len(names) == 0 {
			t.Errorf("%s asks for nothing: %s", a.Alert, a.Expr)
		}
		for _, name := range names {
			if !strings.Contains(page, "| `"+name+"` |") && !strings.Contains(page, "| `"+suffix.ReplaceAllString(name, "")+"` | histogram") {
				t.Errorf("%s asks for %s, which nobody exposes", a.Alert, name)
			}
		}
	}
}

func TestEveryAlertHasARunbookAndEveryRunbookAnAlert(t *testing.T) {
	all := readAlerts(t)
	alerts, runbooks := make([]string, 0, len(all)), make([]string, 0, len(all))
	for _, a := range all {
		alerts = append(alerts, a.Alert)
		if want := "docs/runbooks.md#" + strings.ToLower(a.Alert); a.Annotations["runbook_url"] != want {
			t.Errorf("%s: runbook %q, want %q", a.Alert, a.Annotations["runbook_url"], want)
		}
		if a.Labels["severity"] == "" || a.Annotations["summary"] == "" || a.Annotations["description"] == "" {
			t.Errorf("%s lacks a severity, a summary or a description", a.Alert)
		}
	}
	for line := range strings.Lines(read(t, "../../docs/runbooks.md")) {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			runbooks = append(runbooks, strings.TrimSpace(name))
		}
	}
	if !slices.Equal(alerts, runbooks) {
		t.Errorf("alerts %q, runbooks %q", alerts, runbooks)
	}
}

// The file of the tool's tests has a case for each alert in which it is raised.
func TestEveryAlertIsPlayed(t *testing.T) {
	played := read(t, "testdata/alerts.test.yaml")
	for _, a := range readAlerts(t) {
		if !strings.Contains(played, "alertname: "+a.Alert+"\n") && !strings.Contains(played, `alertname="`+a.Alert+`"`) {
			t.Errorf("%s is not played", a.Alert)
		}
	}
}

func TestPrometheusRaisesEachAlertAndNoneWhileAllIsWell(t *testing.T) {
	if !*withPrometheus {
		t.Skip("Prometheus is needed: make alerts")
	}
	programs := prometheus(t)
	for _, args := range [][]string{{"check", "rules", rules}, {"test", "rules", "testdata/alerts.test.yaml"}} {
		out, err := exec.CommandContext(context.WithoutCancel(t.Context()), filepath.Join(programs, "promtool"), args...).CombinedOutput()
		if err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

func TestPrometheusAnswersTheDashboardFromARealRegistry(t *testing.T) {
	if !*withPrometheus {
		t.Skip("Prometheus is needed: make alerts")
	}
	p := scrape(t, prometheus(t))
	p.evaluatesEveryAlert()
	p.answersEveryQuery()
}

// prometheus returns the folder of its programs.
func prometheus(t *testing.T) string {
	t.Helper()
	shop, err := conformance.OpenWorkshop("../conformance")
	if err != nil {
		t.Fatal(err)
	}
	programs, err := conformance.Prometheus(t.Context(), shop, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	return programs
}
