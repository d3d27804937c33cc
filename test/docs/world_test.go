package docs

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kureka/kureka/internal/app"
	"github.com/kureka/kureka/test/rig/markdown"
)

const root = "../.."

func documents(t *testing.T) []*markdown.Document {
	t.Helper()
	all, err := markdown.ReadAll(root)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// document reads one; its path is given from the top of the repository.
func document(t *testing.T, path string) *markdown.Document {
	t.Helper()
	d, err := markdown.Read(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	d.Path = path
	return d
}

// names is a set.
type names map[string]bool

// listed returns what the tables of a generated page are about, the first span of
// each line, if it has the prefix, and without it.
func listed(t *testing.T, page, prefix string) names {
	t.Helper()
	found := names{}
	last := 0
	for _, s := range document(t, page).Spans {
		if name, ok := strings.CutPrefix(s.Text, prefix); ok && s.Line > last {
			found[name] = true
		}
		last = s.Line
	}
	if len(found) == 0 {
		t.Fatalf("%s names nothing", page)
	}
	return found
}

// has reports whether a dotted name is in the set, or an object that holds names of
// it, or a key of one of which nobody says what it holds.
func (n names) has(name string) bool {
	for known := range n {
		if known == name || strings.HasPrefix(known, name+".") {
			return true
		}
	}
	dot := strings.LastIndexByte(name, '.')
	return dot > 0 && n[name[:dot]] && !n.holds(name[:dot])
}

// holds reports whether the set has names below an object.
func (n names) holds(object string) bool {
	for known := range n {
		if strings.HasPrefix(known, object+".") {
			return true
		}
	}
	return false
}

// firsts are the names before the first dot of those that have one.
func (n names) firsts() names {
	found := names{}
	for name := range n {
		if first, _, dotted := strings.Cut(name, "."); dotted {
			found[first] = true
		}
	}
	return found
}

var (
	usageCommand = regexp.MustCompile(`(?m)^  ([a-z-]+)   `)
	usageFlag    = regexp.MustCompile(`--([a-z-]+)`)
	makeTarget   = regexp.MustCompile(`(?m)^([a-z-]+):`)
)

// matches returns the first group of every match.
func matches(form *regexp.Regexp, text string) names {
	found := names{}
	for _, m := range form.FindAllStringSubmatch(text, -1) {
		found[m[1]] = true
	}
	return found
}

// usage is what the program says of itself.
func usage(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := app.ParseArgs([]string{"help"}, &out); !errors.Is(err, app.ErrHelp) {
		t.Fatalf("asking for help: %v", err)
	}
	return out.String()
}

func makefile(t *testing.T) names {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	return matches(makeTarget, string(text))
}
