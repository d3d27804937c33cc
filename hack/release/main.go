// Command release builds what people get, from the top of the repository and
// with Go alone:
//
//	release all       a release: programs, image, chart, bills of materials, checksums
//	release image     the image for both architectures, as a folder and a tar
//	release rootfs    the files of the image for one platform, in the folder of -out
//	release licences  the texts of every licence of what is built in; fails on one
//	                  that is not allowed
//
// The same commit gives the same bytes in any folder and at any time: what is written
// bears SOURCE_DATE_EPOCH, or else the time of the commit, and all but the licences
// wants to be run with the Go that go.mod names, by hack/pinned.sh.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has been called
	}
}

// release is what is built, for everything that is written.
type release struct {
	version string
	commit  string     // in full; "unknown" outside a checkout
	time    time.Time  // of everything that is written
	out     string     // folder
	name    string     // of the image
	only    []platform // to build for; empty: all
}

func run(ctx context.Context, args []string) error {
	var r release
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.StringVar(&r.version, "version", "devel", "version of what is built; that of a release is like v1.2.3 or v1.2.3-rc.1")
	flags.StringVar(&r.commit, "commit", "", "commit that is built; empty: that of the checkout, which a release may not have changed")
	flags.StringVar(&r.out, "out", "dist", "folder for what is built; a release gets one of its own in it")
	flags.StringVar(&r.name, "name", "", "name of the image, as nodes ask for it; empty: kureka:VERSION")
	only := flags.String("platforms", "", "platforms to build for, separated by commas, and no others; empty: all; rootfs wants one")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("reading flags: %w", err)
	}
	r.name = cmp.Or(r.name, registryProgram+":"+r.version)
	var err error
	if r.only, err = parsePlatforms(*only); err != nil {
		return err
	}
	command := flags.Arg(0)
	if command != "licences" { // the same for every Go
		if err := usePinnedGo(); err != nil {
			return err
		}
	}
	switch command {
	case "all":
		return r.all(ctx)
	case "image":
		return r.imageOnly(ctx)
	case "rootfs":
		if len(r.only) != 1 {
			return errors.New("rootfs wants one platform: say -platforms linux/amd64, for example")
		}
		return r.rootfs(ctx, r.only[0])
	case "licences":
		_, err := r.notices(ctx)
		return err
	default:
		return fmt.Errorf("unknown command %q: say all, image, rootfs or licences", command)
	}
}

// releaseForm is what a release is called: a semantic version.
var releaseForm = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)

// all builds a release into a folder of its own.
func (r release) all(ctx context.Context) error {
	if !releaseForm.MatchString(r.version) {
		return fmt.Errorf("version %q: want one like v1.2.3 or v1.2.3-rc.1", r.version)
	}
	if r.commit == "" {
		if changes, err := output(ctx, "git", "status", "--porcelain"); err != nil || changes != "" {
			return errors.Join(errors.New("a release is built from a commit, but the checkout has changes"), err)
		}
	}
	if err := r.settle(ctx); err != nil {
		return err
	}
	r.out = filepath.Join(r.out, r.version)
	if err := os.RemoveAll(r.out); err != nil {
		return fmt.Errorf("removing what was built before: %w", err)
	}
	parts, err := r.notices(ctx)
	if err != nil {
		return err
	}
	programs, err := r.programs(ctx)
	if err != nil {
		return err
	}
	for _, p := range programs {
		if err := r.writeBill(p, parts); err != nil {
			return err
		}
	}
	return errors.Join(r.image(programs), r.chart(ctx), r.sums())
}

// imageOnly builds the image of whatever the checkout holds.
func (r release) imageOnly(ctx context.Context) error {
	if err := r.settle(ctx); err != nil {
		return err
	}
	if _, err := r.notices(ctx); err != nil {
		return err
	}
	var programs []program
	for _, target := range r.wanted(imagePlatforms()) {
		p, err := r.build(ctx, registryProgram, target)
		if err != nil {
			return err
		}
		programs = append(programs, p)
	}
	return r.image(programs)
}

// settle finds out the commit and the time of what is built.
func (r *release) settle(ctx context.Context) error {
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	for _, wanted := range []struct {
		value *string
		git   []string
	}{
		{&r.commit, []string{"git", "rev-parse", "HEAD"}},
		{&seconds, []string{"git", "show", "--no-patch", "--format=%ct", "HEAD"}},
	} {
		if *wanted.value != "" {
			continue
		}
		var err error
		if *wanted.value, err = output(ctx, wanted.git...); err != nil {
			return fmt.Errorf("without a commit, -commit and SOURCE_DATE_EPOCH have to be given: %w", err)
		}
	}
	epoch, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("reading SOURCE_DATE_EPOCH: %w", err)
	}
	r.time = time.Unix(epoch, 0).UTC()
	return nil
}

// output runs a command and returns what it prints.
func output(ctx context.Context, command ...string) (string, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("running %s: %w", strings.Join(command, " "), err)
	}
	return strings.TrimSpace(string(text)), nil
}
