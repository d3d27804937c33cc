package gateway

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// fetchTimeout bounds one fetch, as the stock read timeout does.
const fetchTimeout = 8 * time.Second

// Options describe a gateway.
type Options struct {
	// Registry is the base URL, for example http://10.99.0.1:8761/eureka.
	Registry string
	// App is the application it calls.
	App string
	// Source is the address it connects from; the zero value leaves the choice to
	// the system.
	Source netip.Addr
	// FetchInterval passes between two fetches, 5 s unless set.
	FetchInterval time.Duration
	// Rate is the number of calls per second, 50 unless set; negative means none.
	Rate int
	// Observe, if set, is called after every fetch that changed which instances of
	// App are called, and must not block.
	Observe func(at time.Time, up []Instance)
}

// Gateway keeps a copy of the registry and spreads calls over the UP instances of
// one application. Its methods may be called from several goroutines.
type Gateway struct {
	options  Options
	registry *http.Client
	services *http.Client
	cancel   context.CancelFunc
	running  sync.WaitGroup
	calls    calls

	mu      sync.Mutex
	cache   cache
	full    bool // the next fetch has to be a full one
	up      []Instance
	dropped map[string]time.Time // when an id of App stopped being called
	fetches Fetches
}

// Fetches counts the attempts to read the registry.
type Fetches struct {
	Full, Delta int
	// Mismatches are deltas after which the hashes differed.
	Mismatches int
	// Kept are attempts without a document, after which the copy was kept.
	Kept int
}

// Start runs a gateway until Stop or until ctx ends. The first fetch is over when
// it returns, whatever came of it.
func Start(ctx context.Context, options Options) *Gateway {
	if options.FetchInterval == 0 {
		options.FetchInterval = 5 * time.Second
	}
	if options.Rate == 0 {
		options.Rate = 50
	}
	options.App = strings.ToUpper(options.App)
	services := newTransport(options.Source, connectTimeout)
	services.DisableKeepAlives = true // every call shows who has the address now
	ctx, cancel := context.WithCancel(ctx)
	g := &Gateway{
		options:  options,
		registry: &http.Client{Transport: newTransport(options.Source, fetchTimeout), Timeout: fetchTimeout},
		services: &http.Client{Transport: services, Timeout: callTimeout},
		cancel:   cancel,
		calls:    newCalls(),
		cache:    cache{},
		full:     true,
		dropped:  map[string]time.Time{},
	}
	g.Fetch(ctx)
	g.running.Go(func() { g.follow(ctx) })
	if options.Rate > 0 {
		g.running.Go(func() { g.drive(ctx) })
	}
	return g
}

// Stop ends all traffic and returns when no call is under way.
func (g *Gateway) Stop() {
	g.cancel()
	g.running.Wait()
	g.registry.CloseIdleConnections()
}

// Up returns the instances that are called, by id.
func (g *Gateway) Up() []Instance {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.up
}

// Knows reports whether the copy holds an instance, in whatever status.
func (g *Gateway) Knows(app, id string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, known := g.cache[key{strings.ToUpper(app), id}]
	return known
}

// DroppedAt returns when an instance stopped being called, the zero time if it is
// called or never was.
func (g *Gateway) DroppedAt(id string) time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dropped[id]
}

// Fetches returns the counts so far.
func (g *Gateway) Fetches() Fetches {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.fetches
}

func (g *Gateway) follow(ctx context.Context) {
	ticker := time.NewTicker(g.options.FetchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			g.Fetch(ctx)
		}
	}
}

// Fetch reads the registry now: a delta, or everything when there is no copy yet
// or it has come to differ. Without a document the copy stays as it is.
func (g *Gateway) Fetch(ctx context.Context) {
	g.mu.Lock()
	full := g.full
	g.mu.Unlock()
	agrees, err := g.fetch(ctx, full)
	if err == nil && !agrees {
		_, err = g.fetch(ctx, true)
	}
	_ = err // counted; the copy is kept
}

// fetch reads one document and takes it over.
func (g *Gateway) fetch(ctx context.Context, full bool) (agrees bool, err error) {
	path := "/apps/delta"
	if full {
		path = "/apps/"
	}
	var document struct {
		Applications applications `json:"applications"`
	}
	_, err = get(ctx, g.registry, g.options.Registry+path, &document)
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err != nil:
		g.fetches.Kept++
		return false, err
	case full:
		g.fetches.Full++
		g.full = false
		agrees, err = true, g.cache.replace(document.Applications)
	default:
		g.fetches.Delta++
		agrees, err = g.cache.apply(document.Applications)
	}
	if err != nil {
		g.full = true
		return false, fmt.Errorf("taking over %s: %w", path, err)
	}
	if !agrees {
		g.fetches.Mismatches++
		g.full = true
	}
	g.changed(time.Now())
	return agrees, nil
}

// changed notes which instances are called from now on; g.mu is held.
func (g *Gateway) changed(now time.Time) {
	up := g.cache.up(g.options.App)
	current := map[string]bool{}
	for _, in := range up {
		current[in.ID] = true
		delete(g.dropped, in.ID)
	}
	same := len(up) == len(g.up)
	for _, in := range g.up {
		if !current[in.ID] {
			same = false
			g.dropped[in.ID] = now
		}
	}
	g.up = up
	if !same && g.options.Observe != nil {
		g.options.Observe(now, up)
	}
}
