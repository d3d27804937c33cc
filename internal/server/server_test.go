package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/kureka/kureka/internal/registry"
)

func TestNew_demandsRegistryAndClock(t *testing.T) {
	t.Parallel()
	full := Options{Registry: engine{}, Clock: newClock().Now}
	for name, change := range map[string]func(*Options){
		"no registry": func(o *Options) { o.Registry = nil },
		"no clock":    func(o *Options) { o.Clock = nil },
		"metrics registered already": func(o *Options) {
			o.Registerer = prometheus.NewRegistry()
			if _, err := New(*o); err != nil {
				t.Errorf("the first handler: %v", err)
			}
		},
	} {
		opts := full
		change(&opts)
		if _, err := New(opts); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestLimits_haveDefaultsAndKeepWhatIsSet(t *testing.T) {
	t.Parallel()
	want := Limits{128 << 10, 8 << 20, 32 << 10, 64 << 10, 8192, 1024, 8, 7, 65536, 8 * time.Second, 60 * time.Second, 120 * time.Second}
	if diff := cmp.Diff(want, Limits{MaxOthers: 7}.withDefaults()); diff != "" {
		t.Errorf("limits differ (-want +got):\n%s", diff)
	}
	srv := httpServer(t, http.NotFoundHandler(), Limits{IdleTimeout: time.Hour})
	got := []any{srv.ReadHeaderTimeout, srv.ReadTimeout, srv.WriteTimeout, srv.IdleTimeout, srv.MaxHeaderBytes}
	if diff := cmp.Diff([]any{8 * time.Second, 8 * time.Second, 60 * time.Second, time.Hour, 64 << 10}, got); diff != "" {
		t.Errorf("server limits differ (-want +got):\n%s", diff)
	}
}

func TestURL_hasALimit(t *testing.T) {
	t.Parallel()
	newRig(t).want(http.StatusRequestURITooLong, http.MethodPut, "/eureka/apps/DEMO/"+strings.Repeat("a", 32<<10))
}

// blocking is a registry whose heartbeats and snapshots wait.
type blocking struct {
	Registry

	entered, release chan struct{}
}

func (b blocking) wait() {
	b.entered <- struct{}{}
	<-b.release
}

func (b blocking) Cancel(_ time.Time, _ netip.Addr, _ registry.Key) registry.Outcome {
	b.wait()
	return registry.Done
}

func (b blocking) Register(_ time.Time, _ netip.Addr, _ *registry.Record) registry.Outcome {
	b.wait()
	return registry.Done
}

func (b blocking) Snapshot() *registry.Snapshot {
	b.wait()
	return b.Registry.Snapshot()
}

func TestBusy_listsRegistrationsAndOthersHaveSlotsOfTheirOwn(t *testing.T) {
	t.Parallel()
	b := blocking{entered: make(chan struct{}), release: make(chan struct{})}
	r := newRig(t, func(o *Options) {
		b.Registry = o.Registry
		o.Registry, o.Limits = b, Limits{MaxLists: 1, MaxRegistrations: 1, MaxOthers: 1}
	})
	done := make(chan int)
	start := func(method, target string) {
		go func() {
			w := &discard{header: http.Header{}}
			req := get(t, target)
			if req.Method = method; method == http.MethodPost {
				req.Body = io.NopCloser(strings.NewReader(body("DEMO", "a", "UP", 1)))
			}
			r.handler.ServeHTTP(w, req)
			done <- w.code
		}()
		<-b.entered
	}
	start(http.MethodGet, "/eureka/apps")
	r.want(http.StatusServiceUnavailable, http.MethodGet, "/eureka/vips/demo")
	r.want(http.StatusNotFound, http.MethodPut, "/eureka/apps/DEMO/a") // a slow reader keeps no heartbeat out
	start(http.MethodPost, "/eureka/apps/DEMO")
	r.want(http.StatusServiceUnavailable, http.MethodPost, "/eureka/apps/DEMO")
	r.want(http.StatusNotFound, http.MethodPut, "/eureka/apps/DEMO/a") // nor does a slow sender
	start(http.MethodDelete, "/eureka/apps/DEMO/a")
	r.want(http.StatusServiceUnavailable, http.MethodPut, "/eureka/apps/DEMO/a")
	close(b.release)
	for range 3 {
		if code := <-done; code != http.StatusOK && code != http.StatusNoContent {
			t.Errorf("a request that had a slot = %d", code)
		}
	}
	r.want(http.StatusNotFound, http.MethodPut, "/eureka/apps/DEMO/a")
}

func TestBusy_oneAddressLeavesOthersRoomToRegister(t *testing.T) {
	t.Parallel()
	b := blocking{entered: make(chan struct{}), release: make(chan struct{})}
	r := newRig(t, func(o *Options) {
		b.Registry = o.Registry
		o.Registry, o.Limits = b, Limits{MaxRegistrations: 4}
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}
	})
	register := func(from string) int {
		w := &discard{header: http.Header{}}
		req := get(t, "/eureka/apps/DEMO")
		req.Method, req.RemoteAddr = http.MethodPost, from
		req.Body = io.NopCloser(strings.NewReader(body("DEMO", "a", "UP", 1)))
		r.handler.ServeHTTP(w, req)
		return w.code
	}
	done := make(chan int)
	start := func(from string) {
		go func() { done <- register(from) }()
		<-b.entered
	}
	start("192.0.2.1:1")
	start("192.0.2.1:2")
	if code := register("192.0.2.1:3"); code != http.StatusServiceUnavailable {
		t.Errorf("the third of one address = %d, want 503", code)
	}
	start("192.0.2.2:1")
	start("198.51.100.1:1") // a proxy, whose clients are not told apart
	if code := register("198.51.100.1:2"); code != http.StatusServiceUnavailable {
		t.Errorf("the fifth of all = %d, want 503", code)
	}
	close(b.release)
	for range 4 {
		if code := <-done; code != http.StatusNoContent {
			t.Errorf("one that had a slot = %d", code)
		}
	}
	go func() { done <- register("192.0.2.1:4") }()
	<-b.entered
	if code := <-done; code != http.StatusNoContent {
		t.Errorf("after the others = %d", code)
	}
	if n := len(r.server.registering.used); n != 0 {
		t.Errorf("%d addresses are still counted", n)
	}
}

// touched is a registry that counts touches and panics on cancels.
type touched struct {
	Registry

	touches *int
}

func (p touched) Touch(time.Time) { *p.touches++ }

func (p touched) Cancel(time.Time, netip.Addr, registry.Key) registry.Outcome { panic("out of luck") }

func TestPanic_becomesAnEmpty500(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	r := newRig(t, func(o *Options) {
		o.Registry = touched{Registry: o.Registry}
		o.Logger = funcr.New(func(_, args string) { log.WriteString(args) }, funcr.Options{})
	})
	r.want(http.StatusInternalServerError, http.MethodDelete, "/eureka/apps/DEMO/secret-id")
	if !strings.Contains(log.String(), "answering DELETE instance: out of luck") || strings.Contains(log.String(), "secret-id") {
		t.Errorf("log = %s", log.String())
	}
	r.want(http.StatusNotFound, http.MethodPut, "/eureka/apps/DEMO/a") // the slot is free again
}

// broken is a ResponseWriter that panics in the middle of an answer.
type broken struct{ discard }

func (broken) Write([]byte) (int, error) { panic("lost") }

func TestPanic_inAnAnswerBreaksTheConnection(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, http.ErrAbortHandler) {
			t.Errorf("recovered %v, want http.ErrAbortHandler", err)
		}
	}()
	r.handler.ServeHTTP(&broken{discard{header: http.Header{}}}, get(t, "/eureka/apps"))
}

