package readiness

import (
	"context"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/go-logr/logr/testr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/controllers/admit"
	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/test/rig/controlplane"
)

// plane is the control plane that all tests of this package share.
var plane *controlplane.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(controlplane.Run(m, func(_ context.Context, p *controlplane.ControlPlane) error {
		plane = p
		return nil
	}))
}

// rig is a running loop over pods that the test names.
type rig struct {
	t     *testing.T
	admin kubernetes.Interface

	mu      sync.Mutex
	waiting []cluster.Awaiting
	done    map[string]int
}

func newRig(t *testing.T) *rig {
	t.Helper()
	cfg := rest.CopyConfig(plane.Config())
	cfg.QPS = -1
	admin, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &rig{t: t, admin: admin, done: map[string]int{}}
}

// Awaiting implements Target.
func (r *rig) Awaiting() []cluster.Awaiting {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waiting
}

func (r *rig) wait(list ...cluster.Awaiting) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = list
}

func (r *rig) written(reason string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done[reason]
}

// run releases pods with a client until the test ends; the bound is a minute.
func (r *rig) run(client kubernetes.Interface, log logr.Logger) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.t.Context()))
	var wg sync.WaitGroup
	wg.Go(func() {
		Run(ctx, Options{
			Target: r, Client: client, Clock: time.Now, Logger: log,
			MaxWait: func(string) (time.Duration, bool) { return time.Minute, true },
			Listing: func(time.Time) bool { return true },
			Done: func(_ cluster.Awaiting, written corev1.PodCondition) {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.done[written.Reason]++
			},
		})
	})
	r.t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
}

// create creates a pod with the gate and a condition of somebody else.
func (r *rig) create() *corev1.Pod {
	r.t.Helper()
	api := r.admin.CoreV1().Pods(metav1.NamespaceDefault)
	p, err := api.Create(r.t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "gated-"},
		Spec: corev1.PodSpec{
			Containers:     []corev1.Container{{Name: "app", Image: "app"}},
			ReadinessGates: []corev1.PodReadinessGate{{ConditionType: v1alpha1.PodRegistered}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.ContainersReady, Status: corev1.ConditionTrue}}
	if p, err = api.UpdateStatus(r.t.Context(), p, metav1.UpdateOptions{}); err != nil {
		r.t.Fatal(err)
	}
	return p
}

func (r *rig) get(name string) *corev1.Pod {
	r.t.Helper()
	p, err := r.admin.CoreV1().Pods(metav1.NamespaceDefault).Get(r.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

func (r *rig) eventually(what string, condition func() bool) {
	r.t.Helper()
	err := wait.PollUntilContextTimeout(r.t.Context(), 20*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return condition(), nil })
	if err != nil {
		r.t.Fatalf("waited in vain until %s", what)
	}
}

func awaiting(p *corev1.Pod, age time.Duration, up string) cluster.Awaiting {
	return cluster.Awaiting{UID: string(p.UID), Namespace: p.Namespace, Name: p.Name, Created: time.Now().Add(-age), Up: up}
}

// registered is the condition of a pod as REASON: MESSAGE, empty if it is not True.
func registered(p *corev1.Pod) string {
	for _, c := range p.Status.Conditions {
		if c.Type == v1alpha1.PodRegistered && c.Status == corev1.ConditionTrue && !c.LastTransitionTime.IsZero() {
			return c.Reason + ": " + c.Message
		}
	}
	return ""
}

func TestTheConditionIsWrittenAndNothingElseOfThePod(t *testing.T) {
	r := newRig(t)
	up, old, young, replaced := r.create(), r.create(), r.create(), r.create()
	before := awaiting(replaced, time.Hour, "")
	before.UID = "somebody-else"
	r.wait(awaiting(up, 0, "SHOP/up"), awaiting(old, time.Hour, ""), awaiting(young, 0, ""), before)
	r.run(r.admin, testr.New(t))
	r.eventually("two are released", func() bool { return r.written("Registered") > 0 && r.written("WaitedLongEnough") > 0 })
	for name, want := range map[string]string{
		up.Name:       "Registered: Listed UP as SHOP/up",
		old.Name:      "WaitedLongEnough: Not listed UP after 1m0s (readinessGate.maxWaitSeconds)",
		young.Name:    "",
		replaced.Name: "",
	} {
		got := r.get(name)
		if registered(got) != want {
			t.Errorf("%s: %q, want %q", name, registered(got), want)
		}
		if got.Status.Conditions[0].Type != corev1.ContainersReady && got.Status.Conditions[1].Type != corev1.ContainersReady {
			t.Errorf("%s lost the condition of somebody else: %+v", name, got.Status.Conditions)
		}
	}
}

// The manifests grant what is needed, and no more is used. Without it the log says
// so once, and pods are released as soon as it is there.
func TestTheManifestsGrantWhatIsWritten(t *testing.T) {
	r := newRig(t)
	cfg, err := plane.AddUser("system:serviceaccount:kureka-system:kureka", "system:serviceaccounts", "system:authenticated")
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var complaints []string
	p := r.create()
	r.wait(awaiting(p, 0, "SHOP/a"))
	r.run(client, funcr.New(func(_, line string) {
		mu.Lock()
		defer mu.Unlock()
		complaints = append(complaints, line)
	}, funcr.Options{}))
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(complaints)
	}
	r.eventually("it is told that a permission is missing", func() bool { return count() > 0 })
	for _, name := range []string{"role.yaml", "role_binding.yaml"} {
		r.apply(filepath.Join("..", "..", "config", "rbac", name))
	}
	r.eventually("the pod is released", func() bool { return registered(r.get(p.Name)) != "" })
	if count() != 1 {
		t.Errorf("told %d times: %v", count(), complaints)
	}
}

