package login

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"golang.org/x/crypto/bcrypt"
)

// line is a user as htpasswd -B writes it.
func line(tb testing.TB, name, password string) string {
	tb.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		tb.Fatal(err)
	}
	return name + ":" + strings.Replace(string(hash), "$2a$", "$2y$", 1) + "\n"
}

func write(tb testing.TB, path string, lines ...string) {
	tb.Helper()
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
		tb.Fatal(err)
	}
}

func open(tb testing.TB, log logr.Logger, lines ...string) *Logins {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "users")
	write(tb, path, lines...)
	l, err := New(path, log, prometheus.NewRegistry())
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// ask returns the answer to a request with a name and password; none if both
// are empty.
func (l *Logins) ask(tb testing.TB, name, password string) *httptest.ResponseRecorder {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), http.MethodPut, "/eureka/apps/DEMO/a", http.NoBody)
	if name+password != "" {
		r.SetBasicAuth(name, password)
	}
	w := httptest.NewRecorder()
	l.Require(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })).ServeHTTP(w, r)
	return w
}

func TestRequire_letsThroughWhoIsInTheFile(t *testing.T) {
	t.Parallel()
	l := open(t, logr.Discard(), "# clients\n\n", line(t, "orders", "s3cret"), line(t, "päul", "a:b c@/%ß"))
	tests := map[string]struct {
		name, password string
		want           int
	}{
		"right":                      {"orders", "s3cret", http.StatusOK},
		"another user":               {"päul", "a:b c@/%ß", http.StatusOK},
		"nothing sent":               {"", "", http.StatusUnauthorized},
		"wrong password":             {"orders", "s3cre", http.StatusUnauthorized},
		"empty password":             {"orders", "", http.StatusUnauthorized},
		"another user's password":    {"päul", "s3cret", http.StatusUnauthorized},
		"nobody":                     {"nobody", "s3cret", http.StatusUnauthorized},
		"name in another case":       {"Orders", "s3cret", http.StatusUnauthorized},
		"name that runs into it":     {"orderss", "3cret", http.StatusUnauthorized},
		"password longer than a key": {"orders", strings.Repeat("x", 4096), http.StatusUnauthorized},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 2 { // the second answer comes from what is remembered
				got := l.ask(t, tc.name, tc.password)
				if got.Code != tc.want || got.Body.Len() != 0 {
					t.Errorf("answered %d %q, want an empty %d", got.Code, got.Body, tc.want)
				}
				if challenge := got.Header().Get("WWW-Authenticate"); (tc.want == http.StatusUnauthorized) != strings.HasPrefix(challenge, "Basic ") {
					t.Errorf("challenge %q", challenge)
				}
			}
		})
	}
}

func TestCheck_computesNoHashForWhatIsKnown(t *testing.T) {
	t.Parallel()
	l := open(t, logr.Discard(), line(t, "orders", "s3cret"))
	l.ask(t, "orders", "s3cret")
	l.ask(t, "orders", "wrong")
	l.waiting.Store(maxWaiting) // from now on a hash cannot be computed
	for password, want := range map[string]int{"s3cret": http.StatusOK, "wrong": http.StatusUnauthorized, "another": http.StatusServiceUnavailable} {
		if got := l.ask(t, "orders", password).Code; got != want {
			t.Errorf("%s: %d, want %d", password, got, want)
		}
	}
}

func TestRefused_isBounded(t *testing.T) {
	t.Parallel()
	all, err := parseUsers([]byte(line(t, "orders", "s3cret")))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 * maxRefused {
		all.refuse(mac{byte(i), byte(i >> 8), byte(i >> 16)})
	}
	if len(all.refused) > maxRefused {
		t.Errorf("%d wrong passwords are remembered", len(all.refused))
	}
}

func TestCheck_isSafeForManyAtOnce(t *testing.T) {
	t.Parallel()
	l := open(t, logr.Discard(), line(t, "orders", "s3cret"))
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			name, want := "orders", http.StatusOK
			if i%2 == 1 {
				name, want = "nobody", http.StatusUnauthorized
			}
			if got := l.ask(t, name, "s3cret").Code; got != want {
				t.Errorf("%s: %d, want %d", name, got, want)
			}
		})
	}
	wg.Wait()
}

func TestRun_followsTheFile(t *testing.T) {
	t.Parallel()
	kept, changed := line(t, "kept", "k"), line(t, "changed", "old")
	synctest.Test(t, func(t *testing.T) {
		var logged []string
		l := open(t, funcr.New(func(_, args string) { logged = append(logged, args) }, funcr.Options{}), kept, changed)
		ctx, stop := context.WithCancel(t.Context())
		go l.Run(ctx)
		later := func(what string, want map[string]int) {
			t.Helper()
			synctest.Wait()
			<-time.After(2 * reloadInterval)
			synctest.Wait()
			for login, code := range want {
				name, password, _ := strings.Cut(login, ":")
				if got := l.ask(t, name, password).Code; got != code {
					t.Errorf("%s: %s is answered %d, want %d", what, login, got, code)
				}
			}
		}
		later("at first", map[string]int{"kept:k": 200, "changed:old": 200, "changed:new": 401, "added:a": 401})
		write(t, l.path, kept, line(t, "changed", "new"), line(t, "added", "a"))
		later("changed", map[string]int{"kept:k": 200, "changed:old": 401, "changed:new": 200, "added:a": 200})
		write(t, l.path, "nonsense")
		later("broken", map[string]int{"kept:k": 200, "changed:new": 200})
		if err := os.Remove(l.path); err != nil {
			t.Fatal(err)
		}
		later("gone", map[string]int{"kept:k": 200})
		stop()
		synctest.Wait()
		if len(logged) != 3 || strings.Contains(strings.Join(logged, ""), "$2") {
			t.Errorf("logged %q, want the new file and both faults once each, and no hashes", logged)
		}
	})
}

