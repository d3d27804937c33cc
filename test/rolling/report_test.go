package rolling

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// row is what one test has counted.
type row struct {
	scene, variant, timing string
	took                   time.Duration
	fewest                 int // instances that the gateway knew
	tally                  tally
}

// observed is what was seen while a scene was played.
type observed struct {
	load   *load
	fewest int // instances that the gateway knew
}

// report collects the rows of all tests. It may be used from several goroutines.
type report struct {
	mu   sync.Mutex
	rows []row
}

func (r *report) add(line row) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows = append(r.rows, line)
}

// String is the report as a table of Markdown; empty if there are no rows.
func (r *report) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.rows) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("| Scene | Registry | Timing | Took | Fewest known | Calls | Failed |")
	for _, o := range failures() {
		fmt.Fprintf(&b, " %s |", o)
	}
	b.WriteString("\n|" + strings.Repeat("---|", 7+len(failures())) + "\n")
	for _, line := range r.rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %d s | %d | %d | %d |",
			line.scene, line.variant, line.timing, wholeSeconds(line.took), line.fewest, line.tally.calls(), line.tally.failed())
		for _, o := range failures() {
			fmt.Fprintf(&b, " %d |", line.tally[o])
		}
		b.WriteString("\n")
	}
	return b.String()
}

// judge reports what was seen and fails the test if a call failed that must not have.
func (w *world) judge(scene string, took time.Duration, seen observed, lossless bool) {
	w.Helper()
	l := seen.load
	count := tally(l.count)
	shared.report.add(row{scene: scene, variant: w.variant.title, timing: w.timing.String(), took: took, fewest: seen.fewest, tally: count})
	w.Logf("%s, %s, %s: %d of %d calls failed: %v", scene, w.variant.title, w.timing, count.failed(), count.calls(), count)
	if count.failed() > 0 {
		w.Timeline.At(l.first, "caller", "the first call fails")
		w.Timeline.At(l.last, "caller", "the last call fails")
		for said, n := range l.seen {
			w.Timeline.At(l.last, "caller", "%d times: %s", n, said)
		}
	}
	w.Logf("what happened:\n%s", w.Timeline)
	if lossless && count.failed() > 0 {
		w.Errorf("%d of %d calls failed, want none", count.failed(), count.calls())
	}
}

func TestTheReportIsATable(t *testing.T) {
	var r report
	if got := r.String(); got != "" {
		t.Errorf("an empty report is %q", got)
	}
	r.add(row{scene: "rollout", variant: "none", timing: "tuned", took: 90 * time.Second, fewest: 9, tally: tally{answered: 97, refused: 2, late: 1}})
	want := `| Scene | Registry | Timing | Took | Fewest known | Calls | Failed | refused | broken off | no instance | timeout | other failures |
|---|---|---|---|---|---|---|---|---|---|---|---|
| rollout | none | tuned | 90 s | 9 | 100 | 3 | 2 | 0 | 0 | 1 | 0 |
`
	if diff := cmp.Diff(want, r.String()); diff != "" {
		t.Errorf("the table differs (-want +got):\n%s", diff)
	}
}