// apply applies what of a manifest is not in a namespace.
func (r *rig) apply(path string) {
	r.t.Helper()
	api, err := ctrlclient.New(plane.Config(), ctrlclient.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	objects, err := controlplane.Manifests(path)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, o := range objects {
		if o.GetNamespace() != "" {
			continue
		}
		if err := api.Apply(r.t.Context(), ctrlclient.ApplyConfigurationFromUnstructured(o), ctrlclient.FieldOwner("test")); err != nil {
			r.t.Fatal(err)
		}
	}
}

func TestAThousandPodsAreReleasedTogether(t *testing.T) {
	const many = 1000
	r := newRig(t)
	list := make([]cluster.Awaiting, many)
	var wg sync.WaitGroup
	for at := range 8 {
		wg.Go(func() {
			for i := at; i < many; i += 8 {
				list[i] = awaiting(r.create(), time.Hour, "")
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	r.run(r.admin, testr.New(t))
	began := time.Now()
	r.wait(list...)
	r.eventually("all are released", func() bool { return r.written("WaitedLongEnough") >= many })
	t.Logf("%d pods were released in %v", many, time.Since(began).Round(time.Millisecond))
}

// The API server asks, with and without a dry run, and a copy gets no second gate.
func TestTheAPIServerLetsPodsGetTheGate(t *testing.T) {
	r := newRig(t)
	srv := httptest.NewTLSServer(admit.Handler(admit.Options{Mutate: Inject, Logger: testr.New(t)}))
	t.Cleanup(srv.Close)
	webhook := config(t)
	webhook.Webhooks[0].ClientConfig = admissionregistrationv1.WebhookClientConfig{
		URL:      new(srv.URL + Path),
		CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}),
	}
	configs := r.admin.AdmissionregistrationV1().MutatingWebhookConfigurations()
	if _, err := configs.Create(t.Context(), webhook, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := configs.Delete(context.WithoutCancel(t.Context()), webhook.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	api := r.admin.CoreV1().Pods(metav1.NamespaceDefault)
	gates := func(label string, options metav1.CreateOptions, already ...corev1.PodReadinessGate) int {
		p, err := api.Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "asked-", Labels: map[string]string{OptInLabel: label}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "app"}}, ReadinessGates: already},
		}, options)
		if err != nil {
			t.Fatal(err)
		}
		return len(p.Spec.ReadinessGates)
	}
	dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	r.eventually("a pod gets the gate", func() bool { return gates("Enabled", metav1.CreateOptions{}) == 1 })
	if n := gates("Enabled", dry); n != 1 {
		t.Errorf("a dry run shows %d gates", n)
	}
	if n := gates("Enabled", dry, corev1.PodReadinessGate{ConditionType: v1alpha1.PodRegistered}); n != 1 {
		t.Errorf("a pod that has it gets %d gates", n)
	}
	if n := gates(OptOut, dry); n != 0 {
		t.Errorf("a pod that is opted out gets %d gates", n)
	}
}

// config is the configuration of the manifests with the webhook for single pods only.
func config(t *testing.T) *admissionregistrationv1.MutatingWebhookConfiguration {
	t.Helper()
	objects, err := controlplane.Manifests(filepath.Join("..", "..", "config", "webhook", "webhook.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var c admissionregistrationv1.MutatingWebhookConfiguration
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(objects[0].Object, &c); err != nil {
		t.Fatal(err)
	}
	c.Name = "readiness"
	c.Webhooks = slices.DeleteFunc(c.Webhooks, func(w admissionregistrationv1.MutatingWebhook) bool { return w.Name != "pods.gate.kureka.dev" })
	if len(c.Webhooks) != 1 || c.Webhooks[0].ClientConfig.Service == nil || *c.Webhooks[0].ClientConfig.Service.Path != Path {
		t.Fatalf("the manifests ask elsewhere: %+v", c.Webhooks)
	}
	return &c
}
