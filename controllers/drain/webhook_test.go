package drain

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/test/rig/controlplane"
)

// admin talks to the API server that all tests of this package share.
var admin kubernetes.Interface

func TestMain(m *testing.M) {
	os.Exit(controlplane.Run(m, func(_ context.Context, plane *controlplane.ControlPlane) (err error) {
		admin, err = kubernetes.NewForConfig(plane.Config())
		return err
	}))
}

// outcomes counts what the webhook says it has done.
type outcomes struct {
	mu sync.Mutex
	n  map[string]int
}

func (o *outcomes) add(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n == nil {
		o.n = map[string]int{}
	}
	o.n[name]++
}

func (o *outcomes) of(name string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.n[name]
}

// unmeasured is a registry that nobody has fetched yet.
func unmeasured() (slowest time.Duration, known, unknown int) { return 0, 0, 0 }

// install runs a webhook with a certificate of its own and has the API server ask
// it about pods that are opted in.
func install(t *testing.T, settings Settings) (stop func(), seen *outcomes) {
	t.Helper()
	stop, seen, _ = installFrom(t, settings, "")
	return stop, seen
}

// installFrom is install with a certificate in a folder, whose authority the test has
// to write into the configuration that is returned.
func installFrom(t *testing.T, settings Settings, certDir string) (stop func(), seen *outcomes, config string) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	name := strings.ToLower("drain-" + strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	name = name[:min(len(name), 60)]
	none, ignore := admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.Ignore
	_, err = admin.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "pods.kureka.dev", AdmissionReviewVersions: []string{"v1"}, SideEffects: &none, FailurePolicy: &ignore, TimeoutSeconds: new(int32(5)),
			ClientConfig:   admissionregistrationv1.WebhookClientConfig{URL: new("https://" + l.Addr().String() + Path)},
			ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{OptInLabel: OptIn}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	seen = &outcomes{}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Options{
			Listener: l, Client: admin, Settings: settings, Fetching: unmeasured, CertDir: certDir, Configuration: name, Names: []string{"127.0.0.1"},
			Clock: time.Now, Logger: testr.New(t), Done: seen.add,
		})
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		stop()
		if err := admin.AdmissionregistrationV1().MutatingWebhookConfigurations().Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	return stop, seen, name
}

// create creates a pod that opts in and returns what became of it.
func create(t *testing.T) *corev1.Pod {
	t.Helper()
	pod, err := admin.CoreV1().Pods(metav1.NamespaceDefault).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "drained-", Labels: map[string]string{OptInLabel: OptIn}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "app"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return condition(), nil })
	if err != nil {
		t.Fatalf("waited in vain until %s", what)
	}
}

func sleepOf(p *corev1.Pod) int64 {
	if l := p.Spec.Containers[0].Lifecycle; l != nil && l.PreStop != nil && l.PreStop.Sleep != nil {
		return l.PreStop.Sleep.Seconds
	}
	return 0
}

func TestTheAPIServerLetsTheWebhookGiveAPodItsSleep(t *testing.T) {
	stop, seen := install(t, func(string) v1alpha1.Drain { return builtIn() })
	var pod *corev1.Pod
	eventually(t, "a pod gets a sleep", func() bool { // once the certificate is trusted
		pod = create(t)
		return sleepOf(pod) > 0
	})
	if sleepOf(pod) != 70 || *pod.Spec.TerminationGracePeriodSeconds != 100 || seen.of("injected") == 0 {
		t.Errorf("sleep %d s, grace %d s, %d injected", sleepOf(pod), *pod.Spec.TerminationGracePeriodSeconds, seen.of("injected"))
	}
	if again := copyOf(t, pod); sleepOf(again) != 70 || *again.Spec.TerminationGracePeriodSeconds != 100 {
		t.Errorf("a copy of it has sleep %d s and grace %d s", sleepOf(again), *again.Spec.TerminationGracePeriodSeconds)
	}
	stop()
	if pod := create(t); sleepOf(pod) != 0 {
		t.Errorf("without the webhook a pod has a sleep of %d s", sleepOf(pod))
	}
}

