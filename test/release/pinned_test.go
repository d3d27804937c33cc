package release

import (
	"bytes"
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// toolchainLine is where go.mod names the Go of releases.
var toolchainLine = regexp.MustCompile(`(?m)^toolchain (go1\.\S+)$`)

// wantedGo is the Go that the go.mod in a folder names.
func wantedGo(t *testing.T, dir string) string {
	t.Helper()
	line := toolchainLine.FindSubmatch(read(t, dir, "go.mod"))
	if line == nil {
		t.Fatal("go.mod does not name the Go that releases are built with")
	}
	return string(line[1])
}

func TestARelease_isBuiltWithTheGoOfGoMod(t *testing.T) {
	dir := release(t)
	want := wantedGo(t, filepath.Join(dir, top))
	if !bytes.Contains(read(t, dir, "THIRD_PARTY_NOTICES"), []byte("\nstd "+want+" (")) {
		t.Errorf("the notices do not name %s", want)
	}
	programs, err := filepath.Glob(filepath.Join(dir, "*"+version+"*.cdx.json"))
	if err != nil || len(programs) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	for _, path := range programs {
		path = strings.TrimSuffix(path, ".cdx.json")
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		std := billOf(t, path).Components[0]
		if info.GoVersion != want || std.Name != "std" || std.Version != want {
			t.Errorf("%s: built with %s, the bill names %s %s, want %s", filepath.Base(path), info.GoVersion, std.Name, std.Version, want)
		}
	}
}

func TestABuilderOfAnotherGo_buildsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "builder")
	if err := command("go", "build", "-o", path, "github.com/kureka/kureka/hack/release").Run(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module m\n\ngo 1.26.0\n\ntoolchain go1.26.99\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"all", "image", "rootfs"} {
		cmd := command(path, "-version", version, "-commit", commit, "-platforms", "linux/amd64", what)
		var said bytes.Buffer
		cmd.Dir, cmd.Stderr = dir, &said
		err := cmd.Run()
		for _, want := range []string{runtime.Version(), "go1.26.99", "hack/pinned.sh"} {
			if err == nil || !strings.Contains(said.String(), want) {
				t.Errorf("%s: error %v, which does not name %s: %s", what, err, want, said.String())
			}
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("%s: it left %v, error %v", what, entries, err)
		}
	}
}

// fakeGo puts a go command first in the environment's PATH that writes down the
// toolchain it is asked for and its arguments, in the file of which the path is
// returned, and does what script says.
func fakeGo(t *testing.T, cmd *exec.Cmd, script string) (calls string) {
	t.Helper()
	dir := t.TempDir()
	calls = filepath.Join(dir, "calls")
	text := "#!/bin/sh\necho \"$GOTOOLCHAIN: $*\" >>'" + calls + "'\n" + script
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(text), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local", "PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return calls
}

func TestWhatIsReleased_isMadeAndCheckedWithTheGoOfGoMod(t *testing.T) {
	want := wantedGo(t, top)
	for target, run := range map[string]string{
		"release":   "run ./hack/release -version " + version + " -name kureka:test all",
		"image":     "run ./hack/release -version " + version + " -name kureka:test image",
		"push":      "tool -modfile=hack/image/go.mod crane push  kureka:test",
		"vulncheck": "run ./hack/vulncheck",
	} {
		cmd := command("make", "-C", top, target, "VERSION="+version, "IMAGE=kureka:test")
		calls := fakeGo(t, cmd, `[ "$*" != "env GOVERSION" ] || echo "$GOTOOLCHAIN"`)
		if err := cmd.Run(); err != nil {
			t.Fatalf("make %s: %v", target, err)
		}
		if got := string(read(t, calls)); got != want+": env GOVERSION\n"+want+": "+run+"\n" {
			t.Errorf("make %s runs, want all of %s:\n%s", target, want, got)
		}
	}
}

func TestWhereTheGoOfGoModCannotBeHad_nothingIsBuiltAndTheCureIsTold(t *testing.T) {
	want := wantedGo(t, top)
	for name, script := range map[string]string{
		"it cannot be fetched":               "echo 'toolchain not available' >&2; exit 1",
		"one that knows nothing of fetching": "echo go1.20.1",
	} {
		cmd := command("make", "-C", top, "release", "VERSION="+version)
		calls := fakeGo(t, cmd, script)
		var said bytes.Buffer
		cmd.Stderr = &said
		err := cmd.Run()
		for _, told := range []string{want, "GOPROXY", "https://go.dev/dl"} {
			if err == nil || !strings.Contains(said.String(), told) {
				t.Errorf("%s: error %v, which does not tell %s: %s", name, err, told, said.String())
			}
		}
		if got := string(read(t, calls)); strings.Contains(got, "hack/release") {
			t.Errorf("%s: it builds all the same: %s", name, got)
		}
	}
}
