package docs

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kureka/kureka/test/rig/markdown"
)

// ownPath is a path of this repository in code style.
var ownPath = regexp.MustCompile(`^(api|charts|cmd|config|controllers|docs|hack|internal|test)/[A-Za-z0-9_./-]*$`)

func TestEveryPathExists(t *testing.T) {
	for _, d := range documents(t) {
		for _, s := range d.Spans {
			if ownPath.MatchString(s.Text) && !exists(s.Text) {
				t.Errorf("%s:%d names %s, which does not exist", d.Path, s.Line, s.Text)
			}
		}
	}
}

func exists(name string) bool {
	_, err := os.Stat(filepath.Join(root, name))
	return err == nil
}

func TestEveryLinkLeadsSomewhere(t *testing.T) {
	for _, d := range documents(t) {
		for _, l := range d.Links {
			if strings.Contains(l.Target, "://") {
				continue
			}
			if problem := follow(t, d, l.Target); problem != "" {
				t.Errorf("%s:%d links to %s: %s", d.Path, l.Line, l.Target, problem)
			}
		}
	}
}

// follow returns what is wrong with a link of a document.
func follow(t *testing.T, d *markdown.Document, target string) (problem string) {
	t.Helper()
	file, fragment, anchored := strings.Cut(target, "#")
	if file != "" {
		file = path.Join(path.Dir(d.Path), file)
		if !exists(file) {
			return "there is no such file"
		}
		if !anchored {
			return ""
		}
		d = document(t, file)
	}
	if !d.Anchors()[fragment] {
		return "there is no such heading"
	}
	return ""
}

var namedTarget = regexp.MustCompile(`(?:^|[;&|(] *|"\$\()make((?: --?[a-z-]+)*)((?: +[a-z-]+)*)`)

func TestEveryMakeTargetExists(t *testing.T) {
	targets := makefile(t)
	for _, d := range documents(t) {
		for _, c := range d.Code() {
			for _, m := range namedTarget.FindAllStringSubmatch(c.Text, -1) {
				for target := range strings.FieldsSeq(m[2]) {
					if !targets[target] {
						t.Errorf("%s:%d names the target %s", d.Path, c.Line, target)
					}
				}
			}
		}
	}
}

var (
	ownCommand = regexp.MustCompile(`^(?:bin/)?kureka +([a-z][^ ]*)`)
	ownLine    = regexp.MustCompile(`^(?:bin/)?kureka |^--`)
	flagUse    = regexp.MustCompile(`(?:^| )--([a-z-]+)`)
)

// foreignFlags are those that documents name without their program, and help, which
// the usage does not list.
func foreignFlags() names {
	return names{"set": true, "take-ownership": true, "force-conflicts": true, "set-json": true, "flag": true, "help": true}
}

func TestEveryCommandAndFlagExists(t *testing.T) {
	text := usage(t)
	commands, flags, others := matches(usageCommand, text), matches(usageFlag, text), otherFlags(t)
	for _, d := range documents(t) {
		for _, c := range d.Code() {
			if !ownLine.MatchString(c.Text) {
				continue
			}
			for name := range matches(ownCommand, c.Text) {
				if !commands[name] {
					t.Errorf("%s:%d names the command %s", d.Path, c.Line, name)
				}
			}
			for flag := range matches(flagUse, c.Text) {
				if !flags[flag] && !foreignFlags()[flag] && (!others[flag] || !strings.HasPrefix(c.Text, "--")) {
					t.Errorf("%s:%d names the flag --%s", d.Path, c.Line, flag)
				}
			}
		}
	}
}

var (
	setting    = regexp.MustCompile(`--set(?: |=)'?([^ ']+)`)
	assignment = regexp.MustCompile(`(?:^|,)([A-Za-z][A-Za-z0-9.\[\]]*)=`)
	index      = regexp.MustCompile(`\[\d*\]`)
	dotted     = regexp.MustCompile(`^[a-z][A-Za-z]*\.[A-Za-z0-9.\[\]]+`)
)

func TestEveryChartValueExists(t *testing.T) {
	values := listed(t, "charts/kureka/README.md", "")
	for _, d := range documents(t) {
		for _, c := range d.Code() {
			for _, m := range setting.FindAllStringSubmatch(c.Text, -1) {
				for name := range matches(assignment, m[1]) {
					if !values.has(index.ReplaceAllString(name, "")) {
						t.Errorf("%s:%d sets the value %s", d.Path, c.Line, name)
					}
				}
			}
		}
	}
}

// Whatever begins like a value of the chart or a field of a custom resource and has
// a dot is one of them.
func TestEveryDottedNameExists(t *testing.T) {
	values := listed(t, "charts/kureka/README.md", "")
	fields := listed(t, "docs/custom-resources.md", "spec.")
	for field := range listed(t, "docs/custom-resources.md", "status.") {
		fields["status."+field] = true
	}
	known := names{}
	for name := range values {
		known[name] = true
	}
	for name := range fields {
		known[strings.ReplaceAll(name, "[]", "")] = true
	}
	firsts := known.firsts()
	for _, d := range documents(t) {
		for _, s := range d.Spans {
			name := index.ReplaceAllString(dotted.FindString(s.Text), "")
			first, _, _ := strings.Cut(name, ".")
			if firsts[first] && !strings.HasSuffix(name, ".k8s.io") && !known.has(name) {
				t.Errorf("%s:%d names %s, which is neither a value of the chart nor a field", d.Path, s.Line, name)
			}
		}
	}
}

var (
	metric = regexp.MustCompile(`\b(kureka_[a-z_]+)\b`)
	parts  = regexp.MustCompile(`_(bucket|sum|count)$`)
)

func TestEveryMetricExists(t *testing.T) {
	metrics := listed(t, "docs/metrics.md", "kureka_")
	for _, d := range documents(t) {
		for _, c := range d.Code() {
			for name := range matches(metric, c.Text) {
				if !metrics[strings.TrimPrefix(parts.ReplaceAllString(name, ""), "kureka_")] {
					t.Errorf("%s:%d names the metric %s", d.Path, c.Line, name)
				}
			}
		}
	}
}

// Commands that are marked to be run are in documents whose tests run them.
func TestEveryBlockThatIsToBeRunIsRunBySomebody(t *testing.T) {
	run := names{"README.md": true, "docs/quickstarts.md": true, "docs/install.md": true}
	for _, d := range documents(t) {
		for _, b := range d.Blocks {
			if b.Marker != "" && !run[d.Path] {
				t.Errorf("%s:%d is marked %q, and no test knows", d.Path, b.Line, b.Marker)
			}
		}
	}
}
