package server

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/kureka/kureka/internal/registry"
)

// Registry is what the server needs of the registry. All methods may be called
// concurrently. The source is the address a request came from, invalid when it
// is unknown.
type Registry interface {
	Register(now time.Time, src netip.Addr, rec *registry.Record) registry.Outcome
	Renew(now time.Time, src netip.Addr, key registry.Key, beat registry.Beat) registry.Outcome
	Cancel(now time.Time, src netip.Addr, key registry.Key) registry.Outcome
	SetOverride(now time.Time, src netip.Addr, key registry.Key, status registry.Status) registry.Outcome
	ClearOverride(now time.Time, src netip.Addr, key registry.Key) registry.Outcome
	PutMetadata(now time.Time, src netip.Addr, key registry.Key, pairs []registry.Pair) registry.Outcome
	// Snapshot returns the registry as it is now. A call that starts after a write
	// has returned includes that write.
	Snapshot() *registry.Snapshot
	// Touch notes that a client asked for something.
	Touch(now time.Time)
}

// Options configure the API.
type Options struct {
	// Registry answers; required.
	Registry Registry
	// Clock tells the time; required.
	Clock func() time.Time
	// Gate says whether list reads are answered yet. Until then they get an empty
	// 503, so that clients keep what they have instead of dropping what has not
	// come back yet. Nil means always.
	Gate func(now time.Time) bool
	// Fetched is told of every list that was sent whole, with the registry's version.
	// It must not block; nil tells nobody.
	Fetched func(now time.Time, src netip.Addr, agent string, version int64)
	// Logger gets panics, and refused registrations at V(1). Bodies are not logged.
	Logger logr.Logger
	// Registerer takes the metrics; nil keeps them to the server.
	Registerer prometheus.Registerer
	Limits     Limits
	// TrustedProxies are the addresses of reverse proxies. A request from one of
	// them has an unknown source.
	TrustedProxies []netip.Prefix
	// Peers are the addresses of Eureka servers that may tell what their clients did.
	// Empty means that there is no such endpoint.
	Peers []netip.Prefix
	// Prefixes are the base paths, DefaultPrefixes if empty.
	Prefixes []string
}

// New returns the handler of the Eureka API. It answers every path, so that an
// unknown one gets an empty 404 and not a page.
func New(opts Options) (http.Handler, error) {
	if opts.Registry == nil || opts.Clock == nil {
		return nil, errors.New("building the Eureka API: registry and clock are required")
	}
	limits := opts.Limits.withDefaults()
	s := &server{
		opts:      opts,
		started:   opts.Clock(),
		limits:    limits,
		router:    newRouter(opts.Prefixes),
		endpoints: endpoints(),
	}
	s.lists.max = int64(limits.MaxLists)
	s.registrations.max = int64(limits.MaxRegistrations)
	s.registering = shares{max: max(1, limits.MaxRegistrations/2), used: map[netip.Addr]int{}}
	s.batches.max = int64(limits.MaxBatches)
	s.others.max = int64(limits.MaxOthers)
	s.metrics = newMetrics(&s.endpoints)
	s.bodies.segments = s.metrics.segments
	if opts.Registerer == nil {
		return s, nil
	}
	if err := s.metrics.register(opts.Registerer, map[string]*slots{
		"list": &s.lists, "registration": &s.registrations, "batch": &s.batches, "other": &s.others,
	}); err != nil {
		return nil, fmt.Errorf("building the Eureka API: %w", err)
	}
	return s, nil
}

type server struct {
	opts          Options
	started       time.Time
	limits        Limits
	router        router
	endpoints     [resourceCount]endpoint
	metrics       *metrics
	bodies        bodies
	lists         slots
	registrations slots
	registering   shares // of the registrations
	batches       slots
	others        slots
}

// ServeHTTP answers one request.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{w: w, r: r, now: s.opts.Clock(), route: s.router.match(r.URL.EscapedPath())}
	defer s.finish(c)
	s.serve(c)
}

func (s *server) serve(c *call) {
	ep := &s.endpoints[c.to]
	op, ok := ep.operations[c.method()]
	switch {
	case len(c.r.RequestURI) > s.limits.MaxURLBytes:
		s.turnAway(c, http.StatusRequestURITooLong, refusedURL)
	case c.to == toNothing:
		c.empty(http.StatusNotFound)
	case !ok:
		c.w.Header().Set("Allow", ep.allow)
		c.empty(http.StatusMethodNotAllowed)
	case !c.isRead() && fromBrowser(c.r.Header):
		s.turnAway(c, http.StatusForbidden, refusedBrowser)
	default:
		s.operate(c, op, ep.list && c.isRead())
	}
}

// operate runs the operation if there is a slot for it and, for a list, the
// start gate is open.
func (s *server) operate(c *call, op operation, isList bool) {
	if c.isRead() {
		s.opts.Registry.Touch(c.now)
	}
	class := &s.others
	switch {
	case isList:
		class = &s.lists
	case c.to == toBatch:
		class = &s.batches
	case c.method() == http.MethodPost:
		class = &s.registrations
	}
	if !class.take() {
		s.turnAway(c, http.StatusServiceUnavailable, refusedBusy)
		return
	}
	defer class.release()
	if isList && s.opts.Gate != nil && !s.opts.Gate(c.now) {
		s.turnAway(c, http.StatusServiceUnavailable, refusedClosed)
		return
	}
	op.handle(s, c)
	if isList {
		s.fetched(c)
	}
}

// fetched tells of a list that was sent whole. A HEAD is none.
func (s *server) fetched(c *call) {
	if c.sent && c.r.Method == http.MethodGet && s.opts.Fetched != nil {
		s.opts.Fetched(c.now, s.source(c), c.r.UserAgent(), c.version)
	}
}

func (s *server) turnAway(c *call, code int, reason string) {
	s.metrics.refused.WithLabelValues(reason).Inc()
	c.empty(code)
}

// finish ends every call, also one that panicked: the client gets an empty 500,
// or a broken connection if its answer had begun, because a document that ends
// early must not look whole.
func (s *server) finish(c *call) {
	p := recover()
	begun := c.code != 0
	if p != nil {
		s.opts.Logger.Error(fmt.Errorf("answering %s %s: %v", c.r.Method, s.endpoints[c.to].name, p),
			"Recovered from a panic", "stack", string(debug.Stack()))
		if !begun {
			c.empty(http.StatusInternalServerError)
		}
	}
	s.metrics.observe(c.to, s.endpoints[c.to].name, c.r.Method, c.code, s.opts.Clock().Sub(c.now))
	if p != nil && begun {
		panic(http.ErrAbortHandler)
	}
}

// source returns the address a request came from, invalid when a proxy hides it.
func (s *server) source(c *call) netip.Addr {
	from, err := netip.ParseAddrPort(c.r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	addr := from.Addr().Unmap().WithZone("")
	if within(s.opts.TrustedProxies, addr) {
		return netip.Addr{}
	}
	return addr
}

func within(ranges []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(ranges, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// fromBrowser reports whether a web page sent the request. No Eureka client sets
// these headers, and a page in an operator's browser must not reach the registry
// through it.
func fromBrowser(h http.Header) bool {
	return h.Get("Origin") != "" || h.Get("Sec-Fetch-Site") == "cross-site"
}
