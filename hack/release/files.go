package main

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const sumsFile = "SHA256SUMS"

// chart packs the chart, with the version of the release as its own and as that of the
// image.
func (r release) chart(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "tool", "-modfile=hack/helm/go.mod", "helm", "package", "charts/kureka",
		"--version", strings.TrimPrefix(r.version, "v"), "--app-version", r.version, "--destination", r.out)
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(r.time.Unix(), 10))
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("packing the chart: %w", err)
	}
	return nil
}

// sums writes the checksums of all files of the release, as sha256sum reads them.
func (r release) sums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return fmt.Errorf("listing the release: %w", err)
	}
	var lines strings.Builder
	for _, e := range entries {
		if e.IsDir() {
			continue // the image as a folder, whose files are named by their sums
		}
		content, err := os.ReadFile(filepath.Join(r.out, e.Name()))
		if err != nil {
			return fmt.Errorf("reading what was built: %w", err)
		}
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(content), e.Name())
	}
	return r.write(sumsFile, []byte(lines.String()))
}

// packed is a file on its way into an archive.
type packed struct {
	name string // inside
	path string
	mode int64
}

// pack writes a tar of files that belong to root and bear one time.
func pack(out io.Writer, files []packed, at time.Time) error {
	archive := tar.NewWriter(out)
	for _, f := range files {
		content, err := os.ReadFile(f.path)
		if err != nil {
			return fmt.Errorf("reading a file to pack: %w", err)
		}
		err = archive.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(content)), ModTime: at})
		if err == nil {
			_, err = archive.Write(content)
		}
		if err != nil {
			return fmt.Errorf("packing %s: %w", f.name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("ending the archive: %w", err)
	}
	return nil
}

// writeTo creates a file and has it filled.
func writeTo(path string, fill func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("creating a file: %w", err)
	}
	return errors.Join(fill(file), file.Close())
}
