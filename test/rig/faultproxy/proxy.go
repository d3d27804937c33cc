package faultproxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// Mode is how a proxy fails.
type Mode int

// The modes.
const (
	// Pass lets everything through.
	Pass Mode = iota
	// Refuse closes all connections and refuses new ones.
	Refuse
	// BlackHole keeps connections and takes new ones, and nothing goes through any
	// of them. What was sent meanwhile arrives with the end of this mode, as after a
	// partition of the network.
	BlackHole
	// TooMany answers every request with 429 and a Retry-After of a second.
	TooMany
	// Expired answers every watch that goes on from a resource version with 410.
	// Watches and lists that begin anew pass.
	Expired
	// Stale makes clients list again what Record was given, and answers with that:
	// watches that go on are answered 410 until the list was asked for, and streamed
	// lists with an error that makes clients fall back to plain ones. Everything else
	// passes.
	Stale
)

// Options say what a proxy stands before.
type Options struct {
	// Address is the IP address to listen on, 127.0.0.1 when empty.
	Address string
	// Upstream says where the server is and as whom it is asked.
	Upstream *rest.Config
	// Certificate is shown to clients; nil means plain HTTP.
	Certificate *tls.Certificate
}

// Proxy is a running proxy. Its methods may be called from several goroutines.
type Proxy struct {
	options Options
	address string // host and port, the same after every pause
	target  *url.URL
	forward *httputil.ReverseProxy
	gate    gate

	mu       sync.Mutex
	mode     Mode
	recorded map[string][]byte // lists by path
	replayed map[string]int    // how often each was the answer
	server   *http.Server      // nil while refusing
	served   chan struct{}
}

// Start returns a proxy that passes everything.
func Start(ctx context.Context, options Options) (*Proxy, error) {
	if options.Address == "" {
		options.Address = "127.0.0.1"
	}
	transport, err := rest.TransportFor(options.Upstream)
	if err != nil {
		return nil, fmt.Errorf("starting a proxy: %w", err)
	}
	target, err := url.Parse(options.Upstream.Host)
	if err != nil {
		return nil, fmt.Errorf("starting a proxy: %w", err)
	}
	p := &Proxy{options: options, address: net.JoinHostPort(options.Address, "0"), target: target, recorded: map[string][]byte{}, replayed: map[string]int{}}
	p.forward = &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1, // watches are streams
		ErrorLog:      log.New(io.Discard, "", 0),
		// A server that is away looks as if there were no proxy.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.open(ctx); err != nil {
		return nil, fmt.Errorf("starting a proxy: %w", err)
	}
	return p, nil
}

// Config returns a configuration for clients of the proxy. They need no
// credentials: the server sees the proxy's.
func (p *Proxy) Config() *rest.Config {
	if p.options.Certificate == nil {
		return &rest.Config{Host: "http://" + p.address, QPS: -1}
	}
	return &rest.Config{
		Host:            "https://" + p.address,
		TLSClientConfig: rest.TLSClientConfig{CAData: p.options.Upstream.CAData},
		QPS:             -1,
	}
}

// Set changes the mode. Modes that answer requests also cut what is streaming, so
// that clients have to ask again.
func (p *Proxy) Set(ctx context.Context, mode Mode) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = mode
	p.gate.set(mode == BlackHole)
	switch mode {
	case Refuse:
		p.shut()
	case TooMany, Expired, Stale:
		return p.reopen(ctx)
	case Pass, BlackHole:
		if p.server == nil {
			return p.reopen(ctx)
		}
	}
	return nil
}

// Cut closes all connections once. Where nothing goes through, neither does that.
func (p *Proxy) Cut(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server == nil || p.mode == BlackHole {
		return nil
	}
	return p.reopen(ctx)
}

// Stop ends the proxy and all connections.
func (p *Proxy) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gate.set(false)
	p.shut()
}

func (p *Proxy) reopen(ctx context.Context) error {
	p.shut()
	if err := p.open(ctx); err != nil {
		return fmt.Errorf("opening the proxy again: %w", err)
	}
	return nil
}

// open listens, on the address of before if there was one; p.mu is held.
func (p *Proxy) open(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", p.address)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	p.address = listener.Addr().String()
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	p.served = make(chan struct{})
	go func(server *http.Server, served chan struct{}) {
		defer close(served)
		gated := &listening{listener, &p.gate}
		if p.options.Certificate == nil {
			_ = server.Serve(gated) // ends with shut
			return
		}
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{*p.options.Certificate}, MinVersion: tls.VersionTLS12}
		_ = server.ServeTLS(gated, "", "")
	}(p.server, p.served)
	return nil
}

// shut closes all connections and stops listening; p.mu is held.
func (p *Proxy) shut() {
	if p.server == nil {
		return
	}
	_ = p.server.Close() // it has nothing to say about connections that are cut
	<-p.served
	p.server = nil
}

// Record keeps the current answer to a list, given by its path, for the mode Stale.
func (p *Proxy) Record(ctx context.Context, paths ...string) error {
	for _, path := range paths {
		body, err := p.get(ctx, path)
		if err != nil {
			return fmt.Errorf("recording %s: %w", path, err)
		}
		p.mu.Lock()
		p.recorded[path], p.replayed[path] = body, 0
		p.mu.Unlock()
	}
	return nil
}

// Replayed returns how often a recorded list was the answer since it was recorded.
func (p *Proxy) Replayed(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.replayed[path]
}

func (p *Proxy) get(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.target.JoinPath(path).String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	res, err := p.forward.Transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, errors.New(res.Status)
	}
	return io.ReadAll(res.Body)
}
