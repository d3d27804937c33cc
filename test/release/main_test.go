package release

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

const (
	top     = "../.."
	version = "v1.2.3-test.1"
	commit  = "0123456789abcdef0123456789abcdef01234567"
	epoch   = "1700000000"
	created = "2023-11-14T22:13:20Z"
)

// everything builds for all platforms, which takes minutes: make release-check.
var everything = flag.Bool("everything", false, "build for all platforms, with the Go that releases are built with; else for this machine's, with the Go that runs the test")

// architectures are those that the image is built for.
func architectures() []string {
	if *everything {
		return []string{"amd64", "arm64"}
	}
	return []string{runtime.GOARCH}
}

// tempDir holds the folders that are built in.
var tempDir string

func TestMain(m *testing.M) {
	if root := os.Getenv(rootEnv); root != "" {
		fmt.Fprintln(os.Stderr, enter(root)) // returns only when it fails
		os.Exit(1)
	}
	var err error
	if tempDir, err = os.MkdirTemp("", "kureka-release-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(tempDir) // what is left is in the folder for such things
	os.Exit(code)
}

// built is a release, built once.
var built = sync.OnceValues(func() (string, error) { return buildIn("one") })

// release returns the folder of a release.
func release(t *testing.T) string {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// buildIn builds a release in a copy of the sources in a folder of that name, and
// returns where it is.
func buildIn(name string, env ...string) (string, error) {
	dir := filepath.Join(tempDir, name)
	if err := copySources(dir); err != nil {
		return "", err
	}
	args := []string{"-version", version, "-commit", commit}
	if !*everything {
		args = append(args, "-platforms", "linux/"+runtime.GOARCH)
		// One of its own is what nobody has to fetch or to build the standard library for.
		if err := command("go", "mod", "edit", "-toolchain="+runtime.Version(), filepath.Join(dir, "go.mod")).Run(); err != nil {
			return "", fmt.Errorf("naming the Go of this test: %w", err)
		}
	}
	cmd := builder(dir, append(args, "all")...)
	cmd.Env = append(append(os.Environ(), "SOURCE_DATE_EPOCH="+epoch), env...)
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("building a release: %w", err)
	}
	return filepath.Join(dir, "dist", version), nil
}

// builder is the command that builds releases, run in a copy of the sources as make
// does it.
func builder(dir string, args ...string) *exec.Cmd {
	cmd := command("sh", append([]string{"hack/pinned.sh", "go", "run", "./hack/release"}, args...)...)
	cmd.Dir = dir
	return cmd
}

func command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...) //nolint:noctx // bounded by the test's own limit
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd
}

// copySources copies what is committed or could be, as a checkout has it.
func copySources(to string) error {
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard") //nolint:noctx // it lists files
	list.Dir = top
	names, err := list.Output()
	if err != nil {
		return fmt.Errorf("listing the sources: %w", err)
	}
	for name := range strings.SplitSeq(strings.Trim(string(names), "\x00"), "\x00") {
		if err := copyFile(filepath.Join(to, name), filepath.Join(top, name)); err != nil {
			return fmt.Errorf("copying the sources: %w", err)
		}
	}
	return nil
}

func copyFile(to, from string) error {
	content, err := os.ReadFile(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // removed, but not committed yet
	case err != nil:
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}

// read returns a file's content.
func read(t *testing.T, path ...string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return content
}
