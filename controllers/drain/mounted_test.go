package drain

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"

	"github.com/kureka/kureka/api/v1alpha1"
)

// secretVolume is a folder that changes as one does that the kubelet mounts a Secret
// into: the files are links into a folder that a link names, which is replaced.
type secretVolume struct {
	t   *testing.T
	dir string
}

// put replaces the files by a new certificate and returns its authority.
func (v secretVolume) put() (authority []byte) {
	v.t.Helper()
	authority, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	v.must(err)
	v.swap(map[string][]byte{"tls.crt": authority, "tls.key": key})
	return authority
}

// swap replaces the files, of which those that are not named are gone.
func (v secretVolume) swap(files map[string][]byte) {
	v.t.Helper()
	before, err := os.Readlink(v.path("..data"))
	if err != nil && !os.IsNotExist(err) {
		v.t.Fatal(err)
	}
	next, err := os.MkdirTemp(v.dir, "..")
	v.must(err)
	for name, content := range files {
		v.must(os.WriteFile(filepath.Join(next, name), content, 0o600))
	}
	v.must(os.Symlink(filepath.Base(next), v.path("..data_tmp")))
	v.must(os.Rename(v.path("..data_tmp"), v.path("..data")))
	for _, name := range []string{"tls.crt", "tls.key"} {
		if files[name] == nil {
			v.must(os.RemoveAll(v.path(name)))
		} else if _, err := os.Lstat(v.path(name)); err != nil {
			v.must(os.Symlink("..data/"+name, v.path(name)))
		}
	}
	if before != "" {
		v.must(os.RemoveAll(v.path(before)))
	}
}

func (v secretVolume) path(name string) string { return filepath.Join(v.dir, name) }

func (v secretVolume) must(err error) {
	v.t.Helper()
	if err != nil {
		v.t.Fatal(err)
	}
}

// The folder is empty at first, as when a pod starts before its certificate was
// issued. Whatever becomes of it later, no pod is refused, and nothing is restarted.
func TestACertificateThatComesLateAndIsReplacedIsUsedWithoutARestart(t *testing.T) {
	files := secretVolume{t, t.TempDir()}
	stop, _, config := installFrom(t, func(string) v1alpha1.Drain { return builtIn() }, files.dir)
	injected := func() bool { return sleepOf(create(t)) > 0 }
	if injected() {
		t.Error("a pod got a sleep from a webhook without a certificate")
	}

	first := files.put()
	have(t, config, first)
	eventually(t, "the certificate that came late is used", injected)

	files.swap(nil)
	if !injected() {
		t.Error("the certificate was forgotten with its files")
	}

	second := files.put()
	have(t, config, second)
	eventually(t, "the new certificate is presented", func() bool { return presents(t, config, second) })
	eventually(t, "the new certificate is trusted", injected)
	stop()
	if got := clientConfig(t, config).CABundle; !bytes.Equal(got, second) {
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
	chain, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		files map[string][]byte
		want  string
	}{
		"no files":      {nil, "tls.crt"},
		"empty files":   {map[string][]byte{"tls.crt": {}, "tls.key": {}}, "reading the webhook's certificate"},
		"no key":        {map[string][]byte{"tls.crt": chain}, "tls.key"},
		"another's key": {map[string][]byte{"tls.crt": chain, "tls.key": anotherKey(t)}, "private key does not match"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			files := secretVolume{t, t.TempDir()}
			m := &mounted{dir: files.dir, log: logr.Discard()}
			files.swap(tc.files)
			refused(t, m, tc.want)
			if _, err := m.get(&tls.ClientHelloInfo{}); err == nil {
				t.Error("there is a certificate before there was one")
			}
			files.put()
			used := taken(t, m)
			files.swap(tc.files)
			refused(t, m, tc.want)
			if now, err := m.get(&tls.ClientHelloInfo{}); err != nil || now != used {
				t.Errorf("the certificate before is not used on: %v", err)
			}
			files.swap(map[string][]byte{"tls.crt": chain, "tls.key": key})
			if taken(t, m) == used {
				t.Error("the next certificate is not used")
			}
		})
	}
}

func anotherKey(t *testing.T) []byte {
	t.Helper()
	_, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return key
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
