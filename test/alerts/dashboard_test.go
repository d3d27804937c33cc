package alerts

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

type grid struct{ X, Y, W, H int }

type graph struct {
	ID      int
	Type    string
	Title   string
	GridPos grid
	Targets []struct{ Expr string }
}

func readDashboard(t *testing.T) (all []graph) {
	t.Helper()
	var d struct{ Panels []graph }
	if err := json.Unmarshal([]byte(read(t, "../../charts/kureka/files/dashboard.json")), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Panels) == 0 {
		t.Fatal("no panels")
	}
	return d.Panels
}

// queries are what the panels ask for, with Grafana's variables filled in.
func queries(t *testing.T) map[string]string {
	t.Helper()
	fill := strings.NewReplacer("$namespace", ".*", "$__rate_interval", "1m")
	all := map[string]string{}
	for _, p := range readDashboard(t) {
		for i, target := range p.Targets {
			all[fmt.Sprintf("%s, query %d", p.Title, i+1)] = fill.Replace(target.Expr)
		}
	}
	return all
}

func TestTheDashboardAsksForMetricsThatThereAre(t *testing.T) {
	page := read(t, "../../docs/metrics.md")
	for name, expr := range queries(t) {
		for _, m := range metric.FindAllString(expr, -1) {
			if !strings.Contains(page, "| `"+m+"` |") && !strings.Contains(page, "| `"+suffix.ReplaceAllString(m, "")+"` | histogram") {
				t.Errorf("%s asks for %s, which nobody exposes", name, m)
			}
		}
	}
}

func TestThePanelsOfTheDashboardDoNotOverlap(t *testing.T) {
	taken, ids := map[[2]int]string{}, map[int]bool{}
	for _, p := range readDashboard(t) {
		if ids[p.ID] {
			t.Errorf("%s has the id of another panel", p.Title)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("%s lies on %q", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
}
