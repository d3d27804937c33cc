package incident

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/kureka/kureka/test/rig/instance"
	"github.com/kureka/kureka/test/rig/netns"
)

// shared is the rig of all tests. The scenes share an operator, too, but for the
// one that kills it.
var shared struct {
	rig      *Rig
	operator *Operator
}

func TestMain(m *testing.M) {
	instance.RunIfChosen()
	klog.SetLogger(logr.Discard()) // requests that end with a scene are no news
	if err := Prepare(context.Background(), os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if _, err := netns.Enter(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	defer func() {
		if discardErr := Discard(); err == nil {
			err = discardErr
		}
	}()
	ctx := context.Background()
	if shared.rig, err = Start(ctx, os.Stderr); err != nil {
		return 1, err
	}
	defer func() {
		if closeErr := shared.rig.Close(); err == nil {
			err = closeErr
		}
	}()
	if shared.operator, err = shared.rig.StartManager(ctx, "kureka", "Off"); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// play runs a scene and checks its expectations. When one is not met, the whole
// timeline is printed.
func play[O Outcome](t *testing.T, scene func(context.Context, Setting) (O, error)) {
	t.Helper()
	t.Parallel()
	set := Setting{Rig: shared.rig, Operator: shared.operator, Timeline: NewTimeline()}
	outcome, err := scene(t.Context(), set)
	if err == nil {
		for _, e := range Unmet(outcome) {
			t.Error(e)
		}
	} else {
		t.Error(err)
	}
	if t.Failed() {
		t.Logf("timeline:\n%s", set.Timeline)
	}
}

func TestForceDelete(t *testing.T) {
	play(t, func(ctx context.Context, set Setting) (ForceDeleteResult, error) { return ForceDelete(ctx, set, 2) })
}

func TestHaunting(t *testing.T) {
	enough := make(chan struct{})
	close(enough)
	play(t, func(ctx context.Context, set Setting) (HauntingResult, error) { return Haunting(ctx, set, enough) })
}

func TestGracefulDelete(t *testing.T)     { play(t, GracefulDelete) }
func TestSpotNotice(t *testing.T)         { play(t, SpotNotice) }
func TestContainerCrash(t *testing.T)     { play(t, ContainerCrash) }
func TestAddressReuse(t *testing.T)       { play(t, AddressReuse) }
func TestHostNetwork(t *testing.T)        { play(t, HostNetwork) }
func TestOperatorRestart(t *testing.T)    { play(t, OperatorRestart) }
func TestRollingReplacement(t *testing.T) { play(t, RollingReplacement) }
