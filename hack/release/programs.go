package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// program is one that was built.
type program struct {
	name     string // of the command
	platform platform
	path     string
}

// registryProgram is the one that the image runs.
const registryProgram = "kureka"

func (p platform) String() string { return p.OS + "/" + p.Architecture }

// parsePlatforms reads platforms as String writes them, separated by commas.
func parsePlatforms(text string) (all []platform, err error) {
	for one := range strings.SplitSeq(text, ",") {
		system, architecture, found := strings.Cut(one, "/")
		switch {
		case found:
			all = append(all, platform{OS: system, Architecture: architecture})
		case text != "":
			return nil, fmt.Errorf("platform %q: want one like linux/amd64", one)
		}
	}
	return all, nil
}

// wanted are those of the platforms that are to be built for.
func (r release) wanted(all []platform) []platform {
	return slices.DeleteFunc(all, func(p platform) bool { return len(r.only) > 0 && !slices.Contains(r.only, p) })
}

// imagePlatforms are those of the image, which the registry itself is built for.
func imagePlatforms() []platform { return platformsOf("linux") }

func platformsOf(systems ...string) (all []platform) {
	for _, system := range systems {
		all = append(all, platform{OS: system, Architecture: "amd64"}, platform{OS: system, Architecture: "arm64"})
	}
	return all
}

// pluginProgram is the plugin of kubectl.
const pluginProgram = "kubectl-kureka"

// commands are the programs of a release with the platforms that each is for.
func commands() map[string][]platform {
	return map[string][]platform{registryProgram: imagePlatforms(), pluginProgram: platformsOf("linux", "darwin", "windows")}
}

// programs builds all programs for all their platforms.
func (r release) programs(ctx context.Context) (built []program, err error) {
	for name, platforms := range commands() {
		for _, target := range r.wanted(platforms) {
			p, err := r.build(ctx, name, target)
			if err != nil {
				return nil, err
			}
			built = append(built, p)
		}
	}
	return built, nil
}

// build builds a program under the name it has in a release.
func (r release) build(ctx context.Context, name string, target platform) (program, error) {
	file := strings.Join([]string{name, r.version, target.OS, target.Architecture}, "_")
	if target.OS == "windows" {
		file += ".exe"
	}
	p := program{name: name, platform: target, path: filepath.Join(r.out, file)}
	return p, r.compile(ctx, p)
}

// compile builds a program so that neither the folder, nor the settings of who
// builds it, show.
func (r release) compile(ctx context.Context, p program) error {
	fmt.Fprintln(os.Stderr, "    building", p.path)
	const version = "github.com/kureka/kureka/internal/version"
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags=",
		"-ldflags", fmt.Sprintf("-s -w -X %s.linked=%s -X %s.linkedCommit=%s", version, r.version, version, cmp.Or(r.commit, "unknown")),
		"-o", p.path, "./cmd/"+p.name)
	cmd.Env = append(os.Environ(), environment(p.platform)...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("building %s: %w", p.path, err)
	}
	return nil
}

// environment is what Go is told besides flags.
func environment(target platform) []string {
	return []string{
		"GOOS=" + target.OS, "GOARCH=" + target.Architecture, "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=-mod=readonly", "GOWORK=off", "GOEXPERIMENT=", "GOFIPS140=off",
	}
}

// rootfs writes the files of the image for one platform.
func (r release) rootfs(ctx context.Context, target platform) error {
	if _, err := r.notices(ctx); err != nil {
		return err
	}
	return r.compile(ctx, program{name: registryProgram, platform: target, path: filepath.Join(r.out, registryProgram)})
}
