package archtest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The lines between which the linter's configuration repeats the table.
const (
	configBegin = "      # Generated from the table of internal/archtest; `make generate` rewrites it.\n"
	configEnd   = "      # End of the generated rules.\n"
)

var update = flag.Bool("update", false, "rewrite the import rules in .golangci.yml")

func TestLinter_saysWhatTheTableSays(t *testing.T) {
	t.Parallel()
	path := filepath.Join(root, ".golangci.yml")
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, foundBegin := strings.Cut(string(old), configBegin)
	rules, after, foundEnd := strings.Cut(rest, configEnd)
	if !foundBegin || !foundEnd {
		t.Fatalf("%s lacks the lines that enclose the generated rules", path)
	}
	want := linterRules(table())
	if rules == want {
		return
	}
	if !*update {
		t.Fatalf("the import rules in .golangci.yml are not the table's; `make generate` rewrites them (-file +table):\n%s", cmp.Diff(rules, want))
	}
	if err := os.WriteFile(path, []byte(before+configBegin+want+configEnd+after), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLinterRules_writesAllowancesAndImpurities(t *testing.T) {
	t.Parallel()
	rows := []row{
		{pkg: "internal/above", may: []string{"internal/core"}, libs: []string{logr}},
		{pkg: "internal/core", pure: true},
		{pkg: "hack", open: true},
	}
	const want = `      rules:
        internal-above:
          list-mode: strict
          files: ["${config-path}/internal/above/**", "!$test"]
          allow:
            - $gostd
            - github.com/kureka/kureka/internal/above
            - github.com/kureka/kureka/internal/core
            - github.com/go-logr/logr
        internal-core:
          list-mode: strict
          files: ["${config-path}/internal/core/**", "!$test"]
          allow:
            - $gostd
            - github.com/kureka/kureka/internal/core
          deny:
            - { pkg: log, desc: "pure code returns, it does not log" }
            - { pkg: net/http, desc: "pure code has no transport" }
            - { pkg: os, desc: "pure code has no process" }
            - { pkg: syscall, desc: "pure code has no system" }
`
	if diff := cmp.Diff(want, linterRules(rows)); diff != "" {
		t.Errorf("rules differ (-want +got):\n%s", diff)
	}
}

// linterRules writes the table as strict lists of depguard.
func linterRules(rows []row) string {
	var b strings.Builder
	b.WriteString("      rules:\n")
	for _, r := range rows {
		if r.open {
			continue
		}
		fmt.Fprintf(&b, "        %s:\n          list-mode: strict\n", strings.ReplaceAll(r.pkg, "/", "-"))
		fmt.Fprintf(&b, "          files: [\"${config-path}/%s/**\", \"!$test\"]\n          allow:\n            - $gostd\n", r.pkg)
		for _, own := range append([]string{r.pkg}, r.may...) {
			fmt.Fprintf(&b, "            - %s/%s\n", module, own)
		}
		for _, lib := range r.libs {
			fmt.Fprintf(&b, "            - %s\n", lib)
		}
		if !r.pure {
			continue
		}
		b.WriteString("          deny:\n")
		for _, bad := range impurities() {
			fmt.Fprintf(&b, "            - { pkg: %s, desc: %q }\n", bad.pkg, bad.why)
		}
	}
	return b.String()
}