func TestNew_refusesFilesThatLetNobodyIn(t *testing.T) {
	t.Parallel()
	good := line(t, "orders", "s3cret")
	tests := map[string]struct{ file, want string }{
		"empty":          {"\n# nobody\n", "names nobody"},
		"no hash":        {"orders\n", "line 1: want name:hash"},
		"no name":        {":" + good[7:], "line 1: want name:hash"},
		"MD5":            {good + "a:$apr1$x$y\n", "line 2: not a bcrypt hash: make one with htpasswd -B"},
		"plain password": {"a:secret\n", "line 1: not a bcrypt hash"},
		"twice":          {good + good, "line 2: the name occurs twice"},
		"too dear":       {"a:$2y$15$CwTycUXWue0Thq9StjUM0uJ8r3NDVyFqXaVyj/9sUcrSRxiTr3bJ2\n", "cost 15: 14 at most"},
		"too long":       {strings.Repeat("#\n", maxFileBytes), "bytes"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "users")
			write(t, path, tc.file)
			_, err := New(path, logr.Discard(), prometheus.NewRegistry())
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
	if _, err := New(filepath.Join(t.TempDir(), "none"), logr.Discard(), prometheus.NewRegistry()); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("no such file: %v", err)
	}
}

func TestRefusals_areCounted(t *testing.T) {
	t.Parallel()
	l := open(t, logr.Discard(), line(t, "orders", "s3cret"))
	l.ask(t, "orders", "s3cret")
	l.ask(t, "orders", "wrong")
	l.ask(t, "", "")
	for reason, want := range map[string]float64{reasonNone: 1, reasonWrong: 1, reasonBusy: 0} {
		var m dto.Metric
		if err := l.answers.WithLabelValues(reason).Write(&m); err != nil || m.GetCounter().GetValue() != want {
			t.Errorf("%s: counted %v, want %v (%v)", reason, m.GetCounter().GetValue(), want, err)
		}
	}
}

func TestRefusals_doNotCountWhoHungUp(t *testing.T) {
	t.Parallel()
	l := open(t, logr.Discard(), line(t, "orders", "s3cret"))
	for range maxChecks {
		l.running <- struct{}{} // no hash can be computed
	}
	ctx, hangUp := context.WithCancel(t.Context())
	hangUp()
	r := httptest.NewRequestWithContext(ctx, http.MethodPut, "/eureka/apps/DEMO/a", http.NoBody)
	r.SetBasicAuth("orders", "wrong")
	l.Require(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), r)
	var m dto.Metric
	if err := l.answers.WithLabelValues(reasonBusy).Write(&m); err != nil || m.GetCounter().GetValue() != 0 {
		t.Errorf("counted %v (%v)", m.GetCounter().GetValue(), err)
	}
	for range maxChecks {
		<-l.running
	}
}

func TestParseUsers_takesTheDearestHashForNobody(t *testing.T) {
	t.Parallel()
	const dear = "dear:$2y$06$CwTycUXWue0Thq9StjUM0uJ8r3NDVyFqXaVyj/9sUcrSRxiTr3bJ2\n"
	for _, file := range []string{dear + line(t, "cheap", "x"), line(t, "cheap", "x") + dear} {
		all, err := parseUsers([]byte(file))
		if err != nil {
			t.Fatal(err)
		}
		if cost, err := bcrypt.Cost(all.decoy); err != nil || cost != 6 {
			t.Errorf("the decoy costs %d (%v)", cost, err)
		}
	}
}

// What a heartbeat costs once its password is known, against what a hash costs.
func BenchmarkCheck(b *testing.B) {
	l := open(b, logr.Discard(), line(b, "orders", "s3cret"))
	for _, password := range []string{"s3cret", "wrong"} {
		b.Run("password="+password, func(b *testing.B) {
			l.check(b.Context(), "orders", password)
			for b.Loop() {
				l.check(b.Context(), "orders", password)
			}
		})
	}
}

// A file is read or refused, whatever is in it.
func FuzzUsers(f *testing.F) {
	f.Add([]byte(line(f, "orders", "s3cret")))
	f.Add([]byte("a:$apr1$x$y\n#\n\n:\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if all, err := parseUsers(file); (err == nil) != (all != nil && len(all.byName) > 0) {
			t.Errorf("%v and %v", all, err)
		}
	})
}
