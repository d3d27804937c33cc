package policy

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/internal/verdict"
	"github.com/kureka/kureka/test/rig/controlplane"
)

// plane is the API server that all tests of this package share. It has no custom
// resources before a test needs them.
var plane *controlplane.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(controlplane.Run(m, func(_ context.Context, p *controlplane.ControlPlane) error {
		plane = p
		return nil
	}))
}

// world is a running reader of policies and what it told.
type world struct {
	t     testing.TB
	admin client.Client

	mu       sync.Mutex
	fallback *verdict.Policy
	own      map[string]verdict.Policy
	lines    []string
}

// SetPolicies is the target's.
func (w *world) SetPolicies(_ time.Time, fallback verdict.Policy, namespaces map[string]verdict.Policy) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fallback, w.own = &fallback, namespaces
}

// Namespace has figures that tell its numbers apart.
func (w *world) Namespace(string) (leases, expected, received, held int, engaged, ok bool) {
	return 4, 8, 3, 2, true, true
}

// newWorld returns a world in which nothing runs yet.
func newWorld(tb testing.TB) *world {
	tb.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, corev1.AddToScheme, rbacv1.AddToScheme} {
		if err := add(scheme); err != nil {
			tb.Fatal(err)
		}
	}
	admin, err := client.New(plane.Config(), client.Options{Scheme: scheme})
	if err != nil {
		tb.Fatal(err)
	}
	return &world{t: tb, admin: admin}
}

// run starts the reader until the test ends.
func (w *world) run(cfg *rest.Config) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	opts := Options{Target: w, Figures: w, Class: "ours", Clock: time.Now, Logger: funcr.New(w.log, funcr.Options{})}
	go func() {
		defer close(done)
		Run(ctx, cfg, opts)
	}()
	w.t.Cleanup(func() {
		cancel()
		<-done
	})
}

func (w *world) log(_, args string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, args)
}

func (w *world) logged() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.lines...)
}

// policyOf returns the target's policy for a namespace; own says that it is the
// namespace's, ok that the target was told anything.
func (w *world) policyOf(namespace string) (p verdict.Policy, own, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fallback == nil {
		return p, false, false
	}
	if p, own = w.own[namespace]; own {
		return p, true, true
	}
	return *w.fallback, false, true
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// eventually polls until the condition holds. The deadline is for a test that
// fails; nothing is concluded from how long it took.
func (w *world) eventually(what string, condition func() bool) {
	w.t.Helper()
	err := wait.PollUntilContextTimeout(w.t.Context(), 5*time.Millisecond, 60*time.Second, true,
		func(context.Context) (bool, error) { return condition(), nil })
	if err != nil {
		w.t.Fatalf("waited in vain until %s; logged: %q", what, w.logged())
	}
}

func (w *world) namespace() string {
	w.t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "world-"}}
	w.must(w.admin.Create(w.t.Context(), ns))
	return ns.Name
}

// create stores an object until the test ends.
func (w *world) create(o client.Object) {
	w.t.Helper()
	w.must(w.admin.Create(w.t.Context(), o))
	w.t.Cleanup(func() {
		if err := client.IgnoreNotFound(w.admin.Delete(context.WithoutCancel(w.t.Context()), o)); err != nil {
			w.t.Error(err)
		}
	})
}

func clusterPolicy(spec v1alpha1.ClusterRegistryPolicySpec) *v1alpha1.ClusterRegistryPolicy {
	return &v1alpha1.ClusterRegistryPolicy{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.PolicyName}, Spec: spec}
}

func namespacePolicy(namespace string, spec v1alpha1.RegistryPolicySpec) *v1alpha1.RegistryPolicy {
	return &v1alpha1.RegistryPolicy{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.PolicyName, Namespace: namespace}, Spec: spec}
}

// install applies manifests of the folder config.
func (w *world) install(patterns ...string) {
	w.t.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join("..", "..", "config", pattern))
		if err != nil || len(files) == 0 {
			w.t.Fatalf("finding %s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			objects, err := controlplane.Manifests(file)
			w.must(err)
			for _, o := range objects {
				w.must(w.admin.Apply(w.t.Context(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("test")))
			}
		}
	}
}

// installResources installs the custom resources and waits until they are served.
func (w *world) installResources() {
	w.t.Helper()
	w.install("crd/bases/*.yaml")
	w.eventually("the custom resources are served", func() bool {
		return w.admin.List(w.t.Context(), &v1alpha1.ClusterRegistryPolicyList{}) == nil &&
			w.admin.List(w.t.Context(), &v1alpha1.RegistryPolicyList{}) == nil
	})
}
