package incident

import (
	"context"
	"os"
	"testing"

	"github.com/kureka/kureka/test/rig/stage"
)

// shared is the rig of all tests. The scenes share an operator, too, but for the
// one that kills it.
var shared struct {
	rig      *stage.Rig
	operator *stage.Operator
}

func TestMain(m *testing.M) {
	os.Exit(stage.Run(m, stage.Options{}, func(ctx context.Context, rig *stage.Rig) (err error) {
		shared.rig = rig
		shared.operator, err = rig.StartManager(ctx, stage.OperatorOptions{Name: "kureka", Gate: "Off"})
		return err
	}))
}

// play runs a scene and checks its expectations. When one is not met, the whole
// timeline is printed.
func play[O Outcome](t *testing.T, scene func(context.Context, stage.Setting) (O, error)) {
	t.Helper()
	t.Parallel()
	set := stage.Setting{Rig: shared.rig, Operator: shared.operator, Timeline: stage.NewTimeline()}
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
	play(t, func(ctx context.Context, set stage.Setting) (ForceDeleteResult, error) {
		return ForceDelete(ctx, set, 2)
	})
}

func TestHaunting(t *testing.T) {
	enough := make(chan struct{})
	close(enough)
	play(t, func(ctx context.Context, set stage.Setting) (HauntingResult, error) {
		return Haunting(ctx, set, enough)
	})
}

func TestGracefulDelete(t *testing.T)     { play(t, GracefulDelete) }
func TestSpotNotice(t *testing.T)         { play(t, SpotNotice) }
func TestContainerCrash(t *testing.T)     { play(t, ContainerCrash) }
func TestAddressReuse(t *testing.T)       { play(t, AddressReuse) }
func TestHostNetwork(t *testing.T)        { play(t, HostNetwork) }
func TestOperatorRestart(t *testing.T)    { play(t, OperatorRestart) }
func TestRollingReplacement(t *testing.T) { play(t, RollingReplacement) }
