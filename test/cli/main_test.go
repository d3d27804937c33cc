package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kureka/kureka/internal/cli"
	"github.com/kureka/kureka/test/rig/controlplane"
	"github.com/kureka/kureka/test/rig/instance"
	"github.com/kureka/kureka/test/rig/kubelet"
	"github.com/kureka/kureka/test/rig/netns"
	"github.com/kureka/kureka/test/rig/stage"
)

const (
	up  = "UP"
	out = "OUT_OF_SERVICE"
)

// shared is the rig of all tests, and the operator that they ask.
var shared struct {
	rig      *stage.Rig
	operator *stage.Operator
}

func TestMain(m *testing.M) {
	os.Exit(stage.Run(m, stage.Options{Parallel: 12}, prepare))
}

func prepare(ctx context.Context, rig *stage.Rig) (err error) {
	shared.rig = rig
	_, err = envtest.InstallCRDs(rig.Plane.Config(), envtest.CRDInstallOptions{
		Paths: []string{filepath.Join("..", "..", "config", "crd", "bases")}, ErrorIfPathMissing: true, MaxTime: stage.Patience,
	})
	if err != nil {
		return fmt.Errorf("installing the custom resources: %w", err)
	}
	shared.operator, err = rig.StartManager(ctx, stage.OperatorOptions{Name: "kureka", Gate: "Off"})
	return err
}

// vanish takes addresses off the network where that is possible.
func vanish() func(string) (func() error, error) {
	if !netns.Inside() {
		return nil
	}
	return netns.BlackHole
}

// scene is a stage with some instances that are UP.
type scene struct {
	*stage.Stage
	t    *testing.T
	app  string
	pods []*stage.Pod
	view *stage.View
}

// begin starts n instances of an application in pods, spread over nodes.
func begin(t *testing.T, nodes, n int, config instance.Config) *scene {
	t.Helper()
	t.Parallel()
	set := stage.Setting{Rig: shared.rig, Operator: shared.operator, Timeline: stage.NewTimeline()}
	s, err := stage.New(t.Context(), set, stage.Plan{Name: config.App, Nodes: nodes, Kubelet: kubelet.Options{Vanish: vanish()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(t.Context()) })
	sc := &scene{Stage: s, t: t, app: strings.ToUpper(config.App), view: s.StartView(t.Context(), config.App, nil)}
	sc.pods, err = s.CreateMany(t.Context(), 1, n, config)
	sc.must(err)
	sc.await(up, sc.pods...)
	for _, p := range sc.pods {
		sc.must(p.AwaitReady(t.Context()))
	}
	return sc
}

func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("%v\ntimeline:\n%s", err, s.Timeline)
	}
}

func (s *scene) await(status string, pods ...*stage.Pod) {
	s.t.Helper()
	_, err := s.view.AwaitStatus(s.t.Context(), status, stage.IDs(pods)...)
	s.must(err)
}

// answer is what a command printed.
type answer struct {
	out, err string
	code     int
}

// command runs a command line in a cluster.
func command(t *testing.T, args ...string) answer {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := controlplane.WriteKubeconfig(shared.rig.Plane.Config(), kubeconfig); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	env := cli.Environment{Out: &stdout, Err: &stderr, Now: time.Now, Getenv: func(string) string { return "" }}
	code := cli.Main(t.Context(), append([]string{"--kubeconfig", kubeconfig}, args...), env)
	return answer{stdout.String(), stderr.String(), code}
}

// ask runs a command line against the shared operator.
func ask(t *testing.T, args ...string) answer {
	t.Helper()
	return command(t, append([]string{"--server", shared.operator.Base()}, args...)...)
}

// why asks about an instance until the answer has all of what is wanted.
func (s *scene) why(app, id string, want ...string) {
	s.t.Helper()
	var got answer
	//nolint:contextcheck // every command has the context of the test
	err := stage.Until(s.t.Context(), "the answer to say "+strings.Join(want, ", "), func(context.Context) (bool, error) {
		got = ask(s.t, "why", app, id)
		for _, w := range want {
			if !strings.Contains(got.out, w) {
				return false, nil
			}
		}
		return true, nil
	})
	s.t.Logf("$ kubectl kureka why %s %s\n%s", app, id, got.out)
	if err != nil {
		s.t.Fatalf("%v\nit says:\n%s%s", err, got.out, got.err)
	}
}
