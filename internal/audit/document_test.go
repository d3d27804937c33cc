package audit_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kureka/kureka/internal/audit"
)

var update = flag.Bool("update", false, "write the list of rules into docs/audit.md anew")

const document = "../../docs/audit.md"

// The lines between which the document repeats the rules.
const (
	listBegin = "<!-- Generated from the rules of internal/audit; `make generate` rewrites it. -->\n"
	listEnd   = "<!-- End of the generated list. -->\n"
)

// TestTheDocumentListsTheRules keeps docs/audit.md equal to the rules; -update writes
// it.
func TestTheDocumentListsTheRules(t *testing.T) {
	t.Parallel()
	old, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, foundBegin := strings.Cut(string(old), listBegin)
	list, after, foundEnd := strings.Cut(rest, listEnd)
	if !foundBegin || !foundEnd {
		t.Fatalf("%s lacks the lines that enclose the list", document)
	}
	want := rulesAsText()
	if list == want {
		return
	}
	if !*update {
		t.Fatalf("%s does not list the rules; run make generate (-document +rules):\n%s", document, cmp.Diff(list, want))
	}
	if err := os.WriteFile(document, []byte(before+listBegin+want+listEnd+after), 0o600); err != nil {
		t.Fatal(err)
	}
}

func rulesAsText() string {
	var b strings.Builder
	for _, g := range audit.Groups() {
		fmt.Fprintf(&b, "\n### %s\n| Rule | Severity | What it looks for | Advice |\n|---|---|---|---|\n", g.Title)
		for _, r := range g.Rules {
			advice := r.Advice
			if advice == "" {
				advice = "depends on the drain, see above"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.ID, r.Severity, r.About, advice)
		}
	}
	b.WriteString("\n")
	return b.String()
}
