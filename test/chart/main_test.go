package chart

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kureka/kureka/test/rig/built"
	"github.com/kureka/kureka/test/rig/netns"
	"github.com/kureka/kureka/test/rig/stage"
)

const (
	root      = "../.."
	chartPath = root + "/charts/kureka"
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	klog.SetLogger(logr.Discard()) // requests that end with a test are no news
	ctrllog.SetLogger(logr.Discard())
	ctx := context.Background()
	if err := prepare(ctx); err != nil {
		return 1, err
	}
	if _, err := netns.Enter(); err != nil {
		fmt.Fprintf(os.Stderr, "%v; what needs addresses of its own is skipped\n", err)
	}
	defer func() { err = errors.Join(err, stage.Discard()) }()
	home, err := os.MkdirTemp("", "kureka-helm-")
	if err != nil {
		return 1, fmt.Errorf("creating a folder for Helm: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	for _, name := range []string{"HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"} {
		if err := os.Setenv(name, filepath.Join(home, name)); err != nil {
			return 1, fmt.Errorf("giving Helm a home of its own: %w", err)
		}
	}
	// Flags that are not given have the values of a pod in this namespace.
	if err := os.Setenv("POD_NAMESPACE", systemNamespace); err != nil {
		return 1, fmt.Errorf("choosing the namespace: %w", err)
	}
	return m.Run(), nil
}

// prepare finds or builds every program, which a network namespace could not.
func prepare(ctx context.Context) error {
	if err := stage.Prepare(ctx, os.Stderr); err != nil {
		return err
	}
	for _, name := range []string{"helm", "kustomize", "kubectl"} {
		if _, err := built.Path(ctx, root, name); err != nil {
			return err
		}
	}
	return nil
}

// program is one of those that prepare has found.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := built.Path(t.Context(), root, name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
