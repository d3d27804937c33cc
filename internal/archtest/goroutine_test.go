package archtest

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestModule_pureCodeStartsNoGoroutine(t *testing.T) {
	t.Parallel()
	for _, r := range table() {
		if !r.pure {
			continue
		}
		for _, file := range productFiles(t, filepath.Join(root, r.pkg)) {
			for _, pos := range goStatements(t, file, nil) {
				t.Errorf("%s: pure code starts no goroutine", pos)
			}
		}
	}
}

func TestGoStatements_findsThemAtAnyDepth(t *testing.T) {
	t.Parallel()
	const source = `package p
import "sync"
func quiet() {}
func outer() {
	func() {
		go quiet()
	}()
	var group sync.WaitGroup
	group.Go(quiet)
}
`
	if diff := cmp.Diff([]string{"p.go:6:3", "p.go:9:2"}, goStatements(t, "p.go", source)); diff != "" {
		t.Errorf("positions differ (-want +got):\n%s", diff)
	}
}

// productFiles lists the Go files below dir that are not tests; a package that
// does not exist yet has none.
func productFiles(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			files = append(files, path)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("listing %s: %v", dir, err)
	}
	return files
}

// goStatements returns the positions of the go statements in a file, and of calls of
// a method Go, which groups of goroutines have for it. A nil source means that the
// file is read.
func goStatements(t *testing.T, name string, source any) []string {
	t.Helper()
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatalf("parsing %s: %v", name, err)
	}
	var found []string
	for n := range ast.Preorder(tree) {
		if startsGoroutine(n) {
			found = append(found, files.Position(n.Pos()).String())
		}
	}
	return found
}

func startsGoroutine(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		method, ok := n.Fun.(*ast.SelectorExpr)
		return ok && method.Sel.Name == "Go"
	}
	return false
}
