package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// patchServer takes patches of pods, and returns the kubeconfig that leads to it.
func patchServer(t *testing.T, patched func(path, body string)) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		patched(r.Method+" "+r.URL.Path, string(body))
		w.Header().Set("Content-Type", "application/json")
		if _, err := io.WriteString(w, `{"apiVersion":"v1","kind":"Pod"}`); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	config, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "c",
		"clusters": []any{map[string]any{"name": "c", "cluster": map[string]any{"server": s.URL}}},
		"contexts": []any{map[string]any{"name": "c", "context": map[string]any{"cluster": "c"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, config, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOverride_endsByTheClockOfTheRegistry(t *testing.T) {
	t.Parallel()
	e := up()
	e.Binding.Pod.UID = "u-1"
	server := registry(t, map[string]any{"/kureka/v1/instances/ORDERS/o-1": e})
	var got map[string]any
	kubeconfig := patchServer(t, func(path, body string) {
		if path != "PATCH /api/v1/namespaces/shop/pods/orders-1" {
			t.Errorf("it asks for %s", path)
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Error(err)
		}
	})
	slow := func() time.Time { return testNow.Add(-10 * time.Minute) }
	said := runAt(t.Context(), slow, server, "--kubeconfig", kubeconfig, "override", "set", "orders", "o-1", "OUT_OF_SERVICE", "--for", "5m")
	if said.code != exitOK || !strings.Contains(said.out, "until 2026-11-30T03:19:15Z") {
		t.Errorf("it says (%d) %s%s", said.code, said.out, said.err)
	}
	want := map[string]any{"metadata": map[string]any{"uid": "u-1", "annotations": map[string]any{
		"kureka.dev/status": "OutOfService", "kureka.dev/status-until": "2026-11-30T03:19:15Z",
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the patch differs (-want +got):\n%s", diff)
	}
}
