package controlplane

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

const kubectlName = "kubectl"

// Kubectl returns the path of a kubectl: beside the control plane's programs, else
// the one on the PATH, else one that is built, in some three minutes and once per
// machine. It may be called from several processes at a time.
func Kubectl(ctx context.Context, progress io.Writer) (string, error) {
	l, err := newLocator()
	if err != nil {
		return "", err
	}
	if path := l.kubectl(); path != "" {
		return path, nil
	}
	if err := os.MkdirAll(l.cache, 0o750); err != nil {
		return "", fmt.Errorf("creating the cache folder: %w", err)
	}
	unlock, err := lockFile(ctx, filepath.Join(l.cache, "lock"), progress)
	if err != nil {
		return "", fmt.Errorf("waiting for another process that builds kubectl: %w", err)
	}
	defer unlock()
	if path := l.kubectl(); path != "" {
		return path, nil
	}
	if err := l.build(ctx, l.cache, kubectlName, progress); err != nil {
		return "", err
	}
	return filepath.Join(l.cache, kubectlName), nil
}

func (l locator) kubectl() string {
	if path := l.find(kubectlName); path != "" {
		return path
	}
	path, err := exec.LookPath(kubectlName)
	if err != nil {
		return "" // there is none, or none that can be run
	}
	return path
}
