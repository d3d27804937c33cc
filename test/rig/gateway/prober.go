package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// ProberOptions describe a prober.
type ProberOptions struct {
	// Registry is the base URL, App the application it reads.
	Registry, App string
	// Source is the address it connects from; the zero value leaves the choice to
	// the system.
	Source netip.Addr
	// Interval passes between the starts of two requests, 5 ms unless set. The next
	// request starts when the last one is answered, at the earliest.
	Interval time.Duration
	// Check, if set, is called with every response, in order, and must not block.
	Check func(Response)
}

// Response is one answer of the registry.
type Response struct {
	// Start is just before the request, End just after the whole answer.
	Start, End time.Time
	// Code is 0 when there was no answer.
	Code int
	// Listed says that the registry told which instances the application has: a
	// document, or 404, which means none.
	Listed bool
	// Statuses are those of the instances, by id.
	Statuses map[string]string
}

// Up reports whether the response lists an instance as UP.
func (r Response) Up(id string) bool { return r.Statuses[id] == statusUp }

// UpCount is the number of instances listed as UP.
func (r Response) UpCount() int {
	n := 0
	for _, status := range r.Statuses {
		if status == statusUp {
			n++
		}
	}
	return n
}

// Lacks reports whether the response shows that the registry does not have an
// instance.
func (r Response) Lacks(id string) bool {
	_, listed := r.Statuses[id]
	return r.Listed && !listed
}

// Prober reads one application over and over. Its methods may be called from
// several goroutines.
type Prober struct {
	options ProberOptions
	client  *http.Client
	cancel  context.CancelFunc
	done    chan struct{}

	mu      sync.Mutex
	last    Response
	waiting map[*Expectation]struct{}
}

// StartProber runs a prober until Stop or until ctx ends.
func StartProber(ctx context.Context, options ProberOptions) *Prober {
	if options.Interval == 0 {
		options.Interval = 5 * time.Millisecond
	}
	options.App = strings.ToUpper(options.App)
	ctx, cancel := context.WithCancel(ctx)
	p := &Prober{
		options: options,
		client:  &http.Client{Transport: newTransport(options.Source, time.Second), Timeout: fetchTimeout},
		cancel:  cancel,
		done:    make(chan struct{}),
		waiting: map[*Expectation]struct{}{},
	}
	go p.run(ctx)
	return p
}

// Stop ends the prober; whoever still waits is told.
func (p *Prober) Stop() {
	p.cancel()
	<-p.done
	p.client.CloseIdleConnections()
}

// Last returns the last response that listed instances.
func (p *Prober) Last() Response {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

func (p *Prober) run(ctx context.Context) {
	defer close(p.done)
	ticker := time.NewTicker(p.options.Interval)
	defer ticker.Stop()
	for {
		response := p.ask(ctx)
		if ctx.Err() != nil {
			return
		}
		p.take(response)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (p *Prober) ask(ctx context.Context) Response {
	var document struct {
		Application application `json:"application"`
	}
	r := Response{Start: time.Now()}
	code, err := get(ctx, p.client, p.options.Registry+"/apps/"+p.options.App, &document)
	r.End = time.Now()
	r.Code = code
	r.Listed = err == nil || code == http.StatusNotFound
	if !r.Listed {
		return r
	}
	r.Statuses = make(map[string]string, len(document.Application.Instances))
	for _, w := range document.Application.Instances {
		r.Statuses[w.ID] = w.Status
	}
	return r
}

func (p *Prober) take(r Response) {
	if p.options.Check != nil {
		p.options.Check(r)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Listed {
		p.last = r
	}
	for e := range p.waiting {
		if e.matches(r) {
			e.found <- r
			delete(p.waiting, e)
		}
	}
}

// Expectation is a response that is waited for.
type Expectation struct {
	prober  *Prober
	matches func(Response) bool
	found   chan Response
}

// Expect begins to wait for the first response that matches, among those to come.
// It is called before whatever is to bring that response about.
func (p *Prober) Expect(matches func(Response) bool) *Expectation {
	e := &Expectation{prober: p, matches: matches, found: make(chan Response, 1)}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[e] = struct{}{}
	return e
}

// Wait returns the response once it has come.
func (e *Expectation) Wait(ctx context.Context) (Response, error) {
	select {
	case r := <-e.found:
		return r, nil
	case <-ctx.Done():
		e.drop()
		return Response{}, fmt.Errorf("waiting for the registry: %w", ctx.Err())
	case <-e.prober.done:
		return Response{}, errors.New("waiting for the registry: the prober was stopped")
	}
}

func (e *Expectation) drop() {
	e.prober.mu.Lock()
	defer e.prober.mu.Unlock()
	delete(e.prober.waiting, e)
}

// Await is Expect and Wait in one, for what needs no cause of the caller's.
func (p *Prober) Await(ctx context.Context, matches func(Response) bool) (Response, error) {
	return p.Expect(matches).Wait(ctx)
}
