package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

// line is a permission as the markers in the code name it.
func line(verb, resource, group, namespace, names string) string {
	return fmt.Sprintf("%s %s.%s in %q named %q", verb, resource, group, namespace, names)
}

// markers are the permissions that the code asks for.
func markers(t *testing.T) []string {
	t.Helper()
	var all []string
	marker := regexp.MustCompile(`(?m)^// \+kubebuilder:rbac:(.*)$`)
	code := os.DirFS(filepath.Join(root, "controllers"))
	err := fs.WalkDir(code, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := fs.ReadFile(code, path)
		if err != nil {
			return err
		}
		for _, found := range marker.FindAllStringSubmatch(string(text), -1) {
			all = append(all, markedBy(found[1])...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func markedBy(text string) (all []string) {
	fields := map[string]string{}
	for field := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(field, "=")
		fields[name] = strings.Trim(value, `"`)
	}
	for resource := range strings.SplitSeq(fields["resources"], ";") {
		for verb := range strings.SplitSeq(fields["verbs"], ";") {
			all = append(all, line(verb, resource, fields["groups"], fields["namespace"], fields["resourceNames"]))
		}
	}
	return all
}

func TestRole_isWhatTheCodeAsksFor(t *testing.T) {
	t.Parallel()
	rules, err := readRules(filepath.Join(root, roleFile))
	if err != nil {
		t.Fatal(err)
	}
	homes := map[scope]string{ownNamespace: systemNamespace, nodeLeases: nodeLeaseNamespace}
	var all []string
	for _, r := range rules {
		for _, verb := range r.verbs {
			all = append(all, line(verb, r.resource, r.group, homes[r.scope], strings.Join(r.names, ";")))
		}
	}
	slices.Sort(all)
	if diff := cmp.Diff(markers(t), all); diff != "" {
		t.Errorf("permissions differ (-markers +%s):\n%s", roleFile, diff)
	}
}

func TestPermissions_explainEveryRuleAndNoOther(t *testing.T) {
	t.Parallel()
	rules, err := readRules(filepath.Join(root, roleFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := explained(rules, permissions()); err != nil {
		t.Error(err)
	}
	more := append(permissions(), permission{resource: "secrets", scope: namespaces, verbs: "get"})
	if err := explained(rules, more); err == nil || !strings.Contains(err.Error(), "get on secrets (namespaced) has a reason and is not granted") {
		t.Errorf("a reason without a rule: %v", err)
	}
	if err := explained(rules, permissions()[1:]); err == nil || !strings.Contains(err.Error(), "watch on pods (namespaced) is granted and nothing says why") {
		t.Errorf("a rule without a reason: %v", err)
	}
}

// What is generated is what is committed.
func TestRun_changesNothing(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	generated := []string{"charts/kureka/README.md", "charts/kureka/files/crds", "charts/kureka/templates/_rules.tpl", "docs/rbac.md"}
	for _, dir := range []string{"charts/kureka", "config"} {
		if err := os.CopyFS(filepath.Join(work, dir), os.DirFS(filepath.Join(root, dir))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(work, "docs"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := run(work); err != nil {
		t.Fatal(err)
	}
	for _, path := range generated {
		if diff := cmp.Diff(contents(t, filepath.Join(root, path)), contents(t, filepath.Join(work, path))); diff != "" {
			t.Errorf("%s differs (-committed +generated); run make generate:\n%s", path, diff)
		}
	}
}

// contents are the files at or below a path, by their name.
func contents(t *testing.T, path string) map[string]string {
	t.Helper()
	all := map[string]string{}
	folder := os.DirFS(filepath.Dir(path))
	err := fs.WalkDir(folder, filepath.Base(path), func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(folder, name)
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestReadme_wantsACommentForEveryValue(t *testing.T) {
	t.Parallel()
	got, err := readmeOf([]byte("# About all of them.\n\n# In two\n# lines, a|b.\na:\n  b: 1\nc:\n  # Nested.\n  d: [x]\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := readmeHead + "| `a` | `{\"b\":1}` | In two lines, a\\|b. |\n| `c.d` | `[\"x\"]` | Nested. |\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the page differs (-want +got):\n%s", diff)
	}
	for _, values := range []string{"a: 1", "a: {b: 1}", "a: {}", "", "\t"} {
		if _, err := readmeOf([]byte(values)); err == nil {
			t.Errorf("took %q", values)
		}
	}
}