func copyOf(t *testing.T, p *corev1.Pod) *corev1.Pod {
	t.Helper()
	c := p.DeepCopy()
	c.ObjectMeta = metav1.ObjectMeta{GenerateName: p.GenerateName, Labels: p.Labels, Annotations: p.Annotations}
	c, err := admin.CoreV1().Pods(p.Namespace).Create(t.Context(), c, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestADisabledDrainAndAnOptedOutPodChangeNothing(t *testing.T) {
	mode := v1alpha1.DrainSleep
	var mu sync.Mutex
	_, seen := install(t, func(string) v1alpha1.Drain {
		mu.Lock()
		defer mu.Unlock()
		return builtIn(func(d *v1alpha1.Drain) { d.Mode = mode })
	})
	eventually(t, "the webhook is asked", func() bool {
		create(t)
		return seen.of("injected") > 0
	})
	mu.Lock()
	mode = v1alpha1.DrainDisabled
	mu.Unlock()
	before := seen.of("none")
	pod := create(t)
	if sleepOf(pod) != 0 || pod.Annotations[ReportAnnotation] != "" || seen.of("none") != before+1 {
		t.Errorf("sleep %d s, annotation %q, left alone %d times", sleepOf(pod), pod.Annotations[ReportAnnotation], seen.of("none")-before)
	}
}

// What goes wrong in the webhook must not refuse a pod, whatever it is.
func TestAPanicInTheWebhookLetsThePodThrough(t *testing.T) {
	panics := make(chan struct{}, 100)
	install(t, func(string) v1alpha1.Drain {
		panics <- struct{}{}
		panic("out of reach of the policies")
	})
	eventually(t, "the webhook is asked", func() bool {
		pod := create(t) // which fails the test when the API server refuses it
		return sleepOf(pod) == 0 && len(panics) > 0
	})
}

// A certificate that is replaced is trusted before it is used, and the one before
// it for as long as somebody may still be served by it.
func TestARenewedCertificateIsTrustedTogetherWithTheOneBefore(t *testing.T) {
	now := time.Now()
	c := &certificate{names: []string{"kureka.example", "kureka.other.example"}, clock: func() time.Time { return now }}
	renew := func() {
		t.Helper()
		if err := c.renew(); err != nil {
			t.Fatal(err)
		}
	}
	renew()
	c.use()
	first := c.serves.Load()
	renew()
	c.use()
	if c.serves.Load() != first {
		t.Error("renewed although it was new")
	}
	now = now.Add(renewEvery)
	renew()
	verify(t, c, "before the change")
	now = now.Add(renewEvery)
	renew() // the API server was not told in all that time
	if c.serves.Load() != first {
		t.Error("used before it was trusted")
	}
	verify(t, c, "while it cannot be changed")
	c.use()
	if c.serves.Load() == first {
		t.Error("never used")
	}
	verify(t, c, "after the change")
	now = now.Add(renewEvery)
	renew()
	if n := strings.Count(string(c.bundle), "BEGIN CERTIFICATE"); n != 2 {
		t.Errorf("%d certificates are trusted, want 2", n)
	}
}

// verify checks that the certificate in use is trusted under each of its names.
func verify(t *testing.T, c *certificate, when string) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.bundle)
	pair, err := c.get(&tls.ClientHelloInfo{})
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range c.names {
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name}); err != nil {
			t.Errorf("%s: %s: %v", when, name, err)
		}
	}
}

func TestPublishingWritesABundleThatSomebodyReplacedAndWaitsForOneThatIsNotThere(t *testing.T) {
	c := &certificate{names: []string{"127.0.0.1"}, clock: time.Now}
	const name = "published"
	if err := c.publish(t.Context(), admin, name); err == nil || !strings.Contains(err.Error(), "reading the webhook configuration") {
		t.Errorf("a configuration that is not there: %v", err)
	}
	api := admin.AdmissionregistrationV1().MutatingWebhookConfigurations()
	none := admissionregistrationv1.SideEffectClassNone
	_, err := api.Create(t.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "pods.kureka.dev", AdmissionReviewVersions: []string{"v1"}, SideEffects: &none,
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: new("https://127.0.0.1/"), CABundle: []byte("somebody else's")},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.publish(t.Context(), admin, name); err != nil {
		t.Fatal(err)
	}
	got, err := api.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil || !bytes.Equal(got.Webhooks[0].ClientConfig.CABundle, c.bundle) {
		t.Errorf("the bundle is %q, %v", got.Webhooks[0].ClientConfig.CABundle, err)
	}
	if err := api.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

func TestAnOldClusterHasNoSleep(t *testing.T) {
	for v, has := range map[string]bool{"v1.29.9": false, "v1.30.0": true, "v1.37.2": true, "nonsense": true} {
		if why := whyNoSleep(v); (why == "") != has {
			t.Errorf("%s: %q", v, why)
		}
	}
}