func TestTouch_followsEveryRead(t *testing.T) {
	t.Parallel()
	touches := 0
	r := newRig(t, func(o *Options) {
		o.Registry = touched{Registry: o.Registry, touches: &touches}
		o.Gate = func(time.Time) bool { return false }
	})
	for _, target := range []string{"/eureka/apps", "/eureka/apps/delta", "/eureka/apps/A", "/eureka/apps/A/a", "/eureka/vips/v"} {
		r.do(http.MethodGet, target, "")
	}
	r.do(http.MethodGet, "/favicon.ico", "") // no client
	if touches != 5 {
		t.Errorf("%d touches, want 5", touches)
	}
}

func TestLog_namesTheReasonOfARefusalButNotTheBody(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	r := newRig(t, func(o *Options) {
		o.Logger = funcr.New(func(_, args string) { log.WriteString(args) }, funcr.Options{Verbosity: 1})
	})
	r.do(http.MethodPost, "/eureka/apps/DEMO", `{"instance":{"app":"DEMO","port":{"$":"s3cret"}}}`)
	if !strings.Contains(log.String(), "port: not a number") || strings.Contains(log.String(), "s3cret") {
		t.Errorf("log = %s", log.String())
	}
}

func TestMetrics_areThereFromTheStartAndBounded(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	r := newRig(t, func(o *Options) { o.Registerer = reg })
	series := func() (n int) {
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			n += len(family.GetMetric())
		}
		return n
	}
	before := series()
	r.register("DEMO", "demo-1", "UP", 1)
	for _, target := range []string{"/eureka/apps", "/eureka/apps/delta", "/eureka/apps/DEMO", "/eureka/apps/DEMO/demo-1", "/eureka/vips/demo"} {
		r.getJSON(target)
	}
	r.want(200, http.MethodPut, "/eureka/apps/DEMO/demo-1")
	r.want(404, http.MethodPut, "/eureka/apps/DEMO/demo-2")
	if got := series() - before; got != 0 {
		t.Errorf("ordinary requests added %d series, want 0", got)
	}
	for i := range 50 {
		r.do(fmt.Sprintf("METHOD%d", i), fmt.Sprintf("/path-%d", i), "")
		r.do(fmt.Sprintf("METHOD%d", i), fmt.Sprintf("/eureka/apps/APP-%d", i), "")
	}
	if got := series() - before; got != 2 {
		t.Errorf("odd requests brought %d series, want 2", got)
	}
}

