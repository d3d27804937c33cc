package chaos

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kureka/kureka/test/rig/instance"
	"github.com/kureka/kureka/test/rig/stage"
)

// kill is a line of kill-instances.sh.
type kill struct {
	At, Acknowledged                  time.Time
	Namespace, Pod, IP, Node, Process string
}

func kills(t *testing.T, out string) []kill {
	t.Helper()
	var all []kill
	for line := range strings.Lines(out) {
		var k kill
		if err := json.Unmarshal([]byte(line), &k); err != nil {
			t.Fatalf("the line %q: %v", line, err)
		}
		all = append(all, k)
	}
	return all
}

// playing makes a stage with pods of an application that are UP.
func playing(t *testing.T, app string, n int) (*stage.Stage, *stage.View, []*stage.Pod) {
	t.Helper()
	set := stage.Setting{Rig: shared.rig, Operator: shared.operator, Timeline: stage.NewTimeline()}
	s, err := stage.New(t.Context(), set, stage.Plan{Name: "chaos-" + app, Nodes: 2, ReadEvery: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.WithoutCancel(t.Context())) })
	pods, err := s.CreateMany(t.Context(), 1, n, instance.Config{App: app})
	if err != nil {
		t.Fatal(err)
	}
	view := s.StartView(t.Context(), app, nil)
	if _, err := view.AwaitStatus(t.Context(), "UP", stage.IDs(pods)...); err != nil {
		t.Fatal(err)
	}
	return s, view, pods
}

// names are the pods that are left.
func names(t *testing.T, s *stage.Stage) map[string]bool {
	t.Helper()
	list, err := s.Rig.Client.CoreV1().Pods(s.Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	for i := range list.Items {
		left[list.Items[i].Name] = true
	}
	return left
}

func TestKillInstances_killsAsManyAsItSaysAndTellsOfEach(t *testing.T) {
	t.Parallel()
	s, view, pods := playing(t, "orders", 5)
	told := filepath.Join(t.TempDir(), "told")
	from := time.Now().UTC()
	got := run(t, "kill-instances.sh", "-n", s.Namespace, "-l", "app=orders", "--percent", "30", "--yes",
		"--killer", `echo "$NAMESPACE/$POD $POD_IP $NODE" >> `+told)
	if got.code != 0 {
		t.Fatalf("it ended with %d: %s", got.code, got.err)
	}
	killed := kills(t, got.out)
	if len(killed) != 2 || !strings.Contains(got.err, "2 of 5 pods") {
		t.Fatalf("30 %% of 5 pods are %d, and it says %q", len(killed), got.err)
	}
	left := names(t, s)
	if len(left) != 3 {
		t.Errorf("%d pods are left", len(left))
	}
	lines := make([]string, 0, len(killed))
	for _, k := range killed {
		if k.Process != "killed" || left[k.Pod] || k.At.Before(from) || k.Acknowledged.Before(k.At) || k.Acknowledged.After(time.Now()) {
			t.Errorf("it tells %+v", k)
		}
		lines = append(lines, k.Namespace+"/"+k.Pod+" "+k.IP+" "+k.Node)
	}
	wantTold(t, told, lines)
	gone := slices.DeleteFunc(pods, func(p *stage.Pod) bool { return left[p.Name] })
	if _, err := view.AwaitStatus(t.Context(), stage.Gone, stage.IDs(gone)...); err != nil {
		t.Error(err)
	}
}

// wantTold holds what the killer was told against what is told of it.
func wantTold(t *testing.T, path string, want []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(strings.ReplaceAll(string(text), " ", "_"))
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], " ", "_")
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the killer was told (-want +got):\n%s", diff)
	}
}

func TestKillInstances_killsNobodyUnlessItMay(t *testing.T) {
	t.Parallel()
	s, _, _ := playing(t, "stock", 3)
	base := []string{"-n", s.Namespace, "-l", "app=stock"}
	tests := map[string]struct {
		args []string
		want outcome // of err, a part
	}{
		"a dry run":           {[]string{"--count", "1", "--dry-run"}, outcome{err: "1 of 3 pods\n  stock-", code: 0}},
		"a large dry run":     {[]string{"--count", "3", "--dry-run"}, outcome{err: "this would need --force", code: 0}},
		"nobody to ask":       {[]string{"--count", "1"}, outcome{err: "nobody can be asked; give --yes", code: 2}},
		"too many":            {[]string{"--percent", "60", "--yes"}, outcome{err: "more than 50 % or than 20 pods; give --force", code: 2}},
		"a lower bound":       {[]string{"--count", "1", "--max-percent", "10", "--yes"}, outcome{err: "more than 10 %", code: 2}},
		"more than there are": {[]string{"--count", "4", "--yes", "--force"}, outcome{err: "4 are wanted, and 3 run", code: 2}},
		"no number":           {[]string{"--count", "1+1", "--yes"}, outcome{err: "--count is \"1+1\"", code: 2}},
		"both":                {[]string{"--count", "1", "--percent", "1", "--yes"}, outcome{err: "either --count or --percent", code: 2}},
		"neither":             {[]string{"--yes"}, outcome{err: "usage", code: 2}},
		"another selector":    {[]string{"--count", "1", "--yes", "-l", "app=none"}, outcome{err: "no pod of app=none runs", code: 2}},
		"no selector":         {[]string{"--count", "1", "--yes", "-l", ""}, outcome{err: "usage", code: 2}},
	}
	for name, tc := range tests {
		got := run(t, "kill-instances.sh", append(append([]string{}, base...), tc.args...)...)
		if got.code != tc.want.code || got.out != "" || !strings.Contains(got.err, tc.want.err) {
			t.Errorf("%s: exit code %d, output %q, it says %q; want %d and %q", name, got.code, got.out, got.err, tc.want.code, tc.want.err)
		}
	}
	if left := names(t, s); len(left) != 3 {
		t.Errorf("%d pods are left", len(left))
	}
}

func TestKillInstances_choosesTheSameWithTheSameSeed(t *testing.T) {
	t.Parallel()
	s, _, _ := playing(t, "seeds", 5)
	choose := func() string {
		return run(t, "kill-instances.sh", "-n", s.Namespace, "-l", "app=seeds", "--count", "2", "--seed", "7", "--dry-run").err
	}
	if diff := cmp.Diff(choose(), choose()); diff != "" {
		t.Errorf("two runs differ:\n%s", diff)
	}
}
