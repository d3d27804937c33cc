package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/kureka/kureka/test/rig/controlplane"
	"github.com/kureka/kureka/test/rig/netns"
)

// programEnv names the program under test. It may be set by hand, to play the
// incident with another build.
const programEnv = "KUREKA_PROGRAM"

// Prepare finds or builds all programs. It is called before entering a network
// namespace, which has no way out, and does nothing inside one. Progress is
// reported. The folder it builds in is removed by Discard.
func Prepare(ctx context.Context, progress io.Writer) error {
	if netns.Inside() {
		return nil
	}
	if _, err := controlplane.Ensure(ctx, progress); err != nil {
		return err
	}
	if os.Getenv(programEnv) != "" {
		return nil
	}
	dir, err := os.MkdirTemp("", builtIn)
	if err != nil {
		return fmt.Errorf("creating a temporary folder: %w", err)
	}
	fmt.Fprintln(progress, "building kureka")
	program := filepath.Join(dir, "kureka")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "github.com/kureka/kureka/cmd/kureka")
	build.Stdout, build.Stderr = progress, progress
	if err := build.Run(); err != nil {
		return errors.Join(fmt.Errorf("building kureka (run this in its repository): %w", err), os.RemoveAll(dir))
	}
	return os.Setenv(programEnv, program)
}

// builtIn begins the name of the folder Prepare builds in.
const builtIn = "kureka-built-"

// Discard removes what Prepare built, but no program that was named by hand.
func Discard() error {
	dir := filepath.Dir(os.Getenv(programEnv))
	if !strings.HasPrefix(filepath.Base(dir), builtIn) {
		return nil
	}
	return os.RemoveAll(dir)
}
