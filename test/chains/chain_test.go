package chains

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kureka/kureka/test/rig/controlplane"
	"github.com/kureka/kureka/test/rig/faultproxy"
	"github.com/kureka/kureka/test/rig/gateway"
	"github.com/kureka/kureka/test/rig/instance"
	"github.com/kureka/kureka/test/rig/kubelet"
	"github.com/kureka/kureka/test/rig/netns"
	"github.com/kureka/kureka/test/rig/stage"
)

const (
	up  = "UP"
	out = "OUT_OF_SERVICE"
	// stale is more than the time after which a view that hears nothing is not fresh.
	stale = 20 * time.Second
)

// shared is the rig of the chains that do not concern the whole cluster. Most of
// them share an operator, too.
var shared struct {
	rig      *stage.Rig
	operator *stage.Operator
}

func TestMain(m *testing.M) {
	os.Exit(stage.Run(m, options(), func(ctx context.Context, rig *stage.Rig) (err error) {
		shared.rig = rig
		shared.operator, err = prepare(ctx, rig, "kureka")
		return err
	}))
}

// options are those of every control plane here. A node is Unknown after eight
// seconds; its pods are evicted five minutes later, as anywhere. Chains wait more
// than they compute, so more of them play at a time than there are processors.
func options() stage.Options {
	return stage.Options{
		Compressed:    true,
		Parallel:      12,
		APIServerArgs: []string{"--default-not-ready-toleration-seconds=300", "--default-unreachable-toleration-seconds=300"},
		ControllerManagerArgs: []string{
			"--node-monitor-grace-period=8s", "--node-startup-grace-period=20s",
		},
	}
}

// prepare installs the custom resources and a policy with short times, and starts
// an operator.
func prepare(ctx context.Context, rig *stage.Rig, name string) (*stage.Operator, error) {
	_, err := envtest.InstallCRDs(rig.Plane.Config(), envtest.CRDInstallOptions{
		Paths: []string{filepath.Join("..", "..", "config", "crd", "bases")}, ErrorIfPathMissing: true, MaxTime: stage.Patience,
	})
	if err != nil {
		return nil, fmt.Errorf("installing the custom resources: %w", err)
	}
	var refused error
	err = stage.Until(ctx, "the policy to be taken", func(ctx context.Context) (bool, error) {
		refused = apply(ctx, rig, clusterPolicy)
		return refused == nil, nil
	})
	if err != nil {
		return nil, errors.Join(err, refused)
	}
	return rig.StartManager(ctx, stage.OperatorOptions{Name: name, Gate: "Off"})
}

// clusterPolicy shortens times and changes no rule.
const clusterPolicy = `
apiVersion: kureka.dev/v1alpha1
kind: ClusterRegistryPolicy
metadata: {name: default}
spec:
  leases: {readyGraceSeconds: 5}
  nodes: {unreachable: {afterSeconds: 14}}
`

// apply creates or changes objects, a document each.
func apply(ctx context.Context, rig *stage.Rig, manifest string) error {
	api, err := client.New(rig.Plane.Config(), client.Options{})
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	objects, err := controlplane.DecodeManifests(strings.NewReader(manifest))
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := api.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("chains"), client.ForceOwnership); err != nil {
			return fmt.Errorf("applying %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// chain is one failure from its cause to its end, with the application it is
// about.
type chain struct {
	*stage.Stage
	t     *testing.T
	app   string
	view  *stage.View
	proxy *faultproxy.Proxy // before the API server; nil unless asked for
	lease time.Duration     // of the clients; short, unless something else is to decide
}

// plan says what a chain needs. The zero value is a stage with two nodes on the
// shared rig with the shared operator.
type plan struct {
	nodes int
	zones []string
	// alone asks for a control plane of its own, proxied for an operator of its own
	// behind a proxy, user for one with the rights of the manifests only.
	alone, proxied, user bool
	args                 []string // of an operator of its own
}

func begin(t *testing.T, p plan) *chain {
	t.Helper()
	t.Parallel()
	ctx := t.Context()
	name := nameOf(t)
	c := &chain{t: t, app: name, lease: 6 * time.Second}
	set := stage.Setting{Rig: shared.rig, Operator: shared.operator, Timeline: stage.NewTimeline()}
	if p.alone {
		rig, err := shared.rig.Beside(ctx, io.Discard, options())
		c.must(err)
		t.Cleanup(func() { c.must(rig.Close()) })
		set.Rig = rig
		set.Operator, err = prepare(ctx, rig, name)
		c.must(err)
	}
	if p.proxied {
		c.must(c.behindProxy(ctx, &set, p, name))
	}
	s, err := stage.New(ctx, set, stage.Plan{
		Name: name, Nodes: max(2, p.nodes), Zones: p.zones, ReadEvery: 20 * time.Millisecond,
		Kubelet: kubeletOptions(),
	})
	c.must(err)
	t.Cleanup(func() { s.Close(context.WithoutCancel(ctx)) })
	c.Stage = s
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("timeline:\n%s\nend of the operator's log:\n%s", s.Timeline, c.log())
		}
	})
	c.view = s.StartView(ctx, c.app, nil)
	return c
}

