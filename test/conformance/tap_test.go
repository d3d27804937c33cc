package conformance

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExchange_kindFollowsMethodAndPath(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]string{
		"POST /eureka/apps/A":                              kindRegister,
		"PUT /eureka/apps/A/h:a:1?status=UP":               kindHeartbeat,
		"PUT /eureka/v2%20/apps/A/h%3Aa":                   kindHeartbeat,
		"DELETE /apps/A/h":                                 kindCancel,
		"PUT /eureka/apps/A/h/status?value=OUT_OF_SERVICE": kindOverride,
		"DELETE /eureka/apps/A/h/status":                   kindClear,
		"PUT /eureka/apps/A/h/metadata?k=v":                kindMetadata,
		"GET /eureka/apps/":                                kindFull,
		"GET //eureka//apps?regions=":                      kindFull,
		"GET /eureka/apps/delta":                           kindDelta,
		"GET /eureka/apps/A":                               kindApp,
		"GET /eureka/apps/A/h":                             kindOne,
		"GET /eureka/instances/h":                          kindOne,
		"GET /eureka/svips/v":                              kindVIP,
		"GET /":                                            kindOther,
		"PATCH /eureka/apps/A/h":                           kindOther,
	} {
		method, uri, _ := strings.Cut(request, " ")
		if got := (&Exchange{Method: method, URI: uri}).Kind(); got != want {
			t.Errorf("%s is %q, want %q", request, got, want)
		}
	}
}

func TestTap_passesOnAndReadsACopy(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		_, _ = io.WriteString(w, "answer") // the client would notice
	}))
	t.Cleanup(server.Close)
	tap := newTestTap(t, server.Listener.Addr().String())

	client := &http.Client{Transport: &http.Transport{}}
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodGet} {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+tap.listener.Addr().String()+"/eureka/apps/A", strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(res.Body); err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	}
	client.CloseIdleConnections()
	tap.close() // waits until all has been read
	type seen struct {
		Method, Body string
		Status, Size int
	}
	exchanges := tap.since(0)
	got := make([]seen, 0, len(exchanges))
	for _, e := range exchanges {
		got = append(got, seen{e.Method, string(e.Body), e.Status, e.AnswerSize})
	}
	want := []seen{{"POST", "body", 204, 0}, {"GET", "body", 200, 6}, {"GET", "body", 200, 6}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("exchanges differ (-want +got):\n%s", diff)
	}
	if tap.broken != nil {
		t.Error(tap.broken)
	}
}

func TestTap_closesTheConnectionWhileTheRegistryIsDown(t *testing.T) {
	t.Parallel()
	var nobody ports
	address, err := nobody.free()
	if err != nil {
		t.Fatal(err)
	}
	tap := newTestTap(t, address)
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", tap.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if n, err := io.Copy(io.Discard, conn); n != 0 || err != nil {
		t.Errorf("read %d bytes, %v", n, err)
	}
}

func TestTap_reportsWhatIsNoHTTP(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		if conn, err := listener.Accept(); err == nil {
			_, _ = io.Copy(conn, conn) // ends with the test
			conn.Close()
		}
	}()
	tap := newTestTap(t, listener.Addr().String())
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", tap.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "this is no request\n\n"); err != nil {
		t.Fatal(err)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		if err := tcp.CloseWrite(); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := io.ReadAll(conn); string(got) != "this is no request\n\n" || err != nil {
		t.Errorf("the echo was %q, %v", got, err)
	}
	conn.Close()
	tap.close()
	if tap.broken == nil {
		t.Error("the tap has nothing to say")
	}
}

func newTestTap(t *testing.T, upstream string) *tap {
	t.Helper()
	var some ports
	address, err := some.free()
	if err != nil {
		t.Fatal(err)
	}
	tap, err := newTap(context.WithoutCancel(t.Context()), address, upstream)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tap.close)
	return tap
}

func TestTap_keepsTheFirstThingThatWasNoHTTP(t *testing.T) {
	t.Parallel()
	tap := &tap{}
	tap.failed("a request", io.ErrUnexpectedEOF) // servers get killed here
	if tap.broken != nil {
		t.Errorf("the end of a connection is kept: %v", tap.broken)
	}
	tap.failed("a request", http.ErrNotSupported)
	first := tap.broken
	tap.failed("an answer", http.ErrBodyNotAllowed)
	if first == nil || tap.broken != first { //nolint:errorlint // the same value is meant
		t.Errorf("kept %v, want %v", tap.broken, first)
	}
}
