package archtest

import (
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The line after which the page repeats the table.
const pageBegin = "<!-- The rest is generated from the table of internal/archtest: make generate -->\n"

func TestLinter_andPageSayWhatTheTableSays(t *testing.T) {
	t.Parallel()
	path := filepath.Join(root, "docs", "architecture.md")
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, have, found := strings.Cut(string(old), pageBegin)
	if !found {
		t.Fatalf("%s lacks the line before what is generated", path)
	}
	want, err := page(table())
	if err != nil {
		t.Fatal(err)
	}
	if have == want {
		return
	}
	if !*update {
		t.Fatalf("docs/architecture.md does not have the table; `make generate` rewrites it (-file +table):\n%s", cmp.Diff(have, want))
	}
	if err := os.WriteFile(path, []byte(before+pageBegin+want), 0o600); err != nil {
		t.Fatal(err)
	}
}

// page lists the packages of the product that there are, each with what its comment
// says first.
func page(rows []row) (string, error) {
	var b strings.Builder
	b.WriteString("\n| Package | In its own words | May import |\n|---|---|---|\n")
	for _, r := range rows {
		if r.open || !isThere(r.pkg) {
			continue
		}
		words, err := synopsis(folderOf(r.pkg))
		if err != nil {
			return "", err
		}
		name := "`" + r.pkg + "`"
		if r.pure {
			name += ", pure"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, words, allowances(r))
	}
	return b.String(), nil
}

// allowances are what there is that a package may import of this module.
func allowances(r row) string {
	may := slices.DeleteFunc(slices.Clone(r.may), func(pkg string) bool { return !isThere(pkg) })
	if len(may) == 0 {
		return "nothing of Kureka"
	}
	return "`" + strings.Join(may, "`, `") + "`"
}

func folderOf(pkg string) string { return filepath.Join(root, filepath.FromSlash(pkg)) }

// isThere reports whether a package of the table has been written already.
func isThere(pkg string) bool {
	_, err := os.Stat(folderOf(pkg))
	return err == nil
}

// synopsis is the first sentence of a package's comment.
func synopsis(folder string) (string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return "", fmt.Errorf("listing %s: %w", folder, err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			return "", fmt.Errorf("reading the comment of %s: %w", folder, err)
		}
		if parsed.Doc != nil {
			return new(doc.Package).Synopsis(parsed.Doc.Text()), nil
		}
	}
	return "", nil
}
