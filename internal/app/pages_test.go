package app

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/kureka/kureka/internal/dashboard"
)

// visit asks as a browser does. The caller closes the body.
func visit(t *testing.T, a *App, login, path string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+login+a.Addr().String()+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	resp, err := web.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// page returns what a browser is answered.
func page(t *testing.T, a *App, login, path string) (int, string) {
	t.Helper()
	resp := visit(t, a, login, path)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestTheRootIsAPageForEverybody(t *testing.T) {
	a, _ := start(t, options(Standalone))
	ask(t, a.Addr(), http.MethodPost, "/eureka/apps/DEMO", demoBody("a", "192.0.2.10"))
	if code, body := page(t, a, "", "/"); code != http.StatusOK || !strings.Contains(body, "Instances currently registered") || !strings.Contains(body, "DEMO") {
		t.Errorf("a browser is answered %d", code)
	}
	if code, body := ask(t, a.Addr(), http.MethodGet, "/", ""); code != http.StatusOK || !strings.Contains(body, "Instances currently registered") {
		t.Errorf("a health check is answered %d %q", code, body)
	}
	if code, body := ask(t, a.Addr(), http.MethodPost, "/", ""); code != http.StatusNotFound || body != "" {
		t.Errorf("a body is answered %d %q", code, body)
	}
	if code, body := page(t, a, "", "/apps/DEMO"); code != http.StatusOK || !strings.Contains(body, "<application>") {
		t.Errorf("a browser that asks for an application is answered %d %s", code, body)
	}
}

func TestPagesAskForANameAndPasswordToo(t *testing.T) {
	o := options(Standalone)
	o.UsersFile = usersFile(t)
	a, _ := start(t, o)
	for _, path := range []string{"/", "/kureka/ui/changes", "/kureka/ui/assets/style.css", dashboard.StreamPath} {
		if code, _ := page(t, a, "", path); code != http.StatusUnauthorized {
			t.Errorf("%s without a password: %d", path, code)
		}
	}
	if code, _ := page(t, a, "orders:s3cret@", "/"); code != http.StatusOK {
		t.Errorf("with a password: %d", code)
	}
}

func TestAStreamEndsWithTheProcess(t *testing.T) {
	a, stop := start(t, options(Standalone))
	resp := visit(t, a, "", dashboard.StreamPath)
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	if line, err := lines.ReadString('\n'); err != nil || line != "retry: 3000\n" {
		t.Fatalf("the stream begins with %q, %v", line, err)
	}
	if err := stop(); err != nil {
		t.Errorf("stopping: %v", err)
	}
	if _, err := io.ReadAll(lines); err != nil {
		t.Errorf("the stream is cut off: %v", err)
	}
}