// nameOf makes a test's name one for an application, a namespace and an operator,
// so that chains on one operator have nothing in common.
func nameOf(t *testing.T) string {
	t.Helper()
	name := strings.Map(func(r rune) rune {
		if r == '_' || r == '/' || r == '-' {
			return -1
		}
		return unicode.ToLower(r)
	}, strings.TrimPrefix(t.Name(), "Test"))
	return name[:min(len(name), 24)]
}

// log is the end of what the operator logged of this chain.
func (c *chain) log() string {
	ours := func(line string) bool {
		return strings.Contains(line, `"namespace":"`+c.Namespace+`"`) || !strings.Contains(line, `"namespace":`)
	}
	lines := slices.Collect(func(yield func(string) bool) {
		for line := range strings.Lines(c.Operator.Log()) {
			if ours(line) && !yield(line) {
				return
			}
		}
	})
	return strings.Join(lines[max(0, len(lines)-40):], "")
}

// kubeletOptions are those of a fast kubelet that puts things right now and then
// only. Where the network allows it, a machine without power answers nothing.
func kubeletOptions() kubelet.Options {
	timings := kubelet.FastTimings()
	timings.NodeStatus, timings.Reassert = 2*time.Second, 2*time.Second
	options := kubelet.Options{LeaseDuration: 10 * time.Second, RenewInterval: 2 * time.Second, Timings: timings, Port: 10250}
	if netns.Inside() {
		options.Vanish = netns.BlackHole
	}
	return options
}

// behindProxy gives the chain an operator that reaches the API server through a
// proxy.
func (c *chain) behindProxy(ctx context.Context, set *stage.Setting, p plan, name string) (err error) {
	config := set.Rig.Plane.Config()
	if p.user {
		if config, err = limitedUser(ctx, set.Rig, name); err != nil {
			return err
		}
	}
	if c.proxy, err = set.Rig.Proxy(ctx, config); err != nil {
		return err
	}
	set.Operator, err = set.Rig.StartManager(ctx, stage.OperatorOptions{Name: name, Gate: "Off", Config: c.proxy.Config(), Args: p.args})
	if err == nil {
		c.t.Cleanup(set.Operator.Kill)
	}
	return err
}

func (c *chain) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// client has the intervals of the chains' clients. It never cancels: what happens is
// up to the registry.
func (c *chain) client() instance.Config {
	return instance.Config{App: c.app, RenewalInterval: 2 * time.Second, LeaseDuration: c.lease, OnTerm: instance.Vanish}
}

// pods creates pods, one on each of the given nodes, and waits until all are ready
// and UP.
func (c *chain) pods(nodes ...int) []*stage.Pod {
	c.t.Helper()
	pods := make([]*stage.Pod, 0, len(nodes))
	for i, node := range nodes {
		pods = append(pods, c.pod(podName(c.app, i), node))
	}
	c.ready(pods...)
	return pods
}

func podName(app string, i int) string { return fmt.Sprintf("%s-%d", app, i+1) }

func (c *chain) pod(name string, node int) *stage.Pod {
	c.t.Helper()
	p, err := c.Create(c.t.Context(), stage.PodSpec{Name: name, Node: node, Instance: c.client()})
	c.must(err)
	return p
}

// ready waits until pods are ready and UP and the operator has seen the former.
func (c *chain) ready(pods ...*stage.Pod) {
	c.t.Helper()
	for _, p := range pods {
		c.must(p.AwaitReady(c.t.Context()))
	}
	c.await(up, pods...)
	for _, p := range pods {
		c.until(p.Name+" to be bound and ready", func() bool {
			e, err := c.Operator.Explain(c.t.Context(), c.app, p.ID)
			return err == nil && e.Binding.Pod != nil && e.Binding.Pod.UID == string(p.UID) && e.Binding.Pod.Ready
		})
	}
}

// await waits until an answer shows all pods in a status, which may be
// stage.Gone.
func (c *chain) await(status string, pods ...*stage.Pod) {
	c.t.Helper()
	_, err := c.view.AwaitStatus(c.t.Context(), status, stage.IDs(pods)...)
	c.must(err)
}

