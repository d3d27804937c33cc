package verdict_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/kureka/kureka/internal/verdict"
)

var update = flag.Bool("update", false, "write docs/signals.md anew")

const signalsFile = "../../docs/signals.md"

var classTexts = map[verdict.Class]string{
	verdict.Proof:         "## Proof\nThe instance is removed at once, self-preservation or not, and fenced: what its process still sends changes nothing.",
	verdict.Ending:        "## Ending\nThe instance is OUT_OF_SERVICE at once: its own end has begun.",
	verdict.Asked:         "## Asked\nThe instance is OUT_OF_SERVICE at once, also the last one: somebody asked for it.",
	verdict.HardNotice:    "## Hard notice\nThe instance is OUT_OF_SERVICE at once, but for the last one in service of its application: its node is about to go.",
	verdict.PlannedNotice: "## Planned notice\nThe instance is OUT_OF_SERVICE as far as the application's floor allows: half of its live instances, rounded down but at least one, stay in service. Drains honour disruption budgets and may take long.",
	verdict.Observed:      "## Observed\nActs like a planned notice, if the policy says so.",
	verdict.Inferred:      "## Inferred\nA conclusion that a second witness has to confirm; `/kureka/v1/instances/{app}/{id}` names it, or says what is waited for. The `heartbeat`: one of the node fell due since its Lease last changed, and did not come. The `prober`: the kubelet and a pod of the node did not answer twice when a TCP connection was opened, and somebody on another node did. Confirmed by a heartbeat it acts like a planned notice; by the prober it stops at the last instance in service only. A later heartbeat of the instance ends it, until the next one is late. Where most nodes of a zone or of the cluster are silent, only the prober confirms. While the view of the cluster is stale or incomplete, nothing is inferred.",
	verdict.Hint:          "## Hint\nShown to people, and nothing follows from it.",
}

// TestSignalsDocumentIsWhatTheChecksSay keeps docs/signals.md equal to the list of
// checks; -update writes it.
func TestSignalsDocumentIsWhatTheChecksSay(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Signals\n\nGenerated from the list of checks in `internal/verdict`; `make generate` writes it.\n\n" +
		"The first check that fires decides, in this order. A verdict follows from the current state, so it ends when its cause does.\n")
	last := verdict.None
	for _, c := range verdict.Checks() {
		if c.Class != last {
			fmt.Fprintf(&b, "\n%s\n\n| Reason | Witness | What it looks for |\n|---|---|---|\n", classTexts[c.Class])
			last = c.Class
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.Reason, c.Witness, c.About)
	}
	if *update {
		if err := os.WriteFile(signalsFile, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(signalsFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != b.String() {
		t.Errorf("%s is not what the checks say: run make generate", signalsFile)
	}
}
