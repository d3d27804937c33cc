package gateway

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// registry is a scripted registry. A code other than 200 is answered without a
// body.
type registry struct {
	*httptest.Server
	mu    sync.Mutex
	code  int
	full  applications
	delta applications
	asked []string
}

func newRegistry(t *testing.T) *registry {
	t.Helper()
	r := &registry{code: http.StatusOK}
	r.Server = httptest.NewServer(http.HandlerFunc(r.answer))
	t.Cleanup(r.Close)
	return r
}

func (r *registry) answer(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, req.URL.Path)
	w.WriteHeader(r.code)
	if r.code != http.StatusOK {
		return
	}
	var body any
	switch req.URL.Path {
	case "/apps/":
		body = map[string]any{"applications": r.full}
	case "/apps/delta":
		body = map[string]any{"applications": r.delta}
	default:
		body = map[string]any{"application": r.full.Applications[0]}
	}
	_ = json.NewEncoder(w).Encode(body) //nolint:errchkjson // what cannot be encoded shows in the test
}

func (r *registry) script(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

// idle is a gateway that neither calls nor fetches unless told to.
func idle(t *testing.T, r *registry) *Gateway {
	t.Helper()
	g := Start(t.Context(), Options{Registry: r.URL, App: "orders", FetchInterval: time.Hour, Rate: -1})
	t.Cleanup(g.Stop)
	return g
}

func ids(up []Instance) []string {
	out := make([]string, 0, len(up))
	for _, in := range up {
		out = append(out, in.ID)
	}
	return out
}

func TestGateway_keepsItsCopyWithoutADocument(t *testing.T) {
	r := newRegistry(t)
	r.full = document("UP_2_", wire("a", "UP", "ADDED"), wire("b", "UP", "ADDED"))
	g := idle(t, r)
	for _, code := range []int{http.StatusServiceUnavailable, http.StatusNotFound, http.StatusInternalServerError} {
		r.script(func() { r.code = code })
		g.Fetch(t.Context())
		if diff := cmp.Diff([]string{"a", "b"}, ids(g.Up())); diff != "" {
			t.Errorf("after %d it calls (-want +got):\n%s", code, diff)
		}
	}
	r.Close()
	g.Fetch(t.Context())
	if diff := cmp.Diff([]string{"a", "b"}, ids(g.Up())); diff != "" {
		t.Errorf("without a registry it calls (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Fetches{Full: 1, Kept: 4}, g.Fetches()); diff != "" {
		t.Errorf("fetches differ (-want +got):\n%s", diff)
	}
}

func TestGateway_fetchesEverythingWhenTheHashesDiffer(t *testing.T) {
	r := newRegistry(t)
	r.full = document("UP_1_", wire("a", "UP", "ADDED"))
	g := idle(t, r)
	r.script(func() {
		r.full = document("UP_3_", wire("a", "UP", "ADDED"), wire("b", "UP", "ADDED"), wire("c", "UP", "ADDED"))
		r.delta = document("UP_3_", wire("c", "UP", "ADDED"))
		r.asked = nil
	})
	g.Fetch(t.Context())
	if diff := cmp.Diff([]string{"/apps/delta", "/apps/"}, r.asked); diff != "" {
		t.Errorf("requests differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, ids(g.Up())); diff != "" {
		t.Errorf("it calls (-want +got):\n%s", diff)
	}
}

func TestGateway_remembersWhenItStoppedCallingAnInstance(t *testing.T) {
	r := newRegistry(t)
	r.full = document("UP_2_", wire("a", "UP", "ADDED"), wire("b", "UP", "ADDED"))
	g := idle(t, r)
	if at := g.DroppedAt("b"); !at.IsZero() {
		t.Errorf("dropped at %v while it is called", at)
	}
	r.script(func() { r.delta = document("OUT_OF_SERVICE_1_UP_1_", wire("b", "OUT_OF_SERVICE", "MODIFIED")) })
	g.Fetch(t.Context())
	if g.DroppedAt("b").IsZero() || !g.Knows("Orders", "b") {
		t.Errorf("dropped at %v, known %v; want a time, true", g.DroppedAt("b"), g.Knows("Orders", "b"))
	}
	r.script(func() { r.delta = document("UP_2_", wire("b", "UP", "MODIFIED")) })
	g.Fetch(t.Context())
	if at := g.DroppedAt("b"); !at.IsZero() {
		t.Errorf("dropped at %v after it came back", at)
	}
}

func TestGateway_countsWhatBecameOfItsCalls(t *testing.T) {
	tests := map[string]struct {
		target func(t *testing.T) string
		want   outcome
	}{
		"the application answers": {target: service("orders"), want: answered},
		"another one answers":     {target: service("payments"), want: wrong},
		"nobody is there":         {target: nobody, want: dead},
		"accepted, then silence":  {target: hangUp, want: broken},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := idle(t, newRegistry(t))
			address := netip.MustParseAddrPort(tc.target(t))
			if got := g.call(t.Context(), Instance{Address: address}); got != tc.want {
				t.Errorf("outcome = %d, want %d", got, tc.want)
			}
		})
	}
}

func TestGateway_spreadsItsCalls(t *testing.T) {
	r := newRegistry(t)
	a, b := wire("a", "UP", "ADDED"), wire("b", "UP", "ADDED")
	called := map[*wireInstance]chan struct{}{&a: make(chan struct{}, 1000), &b: make(chan struct{}, 1000)}
	for w, calls := range called {
		s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls <- struct{}{} }))
		t.Cleanup(s.Close)
		address := netip.MustParseAddrPort(s.Listener.Addr().String())
		w.IP, w.Port.Number = address.Addr().String(), address.Port()
	}
	r.full = document("UP_2_", a, b)
	g := Start(t.Context(), Options{Registry: r.URL, App: "ORDERS", FetchInterval: time.Hour, Rate: 500})
	defer g.Stop()
	for range 3 {
		for _, calls := range called {
			<-calls
		}
	}
}

func service(app string) func(t *testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"App":%q}`, app)
		}))
		t.Cleanup(s.Close)
		return s.Listener.Addr().String()
	}
}

func nobody(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	return l.Addr().String()
}

func hangUp(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	return l.Addr().String()
}
