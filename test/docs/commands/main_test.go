package commands

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kureka/kureka/test/rig/built"
	"github.com/kureka/kureka/test/rig/controlplane"
	"github.com/kureka/kureka/test/rig/netns"
	"github.com/kureka/kureka/test/rig/stage"
)

const (
	root = "../../.."
	// patience bounds what a section takes, a build among it, and every wait: Java
	// starts slowly on a busy machine.
	patience   = 8 * time.Minute
	probeEvery = 100 * time.Millisecond
)

var withClients = flag.Bool("clients", false, "build and run the quickstarts that need more than Go")

// quickstartsEnv tells the inner program of a namespace what has been prepared.
const quickstartsEnv = "KUREKA_TEST_QUICKSTARTS"

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if os.Getenv(quickstartsEnv) == "" {
		if err := prepare(context.Background()); err != nil {
			return 1, err
		}
	}
	if _, err := netns.Enter(); err != nil {
		if *withClients {
			return 1, fmt.Errorf("the quickstarts cannot be run: %w", err)
		}
		fmt.Fprintf(os.Stderr, "%v; commands that need ports of their own are skipped\n", err)
	}
	defer func() { err = errors.Join(err, stage.Discard(), os.RemoveAll(os.Getenv(quickstartsEnv))) }()
	return m.Run(), nil
}

// prepare finds or builds what a network namespace could not.
func prepare(ctx context.Context) error {
	if err := stage.Prepare(ctx, os.Stderr); err != nil {
		return err
	}
	if _, err := built.Path(ctx, root, "kubectl"); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "kureka-quickstarts-")
	if err != nil {
		return fmt.Errorf("creating a folder for the quickstarts: %w", err)
	}
	if err := build(ctx, folder); err != nil {
		return errors.Join(err, os.RemoveAll(folder))
	}
	return os.Setenv(quickstartsEnv, folder)
}

// programs makes a folder for PATH and one for KUBEBUILDER_ASSETS, so that a shell
// finds kubectl and the control plane.
func programs(t *testing.T) (path, assets string) {
	t.Helper()
	binaries, err := controlplane.Ensure(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	path, assets = t.TempDir(), t.TempDir()
	kubectl, err := built.Path(t.Context(), root, "kubectl")
	if err != nil {
		t.Fatal(err)
	}
	links := map[string]string{filepath.Join(path, "kubectl"): kubectl}
	for _, program := range []string{binaries.Etcd, binaries.APIServer, binaries.ControllerManager} {
		links[filepath.Join(assets, filepath.Base(program))] = program
	}
	for link, program := range links {
		if err := os.Symlink(program, link); err != nil {
			t.Fatal(err)
		}
	}
	return path, assets
}
