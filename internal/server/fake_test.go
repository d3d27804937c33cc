package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kureka/kureka/internal/registry"
)

// engine answers like the product without a cluster: every source is an address
// outside pods.
type engine struct{ *registry.Engine }

func (e engine) Register(now time.Time, src netip.Addr, rec *registry.Record) registry.Outcome {
	return e.Engine.Register(now, registry.Caller{Addr: src}, rec, registry.Binding{})
}

func (e engine) Renew(now time.Time, src netip.Addr, key registry.Key, beat registry.Beat) registry.Outcome {
	return e.Engine.Renew(now, registry.Caller{Addr: src}, key, beat).Outcome
}

func (e engine) Cancel(now time.Time, src netip.Addr, key registry.Key) registry.Outcome {
	return e.Engine.Cancel(now, registry.Caller{Addr: src}, key)
}

func (e engine) SetOverride(now time.Time, src netip.Addr, key registry.Key, s registry.Status) registry.Outcome {
	return e.Engine.SetOverride(now, registry.Caller{Addr: src}, key, s)
}

func (e engine) ClearOverride(now time.Time, src netip.Addr, key registry.Key) registry.Outcome {
	return e.Engine.ClearOverride(now, registry.Caller{Addr: src}, key)
}

func (e engine) PutMetadata(now time.Time, src netip.Addr, key registry.Key, pairs []registry.Pair) registry.Outcome {
	return e.Engine.PutMetadata(now, registry.Caller{Addr: src}, key, pairs)
}

var _ Registry = engine{}

// clock is a clock that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.UnixMilli(1_760_000_000_000).UTC()} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// rig is the handler over an engine of its own.
type rig struct {
	tb      testing.TB
	clock   *clock
	engine  *registry.Engine
	handler http.Handler
	server  *server // the same
}

func newRig(tb testing.TB, change ...func(*Options)) *rig {
	tb.Helper()
	r := &rig{tb: tb, clock: newClock()}
	r.engine = registry.New(r.clock.Now(), registry.Options{})
	opts := Options{Registry: engine{r.engine}, Clock: r.clock.Now}
	for _, c := range change {
		c(&opts)
	}
	h, err := New(opts)
	if err != nil {
		tb.Fatalf("building the handler: %v", err)
	}
	r.handler = h
	r.server, _ = h.(*server)
	return r
}

// in is the same rig for another test, as a fuzz target needs.
func (r *rig) in(tb testing.TB) *rig {
	tb.Helper()
	again := *r
	again.tb = tb
	return &again
}

// do sends one request and returns the answer. Headers alternate name and value.
func (r *rig) do(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r.tb.Helper()
	req := httptest.NewRequestWithContext(r.tb.Context(), method, target, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	r.handler.ServeHTTP(rec, req)
	return rec
}

// want sends a request without headers and checks the status and that the body
// is empty.
func (r *rig) want(code int, method, target string) {
	r.tb.Helper()
	rec := r.do(method, target, "")
	if rec.Code != code {
		r.tb.Errorf("%s %s = %d, want %d", method, target, rec.Code, code)
	}
	if rec.Body.Len() != 0 {
		r.tb.Errorf("%s %s has a body: %q", method, target, rec.Body)
	}
}

// getJSON returns the body of a successful read.
func (r *rig) getJSON(target string) []byte {
	r.tb.Helper()
	rec := r.do(http.MethodGet, target, "", "Accept", "application/json")
	if rec.Code != http.StatusOK {
		r.tb.Fatalf("GET %s = %d, want 200", target, rec.Code)
	}
	return rec.Body.Bytes()
}

// register sends the usual registration.
func (r *rig) register(app, id, status string, dirty int64) {
	r.tb.Helper()
	rec := r.do(http.MethodPost, "/eureka/apps/"+app, body(app, id, status, dirty), "Content-Type", "application/json")
	if rec.Code != http.StatusNoContent {
		r.tb.Fatalf("registering %s/%s = %d %s, want 204", app, id, rec.Code, rec.Body)
	}
}

func body(app, id, status string, dirty int64) string {
	return fmt.Sprintf(`{"instance":{"instanceId":%q,"hostName":"192.0.2.10","app":%q,"ipAddr":"192.0.2.10","vipAddress":"demo",`+
		`"secureVipAddress":"demo-s","status":%q,"port":{"$":8080,"@enabled":"true"},"securePort":{"$":443,"@enabled":"false"},`+
		`"lastDirtyTimestamp":"%d","dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"}}}`,
		id, app, status, dirty)
}

// record is a registration as large as those of common clients.
func record(app, id string) *registry.Record {
	return &registry.Record{
		App: app, ID: id, HostName: id + ".demo.example", IPAddr: "192.0.2.10",
		VIP: strings.ToLower(app), SecureVIP: strings.ToLower(app),
		Port: registry.Port{Number: 8080, Enabled: true}, SecurePort: registry.Port{Number: 443},
		CountryID: 1, DataCenter: registry.DataCenter{Name: "MyOwn"},
		Metadata:    []registry.Pair{{Key: "management.port", Value: "8081"}, {Key: "zone", Value: "z1"}},
		HomePageURL: "http://" + id + ".demo.example:8080/", StatusPageURL: "http://" + id + ".demo.example:8081/actuator/info",
		HealthCheckURL: "http://" + id + ".demo.example:8081/actuator/health",
		Status:         registry.Up, Dirty: 1_759_999_999_990,
	}
}

// fill registers n instances, spread over applications of perApp each.
func (r *rig) fill(n, perApp int) {
	r.tb.Helper()
	for i := range n {
		rec := record(fmt.Sprintf("APP-%04d", i/perApp), fmt.Sprintf("pod-%05d:app:8080", i))
		if got := r.engine.Register(r.clock.Now(), registry.Caller{}, rec, registry.Binding{}); got != registry.Done {
			r.tb.Fatalf("registering instance %d: outcome %d", i, got)
		}
	}
}

// discard is a ResponseWriter that keeps nothing.
type discard struct {
	header http.Header
	code   int
	n      int
}

func (d *discard) Header() http.Header { return d.header }
func (d *discard) WriteHeader(c int)   { d.code = c }
func (d *discard) Write(p []byte) (int, error) {
	d.n += len(p)
	return len(p), nil
}
