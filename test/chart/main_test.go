package chart

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kureka/kureka/test/rig/netns"
	"github.com/kureka/kureka/test/rig/stage"
)

const (
	root      = "../.."
	chartPath = root + "/charts/kureka"
)

// The environment variables that tell the inner program of a namespace where the
// tools are.
const (
	helmEnv      = "KUREKA_TEST_HELM"
	kustomizeEnv = "KUREKA_TEST_KUSTOMIZE"
	kubectlEnv   = "KUREKA_TEST_KUBECTL"
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
	for name, env := range map[string]string{"helm": helmEnv, "kustomize": kustomizeEnv, "kubectl": kubectlEnv} {
		if os.Getenv(env) != "" {
			continue
		}
		find := exec.CommandContext(ctx, "go", "-C", "hack/helm", "tool", "-n", name)
		find.Dir, find.Stderr = root, os.Stderr
		path, err := find.Output()
		if err != nil {
			return fmt.Errorf("building %s: %w", name, err)
		}
		if err := os.Setenv(env, strings.TrimSpace(string(path))); err != nil {
			return err
		}
	}
	return nil
}
