package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/kureka/kureka/test/rig/built"
	"github.com/kureka/kureka/test/rig/stage"
)

const (
	root    = "../.."
	kubectl = "kubectl"
)

// shared is what all tests play with.
var shared struct {
	rig      *stage.Rig
	operator *stage.Operator
	env      []string // of the tools: the PATH with kubectl, and the kubeconfig
}

func TestMain(m *testing.M) {
	// Before a network namespace is entered, in which nothing can be built.
	if _, err := built.Path(context.Background(), root, kubectl); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(stage.Run(m, stage.Options{}, prepare))
}

func prepare(ctx context.Context, rig *stage.Rig) (err error) {
	path, err := built.Path(ctx, root, kubectl)
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(rig.Plane.LogDir(), "chaos.kubeconfig")
	if err := rig.Plane.Kubeconfig(kubeconfig); err != nil {
		return err
	}
	shared.rig = rig
	shared.env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "PATH="+filepath.Dir(path)+":"+os.Getenv("PATH"))
	shared.operator, err = rig.StartManager(ctx, stage.OperatorOptions{Name: "kureka", Gate: "Off"})
	return err
}

// outcome is what a tool did.
type outcome struct {
	out, err string
	code     int
}

// script is a tool of hack/chaos that is about to run.
type script struct {
	*exec.Cmd
	out, err buffer
}

func newScript(t *testing.T, name string, args ...string) *script {
	t.Helper()
	s := &script{}
	s.Cmd = exec.CommandContext(t.Context(), "bash", append([]string{filepath.Join("..", "..", "hack", "chaos", name)}, args...)...)
	s.Env, s.Stdout, s.Stderr = shared.env, &s.out, &s.err
	return s
}

// outcome is what it did; err is what running it answered.
func (s *script) outcome(t *testing.T, err error) outcome {
	t.Helper()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		t.Fatal(err)
	}
	return outcome{s.out.String(), s.err.String(), s.ProcessState.ExitCode()}
}

// buffer is a bytes.Buffer that is read while somebody writes.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// run runs a tool to its end.
func run(t *testing.T, name string, args ...string) outcome {
	t.Helper()
	s := newScript(t, name, args...)
	return s.outcome(t, s.Run())
}

// figures reads the lines "name value" of a result.
func figures(t *testing.T, out string) map[string]float64 {
	t.Helper()
	found := map[string]float64{}
	for line := range strings.Lines(out) {
		var name string
		var value float64
		if n, err := fmt.Sscan(line, &name, &value); n != 2 || err != nil {
			t.Errorf("the line %q is no figure: %v", line, err)
		}
		found[name] = value
	}
	return found
}

// TestTheToolsAreClean has shellcheck read the tools where there is one.
func TestTheToolsAreClean(t *testing.T) {
	t.Parallel()
	shellcheck, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("there is no shellcheck on this machine")
	}
	tools, err := filepath.Glob(filepath.Join("..", "..", "hack", "chaos", "*.sh"))
	if err != nil || len(tools) == 0 {
		t.Fatalf("%d tools, %v", len(tools), err)
	}
	if out, err := exec.CommandContext(t.Context(), shellcheck, tools...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
