package cli

import (
	"bytes"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestApi_speaksTLSAndNamesItsUser(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "ops" || password != "s3cret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if _, err := w.Write([]byte("{}")); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	authority := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	withUser := strings.Replace(s.URL, "https://", "https://ops:s3cret@", 1)
	tests := map[string]struct {
		args     []string
		password string
		code     int
		err      string
	}{
		"with an authority and a user": {[]string{"--server", s.URL, "--registry-ca-file", authority, "--registry-user", "ops"}, "s3cret", exitOK, ""},
		"with a user in the URL":       {[]string{"--server", withUser + "/eureka/", "--registry-skip-tls-verify"}, "", exitOK, ""},
		"with a wrong password":        {[]string{"--server", withUser, "--registry-ca-file", authority, "--registry-user", "ops"}, "guess", exitError, "it wants a user and password: give --registry-user and $KUREKA_PASSWORD"},
		"without the authority":        {[]string{"--server", withUser}, "", exitError, "failed to verify certificate"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			env := Environment{Out: &out, Err: &errs, Now: func() time.Time { return testNow }, Getenv: func(string) string { return tc.password }}
			code := Main(t.Context(), append(tc.args, "status"), env)
			if code != tc.code || !strings.Contains(errs.String(), tc.err) {
				t.Errorf("it says (%d) %s, want (%d) %q", code, errs.String(), tc.code, tc.err)
			}
			if text := out.String() + errs.String(); strings.Contains(text, "s3cret") {
				t.Errorf("it tells the password: %s", text)
			}
		})
	}
}

func TestApi_doesNotTellAURLThatIsNone(t *testing.T) {
	t.Parallel()
	server := registry(t, nil)
	for _, wrong := range []string{"https://ops:s3cret%ss@registry", "ftp://ops:s3cret@registry", "ops:s3cret@registry", "http://ops:s3cret@"} {
		for _, args := range [][]string{{"--server", wrong, "status"}, {"diff", wrong}} {
			got := run(t, server, args...)
			if got.code != exitError || !strings.Contains(got.err, "is no URL of") || strings.Contains(got.out+got.err, "s3cret") {
				t.Errorf("%v: it says (%d) %s%s", args, got.code, got.out, got.err)
			}
		}
	}
}
