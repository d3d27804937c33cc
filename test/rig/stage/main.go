package stage

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kureka/kureka/test/rig/instance"
	"github.com/kureka/kureka/test/rig/netns"
)

// Run is TestMain with a rig: prepare is given it before any test runs. It
// returns the exit code. Where there is no network namespace it says so and plays
// on loopback addresses.
func Run(m *testing.M, options Options, prepare func(context.Context, *Rig) error) int {
	instance.RunIfChosen()
	klog.SetLogger(logr.Discard()) // requests that end with a scene are no news
	ctrllog.SetLogger(logr.Discard())
	ctx := context.Background()
	if err := Prepare(ctx, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if _, err := netns.Enter(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	code, err := run(ctx, m, options, prepare)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func run(ctx context.Context, m *testing.M, options Options, prepare func(context.Context, *Rig) error) (code int, err error) {
	defer func() { err = errors.Join(err, Discard()) }()
	rig, err := Start(ctx, os.Stderr, options)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, rig.Close()) }()
	if err := prepare(ctx, rig); err != nil {
		return 1, err
	}
	if options.Parallel > 0 {
		if err := flag.Set("test.parallel", strconv.Itoa(options.Parallel)); err != nil {
			return 1, fmt.Errorf("choosing how many tests play at a time: %w", err)
		}
	}
	return m.Run(), nil
}
