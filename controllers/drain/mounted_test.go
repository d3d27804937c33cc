package drain

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/test/rig/kubelet"
)

// secret is a new certificate, in files as cert-manager writes them.
func secret(t *testing.T) map[string][]byte {
	t.Helper()
	chain, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"tls.crt": chain, "tls.key": key, "ca.crt": chain}
}

// mount puts files into a folder as the kubelet does.
func mount(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	if err := kubelet.WriteVolume(dir, files); err != nil {
		t.Fatal(err)
	}
}

// The folder is empty at first, as when a pod starts before its certificate was
// issued. Whatever becomes of it later, no pod is refused, and nothing is restarted.
func TestACertificateThatComesLateAndIsReplacedIsUsedWithoutARestart(t *testing.T) {
	dir := t.TempDir()
	stop, _, config := installFrom(t, func(string) v1alpha1.Drain { return builtIn() }, dir)
	injected := func() bool { return sleepOf(create(t)) > 0 }
	if injected() {
		t.Error("a pod got a sleep from a webhook without a certificate")
	}

	first, second := secret(t), secret(t)
	mount(t, dir, first)
	have(t, config, first["ca.crt"])
	eventually(t, "the certificate that came late is used", injected)

	mount(t, dir, nil)
	if !injected() {
		t.Error("the certificate was forgotten with its files")
	}

	mount(t, dir, second)
	have(t, config, second["ca.crt"])
	eventually(t, "the new certificate is presented", func() bool { return presents(t, config, second["ca.crt"]) })
	eventually(t, "the new certificate is trusted", injected)
	stop()
	if got := clientConfig(t, config).CABundle; !bytes.Equal(got, second["ca.crt"]) {
		t.Errorf("somebody else's authority was replaced by %q", got)
	}
}

// have writes an authority into a webhook configuration, as whoever renews the
// certificate does.
func have(t *testing.T, config string, authority []byte) {
	t.Helper()
	if err := trust(t.Context(), admin, config, authority); err != nil {
		t.Fatal(err)
	}
}

func clientConfig(t *testing.T, config string) admissionregistrationv1.WebhookClientConfig {
	t.Helper()
	c, err := admin.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(t.Context(), config, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c.Webhooks[0].ClientConfig
}

// presents reports whether the webhook has a certificate that an authority signed.
func presents(t *testing.T, config string, authority []byte) bool {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	url := *clientConfig(t, config).URL
	addr := strings.TrimSuffix(strings.TrimPrefix(url, "https://"), Path)
	conn, err := (&tls.Dialer{Config: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

func TestFilesThatAreNoCertificateChangeNothing(t *testing.T) {
	chain := secret(t)["tls.crt"]
	tests := map[string]struct {
		files map[string][]byte
		want  string
	}{
		"no files":      {nil, "tls.crt"},
		"too large":     {map[string][]byte{"tls.crt": append(bytes.Clone(chain), make([]byte, maxFile)...), "tls.key": {}}, "is larger than"},
		"empty files":   {map[string][]byte{"tls.crt": {}, "tls.key": {}}, "reading the webhook's certificate"},
		"no key":        {map[string][]byte{"tls.crt": chain}, "tls.key"},
		"another's key": {map[string][]byte{"tls.crt": chain, "tls.key": secret(t)["tls.key"]}, "private key does not match"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m := &mounted{dir: t.TempDir(), log: logr.Discard()}
			mount(t, m.dir, tc.files)
			refused(t, m, tc.want)
			if _, err := m.get(&tls.ClientHelloInfo{}); err == nil {
				t.Error("there is a certificate before there was one")
			}
			mount(t, m.dir, secret(t))
			used := taken(t, m)
			mount(t, m.dir, tc.files)
			refused(t, m, tc.want)
			if now, err := m.get(&tls.ClientHelloInfo{}); err != nil || now != used {
				t.Errorf("the certificate before is not used on: %v", err)
			}
			mount(t, m.dir, secret(t))
			if taken(t, m) == used {
				t.Error("the next certificate is not used")
			}
		})
	}
}

func refused(t *testing.T, m *mounted, want string) {
	t.Helper()
	if changed, err := m.read(); changed || err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, %v", changed, err)
	}
}

// taken reads a certificate that is new and returns it.
func taken(t *testing.T, m *mounted) *tls.Certificate {
	t.Helper()
	if changed, err := m.read(); !changed || err != nil {
		t.Fatalf("the certificate is not taken: %v, %v", changed, err)
	}
	if changed, err := m.read(); changed || err != nil {
		t.Errorf("the same again: %v, %v", changed, err)
	}
	pair, err := m.get(&tls.ClientHelloInfo{})
	if err != nil {
		t.Fatal(err)
	}
	return pair
}
