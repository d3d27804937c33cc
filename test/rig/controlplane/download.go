package controlplane

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

const (
	setupEnvtest = "sigs.k8s.io/controller-runtime/tools/setup-envtest@v0.25.1"
	// Release archives exist per minor release, not for every patch.
	downloadSeries = "1.37.x"

	reachTimeout    = 4 * time.Second
	downloadTimeout = 5 * time.Minute
)

// download fetches etcd and kube-apiserver with setup-envtest. Its archives hold
// no kube-controller-manager, so that one is always built. The index is asked
// first with a short timeout, because a machine without a way to it should lose
// seconds, not minutes.
func download(ctx context.Context, cache string, missing []string, progress io.Writer) error {
	wanted := slices.DeleteFunc(slices.Clone(missing), func(name string) bool { return name == controllerManagerName })
	if len(wanted) == 0 {
		return nil
	}
	if err := reach(ctx, envtest.DefaultBinaryAssetsIndexURL); err != nil {
		return fmt.Errorf("the release index is unreachable: %w", err)
	}
	fmt.Fprintf(progress, "control plane: downloading %s\n", strings.Join(wanted, ", "))
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	store := filepath.Join(cache, "download")
	cmd := exec.CommandContext(ctx, "go", "run", setupEnvtest, "use", "--bin-dir", store, "--print", "path", downloadSeries)
	cmd.Dir = cache
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("running setup-envtest: %w: %s", err, lastLines(stderr.String()))
	}
	for _, name := range wanted {
		if err := linkInto(cache, name, filepath.Join(strings.TrimSpace(string(out)), name)); err != nil {
			return fmt.Errorf("keeping the downloaded %s: %w", name, err)
		}
	}
	return nil
}

func reach(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, url, nil)
	if err != nil {
		return fmt.Errorf("building the request: %w", err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("answer %s", res.Status)
	}
	return nil
}

// linkInto makes cache/name a link to target, replacing a dangling one.
func linkInto(cache, name, target string) error {
	if _, err := os.Stat(target); err != nil {
		return err
	}
	tmp := filepath.Join(cache, name+".tmp")
	if err := os.RemoveAll(tmp); err != nil {
		return err
	}
	if err := os.Symlink(target, tmp); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(cache, name))
}
