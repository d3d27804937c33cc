package conformance

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Exchange is one request and its answer, as they went over the wire.
type Exchange struct {
	Start  time.Time // when the request had been read
	Method string
	URI    string
	Header http.Header
	Body   []byte

	Status     int       // 0 while there is no answer
	AnswerSize int       // as sent, so compressed if it was
	Answered   time.Time // when the answer had been read
}

// tap stands between one lane and the registry. It passes bytes on as they come,
// so that neither side can tell, and reads a copy.
type tap struct {
	listener net.Listener
	upstream string
	wg       sync.WaitGroup
	stop     context.CancelFunc

	mu        sync.Mutex
	exchanges []*Exchange
	broken    error // the first request or answer that could not be read
}

func newTap(ctx context.Context, address, upstream string) (*tap, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("opening a tap: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	t := &tap{listener: listener, upstream: upstream, stop: cancel}
	t.wg.Go(func() { t.accept(ctx) })
	return t, nil
}

func (t *tap) close() {
	t.stop()
	_ = t.listener.Close() // nothing was written to it
	t.wg.Wait()
}

func (t *tap) accept(ctx context.Context) {
	for {
		conn, err := t.listener.Accept()
		if err != nil {
			return
		}
		t.wg.Go(func() { t.serve(ctx, conn) })
	}
}

// serve passes one connection on until either side ends it. While the registry is
// down the client's connection is closed at once.
func (t *tap) serve(ctx context.Context, client net.Conn) {
	defer client.Close()
	server, err := new(net.Dialer).DialContext(ctx, "tcp", t.upstream)
	if err != nil {
		return
	}
	defer server.Close()
	undo := context.AfterFunc(ctx, func() { client.Close(); server.Close() })
	defer undo()

	requests, requestsIn := io.Pipe()
	answers, answersIn := io.Pipe()
	asked := make(chan *Exchange, 64)
	var wg sync.WaitGroup
	wg.Go(func() { t.readRequests(requests, asked) })
	wg.Go(func() { t.readAnswers(answers, asked) })
	wg.Go(func() { pass(server, client, requestsIn) })
	wg.Go(func() { pass(client, server, answersIn) })
	wg.Wait()
}

// pass copies until the end and passes the end on.
func pass(to, from net.Conn, copied *io.PipeWriter) {
	_, err := io.Copy(to, io.TeeReader(from, copied))
	copied.CloseWithError(errors.Join(err, io.EOF))
	if tcp, ok := to.(*net.TCPConn); ok && err == nil {
		_ = tcp.CloseWrite() // fails when the connection has ended already
		return
	}
	to.Close()
}

func (t *tap) readRequests(from *io.PipeReader, asked chan<- *Exchange) {
	defer close(asked)
	defer func() { _, _ = io.Copy(io.Discard, from) }() // the copy must not hold up the original
	reader := bufio.NewReader(from)
	for {
		req, err := http.ReadRequest(reader)
		if err != nil {
			t.failed("a request", err)
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.failed("the body of a request", err)
			return
		}
		header := req.Header
		header.Set("Host", req.Host)
		if len(req.TransferEncoding) > 0 {
			header["Transfer-Encoding"] = req.TransferEncoding
		}
		exchange := &Exchange{Start: time.Now(), Method: req.Method, URI: req.RequestURI, Header: header, Body: body}
		t.mu.Lock()
		t.exchanges = append(t.exchanges, exchange)
		t.mu.Unlock()
		asked <- exchange
	}
}

func (t *tap) readAnswers(from *io.PipeReader, asked <-chan *Exchange) {
	defer func() {
		for range asked { // drained, so that the reader of requests goes on
		}
	}()
	defer func() { _, _ = io.Copy(io.Discard, from) }()
	reader := bufio.NewReader(from)
	for exchange := range asked {
		res, err := http.ReadResponse(reader, &http.Request{Method: exchange.Method})
		if err != nil {
			t.failed("an answer", err)
			return
		}
		size, err := io.Copy(io.Discard, res.Body)
		res.Body.Close()
		if err != nil {
			t.failed("the body of an answer", err)
			return
		}
		t.mu.Lock()
		exchange.Status, exchange.AnswerSize, exchange.Answered = res.StatusCode, int(size), time.Now()
		t.mu.Unlock()
	}
}

// failed keeps the first thing that was no HTTP. Connections that end are no news:
// servers get killed here.
func (t *tap) failed(what string, err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || isNetError(err) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken == nil {
		t.broken = fmt.Errorf("reading %s: %w", what, err)
	}
}

func isNetError(err error) bool {
	var net net.Error
	return errors.As(err, &net)
}

// since returns the exchanges from a mark on, which len of an earlier result gives.
func (t *tap) since(mark int) []Exchange {
	t.mu.Lock()
	defer t.mu.Unlock()
	later := t.exchanges[min(mark, len(t.exchanges)):]
	all := make([]Exchange, 0, len(later))
	for _, exchange := range later {
		all = append(all, *exchange)
	}
	return all
}

func (t *tap) mark() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.exchanges)
}

// The kinds of requests that lanes make.
const (
	kindRegister  = "register"
	kindHeartbeat = "heartbeat"
	kindCancel    = "cancel"
	kindFull      = "full fetch"
	kindDelta     = "delta fetch"
	kindApp       = "application"
	kindOne       = "instance"
	kindVIP       = "vip"
	kindOverride  = "override"
	kindClear     = "clear override"
	kindMetadata  = "metadata"
	kindOther     = "other"
)

// Kind says what a request is for.
func (e *Exchange) Kind() string {
	path, _, _ := strings.Cut(e.URI, "?")
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	i := slices.IndexFunc(parts, func(s string) bool { return slices.Contains([]string{"apps", "instances", "vips", "svips"}, s) })
	switch {
	case i < 0:
		return kindOther
	case parts[i] == "instances":
		return kindOne
	case parts[i] != "apps":
		return kindVIP
	case e.Method == http.MethodGet:
		return readKind(parts[i+1:])
	case e.Method == http.MethodPost:
		return kindRegister
	}
	return writeKind(e.Method, parts[len(parts)-1])
}

// writeKind tells requests about one instance apart by what their path ends in.
func writeKind(method, last string) string {
	switch {
	case method == http.MethodPut && last == "status":
		return kindOverride
	case method == http.MethodPut && last == "metadata":
		return kindMetadata
	case method == http.MethodPut:
		return kindHeartbeat
	case method == http.MethodDelete && last == "status":
		return kindClear
	case method == http.MethodDelete:
		return kindCancel
	}
	return kindOther
}

func readKind(rest []string) string {
	switch {
	case len(rest) == 0:
		return kindFull
	case len(rest) == 1 && rest[0] == "delta":
		return kindDelta
	case len(rest) == 1:
		return kindApp
	}
	return kindOne
}
