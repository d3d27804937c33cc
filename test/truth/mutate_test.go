package truth

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var (
	mutate  = flag.Bool("mutate", false, "disable each veto, brake, fence and confirmation in turn; takes minutes")
	mutants = flag.String("mutants", "", "only those whose name contains this")
)

// mutation disables one brake: in a file of the product a piece of text that occurs
// once is replaced.
type mutation struct{ name, file, text, replacement string }

// root is the module, seen from this package.
const root = "../.."

func TestEveryMutationChangesTheProduct(t *testing.T) {
	t.Parallel()
	for _, m := range mutations() {
		if _, err := m.apply(); err != "" {
			t.Errorf("%s: %s", m.name, err)
		}
	}
}

// apply returns the file's text with the mutation, or what is wrong with it.
func (m mutation) apply() (text, problem string) {
	source, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return "", err.Error()
	}
	if n := strings.Count(string(source), m.text); n != 1 {
		return "", m.file + " holds its text " + map[bool]string{true: "no longer", false: "more than once"}[n == 0] + ":\n" + m.text
	}
	return strings.Replace(string(source), m.text, m.replacement, 1), ""
}

func TestWithoutAnyBrakeAHistoryGoesWrong(t *testing.T) {
	t.Parallel()
	if !*mutate {
		t.Skip("takes minutes: make mutate")
	}
	for _, m := range mutations() {
		if !strings.Contains(m.name, *mutants) {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			out, failed := m.play(t)
			if !failed {
				t.Fatalf("all histories went well without it:\n%s", out)
			}
			for line := range strings.Lines(out) {
				if strings.Contains(line, "seed ") {
					t.Log(strings.TrimSpace(line))
					return
				}
			}
			t.Errorf("the histories were not played:\n%s", out)
		})
	}
}

// mutantSeeds is how many histories are played without a brake at most.
const mutantSeeds = "2000"

// play builds the random histories with the mutation and plays them.
func (m mutation) play(t *testing.T) (out string, failed bool) {
	t.Helper()
	dir := t.TempDir()
	text, problem := m.apply()
	if problem != "" {
		t.Fatal(problem)
	}
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	original, err := filepath.Abs(filepath.Join(root, m.file))
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {original: write("mutated.go", []byte(text))}})
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "truth.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-ldflags=-s -w",
		"-overlay="+write("overlay.json", overlay), "-o", binary, ".")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building without it: %v\n%s", err, said)
	}
	run := exec.CommandContext(t.Context(), binary, "-test.run=^TestNobodyWhoLivesIsTakenForDeadInAnyHistory$", "-quick", "-seeds="+mutantSeeds)
	said, err := run.CombinedOutput()
	return string(said), err != nil
}
