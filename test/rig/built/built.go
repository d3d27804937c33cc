// Package built finds the programs of others that tests run and that hack/helm builds:
// Helm, kustomize and kubectl.
package built

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Path returns where a program is. It is built if it has not been, which takes minutes
// and the network; what runs in a network namespace finds it by the environment
// variable that is set here. root is the folder of this repository.
func Path(ctx context.Context, root, program string) (string, error) {
	variable := "KUREKA_TEST_" + strings.ToUpper(program)
	if known := os.Getenv(variable); known != "" {
		return known, nil
	}
	find := exec.CommandContext(ctx, "go", "-C", filepath.Join("hack", "helm"), "tool", "-n", program)
	find.Dir, find.Stderr = root, os.Stderr
	out, err := find.Output()
	if err != nil {
		return "", fmt.Errorf("building %s: %w", program, err)
	}
	path := strings.TrimSpace(string(out))
	return path, os.Setenv(variable, path)
}
