package conformance

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// prometheusClients is the server as Debian, or a distribution made from it, packages
// it. It only reads.
func prometheusClients() []*Client {
	return []*Client{{
		Name: "Prometheus", Packaged: true, Family: familyTools, Program: prometheusProgram(), ReadOnly: true,
		Lacks: Lacks{Deltas: true, Status: true, Override: true, Stop: true}, Sees: seesLabels,
		Notes: []string{"`eureka_sd_configs` makes a target of every instance, whatever its status. In names of labels every character but letters, digits and underscores is an underscore, and it leaves the escapes of XML in metadata as they are."},
	}}
}

func seesLabels(in Instance) (Instance, bool) {
	in, _ = seesRawXML(in)
	in.renameKeys(strings.NewReplacer(".", "_", "-", "_").Replace)
	return in, true
}

func prometheusProgram() *Program {
	return &Program{
		Name: "prometheus",
		Prepare: func(ctx context.Context, shop *Workshop, progress io.Writer) ([]string, error) {
			programs, err := Prometheus(ctx, shop, progress)
			if err != nil {
				return nil, err
			}
			return shop.ownProgram(ctx, progress, "prometheus", filepath.Join(programs, "prometheus"))
		},
	}
}

// Prometheus returns the folder with the programs of Debian's package. It takes the
// package apart instead of installing it, so that it needs no root and starts no
// service.
func Prometheus(ctx context.Context, shop *Workshop, progress io.Writer) (folder string, err error) {
	dir, err := shop.Once(ctx, "prometheus", nil, func(ctx context.Context, dir string) error {
		if exec.CommandContext(ctx, "apt-cache", "show", "prometheus").Run() != nil {
			if err := shop.Run(ctx, progress, "reading Debian's list of packages", dir, "apt-get", "update", "--quiet"); err != nil {
				return err
			}
		}
		if err := shop.Run(ctx, progress, "downloading Debian's Prometheus", dir, "apt-get", "download", "--quiet", "prometheus"); err != nil {
			return err
		}
		packages, err := filepath.Glob(filepath.Join(dir, "prometheus_*.deb"))
		if err != nil || len(packages) != 1 {
			return fmt.Errorf("looking for the package: %d found: %w", len(packages), err)
		}
		return shop.Run(ctx, progress, "unpacking Prometheus", dir, "dpkg-deb", "--extract", packages[0], dir)
	})
	return filepath.Join(dir, "usr", "bin"), err
}

// ownProgram builds a lane that is part of this module.
func (w *Workshop) ownProgram(ctx context.Context, progress io.Writer, name string, args ...string) ([]string, error) {
	if err := os.MkdirAll(w.Cache, 0o750); err != nil {
		return nil, fmt.Errorf("making the cache folder: %w", err)
	}
	program := filepath.Join(w.Cache, "lane-"+name)
	err := w.Run(ctx, progress, "building the lane of "+name, w.Source, "go", "build", "-o", program, "./clients/"+name)
	return append([]string{program}, args...), err
}
