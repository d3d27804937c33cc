package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/kureka/kureka/controllers/readiness"
	"github.com/kureka/kureka/test/rig/controlplane"
)

func TestTheManagerServesTheWebhookAndHasItsCertificateTrusted(t *testing.T) {
	plane := controlplane.StartFor(t, controlplane.Options{NoControllerManager: true})
	client, err := kubernetes.NewForConfig(plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	configs := client.AdmissionregistrationV1().MutatingWebhookConfigurations()
	none := admissionregistrationv1.SideEffectClassNone
	if _, err := configs.Create(t.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: product},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "pods.drain.kureka.dev", AdmissionReviewVersions: []string{"v1"}, SideEffects: &none,
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: new("https://127.0.0.1/")},
		}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	o := options(Manager)
	o.Kubeconfig, o.Namespace, o.WebhookAddr = filepath.Join(t.TempDir(), "kubeconfig"), metav1.NamespaceDefault, "127.0.0.1:0"
	if err := plane.Kubeconfig(o.Kubeconfig); err != nil {
		t.Fatal(err)
	}
	a, _ := start(t, o)
	roots := x509.NewCertPool()
	err = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		c, err := configs.Get(ctx, product, metav1.GetOptions{})
		return err == nil && roots.AppendCertsFromPEM(c.Webhooks[0].ClientConfig.CABundle), nil
	})
	if err != nil {
		t.Fatalf("the certificate is not trusted: %v", err)
	}
	dialer := &tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: "kureka.default.svc", MinVersion: tls.VersionTLS12}}
	conn, err := dialer.DialContext(t.Context(), "tcp", a.watch.drain.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	if a.watch.drain.Others[readiness.Path] == nil {
		t.Error("nobody gives pods their readiness gate")
	}
	if _, body := ask(t, a.servers[1].l.Addr(), http.MethodGet, "/metrics", ""); !strings.Contains(body, `kureka_drain_pods_total{outcome="injected"} 0`) {
		t.Error("the metrics lack the pods that were injected")
	}
}

func TestAnAddressOfTheWebhookThatIsTakenIsSaid(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if _, err := listenOn(t.Context(), "webhook", "webhook-bind-address", l.Addr().String()); err == nil || !strings.Contains(err.Error(), "--webhook-bind-address") {
		t.Errorf("got %v", err)
	}
	if l, err := listenOn(t.Context(), "webhook", "webhook-bind-address", "0"); l != nil || err != nil {
		t.Errorf("no address: %v, %v", l, err)
	}
}