func (c *chain) until(what string, ask func() bool) {
	c.t.Helper()
	c.must(stage.Until(c.t.Context(), what, func(context.Context) (bool, error) { return ask(), nil }))
}

// pass lets time pass while every answer is watched.
func (c *chain) pass(d time.Duration) {
	c.t.Helper()
	c.must(stage.Pass(c.t.Context(), d))
}

// courses checks what all answers so far, up to one that begins now, showed of
// pods, and that all were whole.
func (c *chain) courses(want string, pods ...*stage.Pod) {
	c.t.Helper()
	now := time.Now()
	_, err := c.view.ExpectThat("an answer", func(r gateway.Response) bool { return r.Listed && r.Start.After(now) }).Wait(c.t.Context())
	c.must(err)
	for _, p := range pods {
		if got := c.view.Course(p.ID); got != want {
			c.t.Errorf("%s was %q, want %q", p.Name, got, want)
		}
	}
	if n := c.view.Garbled(); n > 0 {
		c.t.Errorf("%d answers with code 200 were no document", n)
	}
}

// because waits until the operator tells that it changed a pod's instance for a
// reason.
func (c *chain) because(effect, reason string, pods ...*stage.Pod) {
	c.t.Helper()
	for _, p := range pods {
		c.until(fmt.Sprintf("%s to be told as %s because of %s", p.Name, effect, reason), func() bool {
			return slices.Contains(c.told(p), effect+" "+reason)
		})
	}
}

// told lists the changes of a pod's instance, oldest first.
func (c *chain) told(p *stage.Pod) []string {
	c.t.Helper()
	changes, err := c.Operator.Changes(c.t.Context(), c.app)
	c.must(err)
	var all []string
	for _, ch := range slices.Backward(changes) {
		if ch.ID == p.ID && ch.Namespace == c.Namespace {
			all = append(all, ch.Effect+" "+ch.Reason)
		}
	}
	return all
}

// untouched checks that the operator tells of no change of pods.
func (c *chain) untouched(pods ...*stage.Pod) {
	c.t.Helper()
	for _, p := range pods {
		if told := c.told(p); len(told) > 0 {
			c.t.Errorf("%s: %v, want no change", p.Name, told)
		}
	}
}

// explain asks about an instance that is listed.
func (c *chain) explain(p *stage.Pod) stage.Explanation {
	c.t.Helper()
	e, err := c.Operator.Explain(c.t.Context(), c.app, p.ID)
	c.must(err)
	return e
}

// fresh waits until the operator says so of its view, or the opposite.
func (c *chain) fresh(want bool) {
	c.t.Helper()
	c.until(fmt.Sprintf("the view to be fresh: %v", want), func() bool {
		v, err := c.Operator.View(c.t.Context())
		return err == nil && v.Fresh == want
	})
}

// measured logs how long after a moment pods were first seen in a status.
func (c *chain) measured(what string, since time.Time, status string, pods ...*stage.Pod) {
	c.t.Helper()
	var last time.Duration
	for _, p := range pods {
		last = max(last, c.view.First(p.ID, status).Sub(since))
	}
	c.t.Logf("measured: %s: %s", what, last.Round(10*time.Millisecond))
}

// mode sets the proxy's mode and says so.
func (c *chain) mode(mode faultproxy.Mode, what string) {
	c.t.Helper()
	c.Timeline.Mark("%s", what)
	c.must(c.proxy.Set(c.t.Context(), mode))
}

// policy gives the chain's namespace a policy of its own.
func (c *chain) policy(spec string) {
	c.t.Helper()
	manifest := "apiVersion: kureka.dev/v1alpha1\nkind: RegistryPolicy\nmetadata: {name: default, namespace: " + c.Namespace + "}\nspec: " + spec + "\n"
	c.must(apply(c.t.Context(), c.Rig, manifest))
}

// crash ends the processes of pods at once and removes their objects by force.
func (c *chain) crash(pods ...*stage.Pod) {
	c.t.Helper()
	_, err := stage.Die(c.t.Context(), pods)
	c.must(err)
}

// newFewest counts from now on how many instances are UP in the answers; what it
// returns tells the smallest number.
func newFewest(c *chain) func() int {
	var fewest atomic.Int64
	fewest.Store(math.MaxInt64)
	c.StartView(c.t.Context(), c.app, func(r gateway.Response) {
		if n := int64(r.UpCount()); r.Listed && n < fewest.Load() {
			fewest.Store(n)
		}
	}).Mute()
	return func() int { return int(fewest.Load()) }
}
