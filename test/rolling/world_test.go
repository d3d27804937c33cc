package rolling

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kureka/kureka/test/rig/java"
	"github.com/kureka/kureka/test/rig/kubelet"
	"github.com/kureka/kureka/test/rig/netns"
	"github.com/kureka/kureka/test/rig/stage"
)

// world is a Deployment of the application on nodes, a gateway on a node of its own,
// and the registry by which the one finds the other.
type world struct {
	*testing.T
	*stage.Stage
	variant variant
	timing  timing
	java    *java.Runtime
	workers []*stage.Node // the nodes of the application
	gateway *gateway
	// snapshot is the file in which Kureka keeps the registry.
	snapshot string
}

// workers is how many nodes the application has.
const workers = 3

// begin starts everything and returns when the gateway knows all instances.
func begin(t *testing.T, v variant, at timing) *world {
	t.Helper()
	if !*withClients {
		t.Skip("the applications have to be built: make rolling")
	}
	w := &world{T: t, variant: v, timing: at, java: &java.Runtime{Programs: shared.programs, ProbeEvery: 2 * time.Second}}
	set := stage.Setting{Rig: shared.rig, Timeline: stage.NewTimeline(), Runtime: w.java}
	if v.eureka {
		w.java.Registry = w.startEureka()
	} else {
		set.Operator = w.startKureka()
		w.java.Registry = set.Operator.URL()
	}
	var err error
	w.Stage, err = stage.New(t.Context(), set, stage.Plan{Name: "rolling", Nodes: workers + 1, Kubelet: kubelet.Options{Vanish: netns.BlackHole}})
	w.must(err)
	t.Cleanup(func() {
		w.Close(t.Context())
		if t.Failed() {
			t.Logf("what happened:\n%s", w.Timeline)
		}
	})
	w.workers = w.Nodes[:workers]
	if policy := v.policy(at); policy != "" {
		w.must(drain(t.Context(), w.Stage, policy))
	}
	w.Every(t.Context(), 200*time.Millisecond, func(ctx context.Context) {
		if err := bind(ctx, w.Stage, w.workers); err != nil && ctx.Err() == nil {
			w.Timeline.Add("scheduler", "%v", err)
		}
	})
	w.deploy()
	w.gateway = w.startGateway()
	w.eventually("the gateway to know all instances", func(ctx context.Context) (bool, error) {
		known, err := w.gateway.knows(ctx)
		return len(known) == *instances, err
	})
	w.Timeline.Mark("%d instances behind a gateway", *instances)
	return w
}

// startKureka runs Kureka as the manifests do, with a file that outlives it.
func (w *world) startKureka() *stage.Operator {
	w.Helper()
	w.snapshot = filepath.Join(w.TempDir(), "registry.snapshot")
	operator, err := shared.rig.StartManager(w.Context(), stage.OperatorOptions{
		Name: "kureka-" + w.variant.name + "-" + w.timing.name, Address: kureka, Gate: "Off", Args: []string{
			"--webhook-bind-address", kureka + ":443", "--shutdown-delay", "5s",
			"--snapshot-file", w.snapshot,
		},
	})
	w.must(err)
	w.Cleanup(operator.Kill)
	return operator
}

// observe calls the application through the gateway, and reads what the gateway
// knows, until the returned function is called.
func (w *world) observe() (stop func() observed) {
	w.Helper()
	l, k := newLoad(w.gateway.page), newKnown(w.gateway, *instances)
	ctx, cancel := context.WithCancel(w.Context())
	var running sync.WaitGroup
	running.Go(func() { l.run(ctx, *rate) })
	running.Go(func() { k.run(ctx) })
	return sync.OnceValue(func() observed {
		cancel()
		running.Wait()
		return observed{load: l, fewest: k.fewest}
	})
}

// settle lets pass the time after which nobody can know an instance that left
// before.
func (w *world) settle() {
	w.Helper()
	age := w.timing.fetch + w.timing.cache
	if w.variant.eureka {
		age += w.timing.response
	}
	w.pass(age + 5*time.Second)
}

func (w *world) pass(d time.Duration) {
	w.Helper()
	w.must(stage.Pass(w.Context(), d))
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// bound is how long anything may take that is waited for. It is no expectation: a
// dozen Java processes that start on a busy machine take minutes.
const bound = 15 * time.Minute

// eventually fails the test when the answer stays no; errors count as no.
func (w *world) eventually(what string, ask func(context.Context) (bool, error)) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), bound)
	defer cancel()
	for {
		yes, err := ask(ctx)
		if yes && err == nil {
			return
		}
		if passed := stage.Pass(ctx, 500*time.Millisecond); passed != nil {
			w.Fatalf("waiting for %s: %v: %v", what, passed, err)
		}
	}
}

// pods are the pods of the application, also those that end.
func (w *world) pods(ctx context.Context) ([]corev1.Pod, error) {
	list, err := w.Rig.Client.CoreV1().Pods(w.Namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=" + app})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}
