package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	modulePath       = "github.com/kureka/kureka"
	progressInterval = 15 * time.Second
)

// versionFlags makes the programs report Version; without it they call
// themselves v0.0.0 and clients refuse features.
const versionFlags = "-X k8s.io/component-base/version.gitVersion=" + Version +
	" -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=37"

// recipe is how one binary is built in the module hack/controlplane.
type recipe struct {
	pkg      string
	ldflags  string
	expected string // on two cores with an empty build cache
}

func recipeFor(name string) (recipe, bool) {
	switch name {
	case etcdName:
		return recipe{pkg: "./cmd/etcd", ldflags: "-s -w", expected: "2 minutes"}, true
	case apiServerName:
		return recipe{pkg: "k8s.io/kubernetes/cmd/kube-apiserver", ldflags: "-s -w " + versionFlags, expected: "10 minutes"}, true
	case controllerManagerName:
		return recipe{pkg: "k8s.io/kubernetes/cmd/kube-controller-manager", ldflags: "-s -w " + versionFlags, expected: "4 minutes"}, true
	}
	return recipe{}, false
}

// build compiles one binary with the Go toolchain and puts it into cache in one
// step, so that an interrupted build never leaves half a program there.
func build(ctx context.Context, cache, name string, progress io.Writer) error {
	r, ok := recipeFor(name)
	if !ok {
		return fmt.Errorf("building %s: not a control plane binary", name)
	}
	root, err := repositoryRoot()
	if err != nil {
		return fmt.Errorf("building %s: %w", name, err)
	}
	tmp := filepath.Join(cache, fmt.Sprintf("%s.%d.tmp", name, os.Getpid()))
	defer func() { _ = os.Remove(tmp) }() // there only after a failure
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", r.ldflags, "-o", tmp, r.pkg)
	cmd.Dir = filepath.Join(root, "hack", "controlplane")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// The toolchain's compilers are children of go: end them with it.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	err = withProgress(progress, fmt.Sprintf("control plane: building %s for Kubernetes %s (about %s on two cores, once per machine)", name, Version, r.expected), cmd.Run)
	if err != nil {
		return fmt.Errorf("building %s: %w\n%s\nthe build needs Go and the modules of hack/controlplane (from GOPROXY or the module cache); "+
			"alternatively put the binaries into %s or set KUBEBUILDER_ASSETS to a folder that has them", name, err, lastLines(output.String()), cache)
	}
	if err := os.Rename(tmp, filepath.Join(cache, name)); err != nil {
		return fmt.Errorf("keeping the built %s: %w", name, err)
	}
	return nil
}

// withProgress runs work and writes what with the elapsed time, at the start and
// then every progressInterval.
func withProgress(progress io.Writer, what string, work func() error) error {
	start := time.Now()
	done := make(chan error, 1)
	go func() { done <- work() }()
	fmt.Fprintf(progress, "%s\n", what)
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	for {
		select {
		case err := <-done:
			return err
		case now := <-ticker.C:
			fmt.Fprintf(progress, "%s: %s\n", what, now.Sub(start).Round(time.Second))
		}
	}
}

// repositoryRoot walks up from the working directory to the module's go.mod.
func repositoryRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the repository: %w", err)
	}
	for {
		if declaresModule(filepath.Join(dir, "go.mod")) {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("finding the repository: the working directory is outside the module " + modulePath)
		}
		dir = parent
	}
}

func declaresModule(goMod string) bool {
	content, err := os.ReadFile(goMod)
	if err != nil {
		return false
	}
	first, _, _ := strings.Cut(string(content), "\n")
	return strings.TrimSpace(first) == "module "+modulePath
}

// lastLines is the end of a log that fits into an error message.
func lastLines(s string) string {
	const limit = 30
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if len(lines) > limit {
		lines = lines[len(lines)-limit:]
	}
	return strings.Join(lines, "\n")
}
