package conformance

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Workshop is where programs are prepared: a folder outside the checkout that is
// kept between runs.
type Workshop struct {
	// Source is test/conformance in the checkout.
	Source string
	// Cache is kept between runs.
	Cache string
}

// OpenWorkshop uses KUREKA_CACHE, or the user's cache folder. source is
// test/conformance.
func OpenWorkshop(source string) (*Workshop, error) {
	source, err := filepath.Abs(source)
	if err != nil {
		return nil, fmt.Errorf("resolving the working folder: %w", err)
	}
	base := os.Getenv("KUREKA_CACHE")
	if base == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("finding the cache folder: %w", err)
		}
		base = filepath.Join(cache, "kureka")
	}
	return &Workshop{Source: source, Cache: filepath.Join(base, "conformance")}, nil
}

// Once returns a cache folder whose content fill makes from the given files of
// the checkout. It is filled once for each content of these files; what was left
// by a fill that failed is thrown away.
func (w *Workshop) Once(ctx context.Context, name string, files []string, fill func(ctx context.Context, dir string) error) (dir string, err error) {
	sum := sha256.New()
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(w.Source, file))
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", file, err)
		}
		fmt.Fprintf(sum, "%s %d\n", file, len(content))
		sum.Write(content)
	}
	dir = filepath.Join(w.Cache, name+"-"+hex.EncodeToString(sum.Sum(nil))[:12])
	done := filepath.Join(dir, ".complete")
	if _, err := os.Stat(done); err == nil {
		return dir, nil
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o750)); err != nil {
		return "", fmt.Errorf("making the cache folder: %w", err)
	}
	if err := fill(ctx, dir); err != nil {
		return "", err
	}
	if err := os.WriteFile(done, nil, 0o600); err != nil {
		return "", fmt.Errorf("marking the cache folder: %w", err)
	}
	return dir, nil
}

// Run runs a command in dir. It says what it does, and that it still does it every
// 15 seconds; what the command prints is shown when it fails.
func (w *Workshop) Run(ctx context.Context, progress io.Writer, what, dir string, argv ...string) error {
	fmt.Fprintln(progress, "--> "+what)
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &output, &output
	done := make(chan error, 1)
	start := time.Now()
	go func() { done <- cmd.Run() }()
	ticker := time.NewTicker(15 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case err := <-done:
			if err != nil {
				return fmt.Errorf("%s: %s: %w\n%s", what, strings.Join(argv, " "), err, lastLines(output.String()))
			}
			return nil
		case <-ticker.C:
			fmt.Fprintf(progress, "    still %s, %d s\n", what, int(time.Since(start).Seconds()))
		}
	}
}

// lastLines is the end of a program's output.
func lastLines(text string) string {
	const lines = 40
	all := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
