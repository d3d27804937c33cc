package app

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/crypto/bcrypt"
	"k8s.io/apimachinery/pkg/util/wait"
)

// writePair writes a certificate for 127.0.0.1 and its key.
func writePair(t *testing.T, cert, key, subject string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: subject}, DNSNames: []string{"localhost"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}, &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: subject}}, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{key: {Type: "EC PRIVATE KEY", Bytes: encoded}, cert: {Type: "CERTIFICATE", Bytes: der}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// presented returns the subject of the certificate that the API presents, and
// checks that HTTP/2 is agreed on.
func presented(t *testing.T, a *App) string {
	t.Helper()
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		DisableKeepAlives: true, ForceAttemptHTTP2: true,
		TLSClientConfig: &tls.Config{ServerName: "localhost", InsecureSkipVerify: true}, //nolint:gosec // the test looks at what is presented
	}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+a.Addr().String()+"/eureka/apps", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK || resp.ProtoMajor != 2 {
		t.Fatalf("answered %s by %s, %v", resp.Status, resp.Proto, err)
	}
	return resp.TLS.PeerCertificates[0].Subject.CommonName
}

func TestTheAPISpeaksTLSAndFollowsTheCertificate(t *testing.T) {
	dir := t.TempDir()
	o := options(Standalone)
	o.TLSCertFile, o.TLSKeyFile = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	writePair(t, o.TLSCertFile, o.TLSKeyFile, "first")
	a, _ := start(t, o)
	if got := presented(t, a); got != "first" {
		t.Errorf("presented %q", got)
	}
	writePair(t, o.TLSCertFile, o.TLSKeyFile, "second")
	followed := func(context.Context) (bool, error) { return presented(t, a) == "second", nil } //nolint:contextcheck // the test's own
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 30*time.Second, true, followed)
	if err != nil {
		t.Fatalf("the old certificate is still presented: %v", err)
	}
	if code, _ := ask(t, a.servers[2].l.Addr(), http.MethodGet, "/readyz", ""); code != http.StatusOK {
		t.Errorf("the probes answer %d", code)
	}
}

func TestTheAPIAsksForANameAndPassword(t *testing.T) {
	o := options(Standalone)
	o.UsersFile = usersFile(t)
	a, _ := start(t, o)
	for _, path := range []string{"/eureka/apps", "/kureka/v1/view", "/nothing"} {
		if code, body := ask(t, a.Addr(), http.MethodGet, path, ""); code != http.StatusUnauthorized || body != "" {
			t.Errorf("%s without a password: %d %q", path, code, body)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://orders:s3cret@"+a.Addr().String()+"/eureka/apps", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := web.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("with a password in the URL: %s, %v", resp.Status, err)
	}
	for i, path := range map[int]string{1: "/metrics", 2: "/readyz"} {
		if code, _ := ask(t, a.servers[i].l.Addr(), http.MethodGet, path, ""); code != http.StatusOK {
			t.Errorf("%s: %d", path, code)
		}
	}
}

func TestTheAPISpeaksHTTP2WithoutTLS(t *testing.T) {
	a, _ := start(t, options(Standalone))
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{Protocols: &protocols}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+a.Addr().String()+"/eureka/apps", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	client.CloseIdleConnections()
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK || resp.ProtoMajor != 2 {
		t.Errorf("answered %s by %s, %v", resp.Status, resp.Proto, err)
	}
}

func TestSecuritySettingsThatCannotBeUsedSayWhich(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken")
	if err := os.WriteFile(broken, []byte("orders:secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		change func(*Options)
		want   string
	}{
		"no such users":     {func(o *Options) { o.UsersFile = filepath.Join(dir, "none") }, "--registry-users-file"},
		"broken users":      {func(o *Options) { o.UsersFile = broken }, "line 1: not a bcrypt hash"},
		"key alone":         {func(o *Options) { o.TLSKeyFile = broken }, "want both or neither"},
		"no such pair":      {func(o *Options) { o.TLSCertFile, o.TLSKeyFile = filepath.Join(dir, "none"), broken }, "--registry-tls-cert-file"},
		"pair that is none": {func(o *Options) { o.TLSCertFile, o.TLSKeyFile = broken, broken }, broken},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := options(Standalone)
			tc.change(&o)
			_, err := New(t.Context(), o, logr.Discard())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

// usersFile lets one user in, orders with the password s3cret.
func usersFile(t *testing.T) string {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte("s3cret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(path, append([]byte("orders:"), hash...), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