// What goes over the wire: net/http must add nothing to an empty answer.
func TestWire_emptyAnswersAreEmpty(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	srv := &httptest.Server{Config: httpServer(t, r.handler, Limits{})}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv.Listener = l
	srv.Start()
	defer srv.Close()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	date := regexp.MustCompile(`Date: [^\r]*\r\n`)
	exchange := func(request string) string {
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		text := ""
		for !strings.HasSuffix(text, "\r\n\r\n") {
			line, err := answers.ReadString('\n')
			if err != nil {
				t.Fatalf("reading after %q: %v", text, err)
			}
			text += line
		}
		return date.ReplaceAllString(text, "")
	}
	post := body("DEMO", "a", "UP", 1)
	for _, tc := range []struct{ request, want string }{
		{"PUT //apps/DEMO/a?status=UP HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"},
		{
			fmt.Sprintf("POST /eureka/apps/DEMO HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n%s", len(post), post),
			"HTTP/1.1 100 Continue\r\n\r\n",
		},
		{"", "HTTP/1.1 204 No Content\r\n\r\n"},
		{
			"PUT /eureka/apps/DEMO/a HTTP/1.1\r\nHost: h\r\nAccept: application/json\r\nConnection: Upgrade\r\nUpgrade: TLS/1.2\r\nContent-Length: 2\r\n\r\n{}",
			"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n",
		},
		{"PUT /eureka/apps/DEMO/b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"},
		{"DELETE /eureka/apps/DEMO/a HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
		{"PATCH /eureka/apps HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, HEAD\r\nContent-Length: 0\r\n\r\n"},
	} {
		if diff := cmp.Diff(tc.want, exchange(tc.request)); diff != "" {
			t.Errorf("%q is answered otherwise (-want +got):\n%s", tc.request, diff)
		}
	}
}
