package server

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func httpServer(t *testing.T, handler http.Handler, limits Limits) *http.Server {
	t.Helper()
	srv, err := NewHTTPServer(handler, limits, nil)
	if err != nil {
		t.Fatal(err)
	}
	return srv
}

// serve runs the handler behind a real server and returns its address.
func serve(t *testing.T, r *rig, limits Limits) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := httpServer(t, r.handler, limits)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// dial connects and sends the text, and takes no more than a few KiB before it reads.
func dial(t *testing.T, addr, text string) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // the server may have closed it
	if tcp, ok := conn.(*net.TCPConn); ok {
		if err := tcp.SetReadBuffer(4 << 10); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn
}

// beat sends a heartbeat of demo-1 by a connection of its own.
func beat(t *testing.T, addr string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://"+addr+"/eureka/apps/DEMO/demo-1", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("a heartbeat = %s, %v", resp.Status, err)
	}
}

const slowConnections = 2000

func TestR81_slowSendersAreCutOffAndHoldNobodyUp(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("DEMO", "demo-1", "UP", 1)
	addr := serve(t, r, Limits{ReadTimeout: 4 * time.Second, MaxRegistrations: 100})
	slow := make([]net.Conn, 0, slowConnections)
	for i := range cap(slow) {
		slow = append(slow, dial(t, addr, []string{
			"", "P", "PUT /eureka/apps/DEMO/demo-1 HTTP/1.1\r\nHost: a\r\n",
			"POST /eureka/apps/DEMO HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n{",
			"PUT /eureka/apps/DEMO/demo-1 HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n{",
		}[i%5]))
	}
	ended := make(chan error, len(slow))
	for _, conn := range slow {
		go func() { ended <- untilClosed(conn) }()
	}
	for range 50 {
		beat(t, addr)
		for _, conn := range slow {
			_, _ = io.WriteString(conn, "x") // which is no progress
		}
	}
	for range slow {
		if err := <-ended; err != nil {
			t.Errorf("a slow sender was not cut off: %v", err)
		}
	}
}

// untilClosed reads until the server has closed the connection.
func untilClosed(conn net.Conn) error {
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, conn)
	if errors.Is(err, syscall.ECONNRESET) {
		return nil
	}
	return err
}

func TestR81_slowReadersAreCutOffAndHoldNoWriterUp(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill(5000, 50)
	reading, cut := make(chan struct{}, 200), make(chan struct{}, 200)
	handler := r.handler
	r.handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		reading <- struct{}{}
		handler.ServeHTTP(w, req)
		cut <- struct{}{}
	})
	addr := serve(t, r, Limits{WriteTimeout: 4 * time.Second})
	r.handler = handler
	for range cap(reading) {
		dial(t, addr, "GET /eureka/apps HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\n\r\n") // and reads nothing
		<-reading
	}
	for i := range 200 {
		id := "demo-" + strconv.Itoa(i)
		r.register("DEMO", id, "UP", 1)
		if !strings.Contains(string(r.getJSON("/eureka/apps/DEMO/"+id)), id) {
			t.Fatalf("%s is not listed", id)
		}
	}
	for range cap(reading) {
		<-cut
	}
}

// Connections that nobody uses any more, thousands of them, keep nobody out.
func TestConnections_thoseThatWaitMakeRoom(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("DEMO", "demo-1", "UP", 1)
	addr := serve(t, r, Limits{MaxConnections: 200})
	for i := range slowConnections {
		dial(t, addr, "")
		if i%100 == 0 {
			beat(t, addr)
		}
	}
	beat(t, addr)
}

func TestConnections_whoHasWaitedLongestForARequestGoesFirst(t *testing.T) {
	t.Parallel()
	c := newConnections(3)
	conns := map[string]net.Conn{}
	closed := func() string {
		var names []string
		for name, conn := range conns {
			if errors.Is(conn.SetDeadline(time.Time{}), io.ErrClosedPipe) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return strings.Join(names, " ")
	}
	for _, step := range []struct {
		conn  string
		state http.ConnState
		want  string // closed by now
	}{
		{"a", http.StateNew, ""},
		{"b", http.StateNew, ""},
		{"a", http.StateActive, ""},
		{"a", http.StateIdle, ""}, // waits for a shorter time than b now
		{"c", http.StateNew, ""},
		{"c", http.StateActive, ""},
		{"d", http.StateNew, "b"},
		{"b", http.StateActive, "b"}, // its request came too late
		{"b", http.StateClosed, "b"},
		{"d", http.StateActive, "b"},
		{"a", http.StateActive, "b"},
		{"e", http.StateNew, "b e"}, // all others are being answered
		{"c", http.StateClosed, "b e"},
		{"f", http.StateNew, "b e"},
	} {
		if conns[step.conn] == nil {
			conns[step.conn], _ = net.Pipe()
		}
		c.follow(conns[step.conn], step.state)
		if got := closed(); got != step.want {
			t.Fatalf("after %s is %s, closed are %q, want %q", step.conn, step.state, got, step.want)
		}
	}
	if got := c.count(); got != 3 {
		t.Errorf("%d connections are open, want 3", got)
	}
}

// written counts what is written to a connection.
type written struct {
	net.Conn

	times atomic.Int32
}

func (w *written) Write(p []byte) (int, error) {
	w.times.Add(1)
	return w.Conn.Write(p)
}

// The goodbye of an encrypted connection can take seconds where the other side does not
// read, and nobody is accepted meanwhile.
func TestConnections_whoHasToGoIsToldNothing(t *testing.T) {
	t.Parallel()
	certified := httptest.NewTLSServer(http.NotFoundHandler())
	defer certified.Close()
	near, far := net.Pipe()
	counted := &written{Conn: near}
	encrypted := tls.Server(counted, &tls.Config{MinVersion: tls.VersionTLS12, Certificates: certified.TLS.Certificates})
	shaken := make(chan error, 1)
	go func() {
		client := tls.Client(far, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // it looks at nothing
		err := client.HandshakeContext(t.Context())
		if err == nil {
			_, err = client.Read(make([]byte, 1))
		}
		shaken <- err
	}()
	if err := encrypted.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := counted.times.Load()
	c := newConnections(1)
	c.follow(encrypted, http.StateNew)
	other, _ := net.Pipe()
	c.follow(other, http.StateNew)
	if err := <-shaken; !errors.Is(err, io.EOF) {
		t.Errorf("the client is told %v", err)
	}
	if after := counted.times.Load(); after != before {
		t.Errorf("%d writes to a connection that had to go", after-before)
	}
}
