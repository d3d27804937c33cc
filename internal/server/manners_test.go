package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What clients of many makes do as a matter of course.

// times are those that a single read shows of an instance's lease.
func (r *rig) times() (registered, renewed time.Time) {
	r.tb.Helper()
	var doc struct {
		Instance struct {
			Lease struct {
				Registered int64 `json:"registrationTimestamp"`
				Renewed    int64 `json:"lastRenewalTimestamp"`
			} `json:"leaseInfo"`
		} `json:"instance"`
	}
	if err := json.Unmarshal(r.getJSON("/eureka/apps/DEMO/demo-1"), &doc); err != nil {
		r.tb.Fatal(err)
	}
	lease := doc.Instance.Lease
	return time.UnixMilli(lease.Registered).UTC(), time.UnixMilli(lease.Renewed).UTC()
}

func TestLease_isRenewedByHeartbeatsAndRegistrationsOnly(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("DEMO", "demo-1", "UP", 1000)
	first := r.clock.Now()
	for what, tc := range map[string]struct {
		method, target, body string
		renews               bool
	}{
		"heartbeat":      {http.MethodPut, "/eureka/apps/DEMO/demo-1", "", true},
		"registration":   {http.MethodPost, "/eureka/apps/DEMO", body("DEMO", "demo-1", "UP", 2000), true},
		"override":       {http.MethodPut, "/eureka/apps/DEMO/demo-1/status?value=UP", "", false},
		"clear override": {http.MethodDelete, "/eureka/apps/DEMO/demo-1/status", "", false},
		"metadata":       {http.MethodPut, "/eureka/apps/DEMO/demo-1/metadata?a=1", "", false},
		"read":           {http.MethodGet, "/eureka/apps/DEMO/demo-1", "", false},
	} {
		_, before := r.times()
		r.clock.advance(time.Second)
		if rec := r.do(tc.method, tc.target, tc.body); rec.Code >= 300 {
			t.Fatalf("%s = %d", what, rec.Code)
		}
		registered, renewed := r.times()
		if tc.renews {
			before = r.clock.Now()
		}
		if !renewed.Equal(before) || !registered.Equal(first) {
			t.Errorf("after a %s: registered at %v, renewed at %v, want %v and %v", what, registered, renewed, first, before)
		}
	}
}

// A client that never renews asks for a lease of 10,000 seconds, and gets it.
func TestLease_lastsAsLongAsTheClientAskedFor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	text := strings.Replace(body("DEMO", "demo-1", "UP", 1), `"vipAddress"`, `"leaseInfo":{"renewalIntervalInSecs":10000,"durationInSecs":10000},"vipAddress"`, 1)
	if rec := r.do(http.MethodPost, "/eureka/apps/DEMO", text); rec.Code != http.StatusNoContent {
		t.Fatalf("POST = %d %s", rec.Code, rec.Body)
	}
	if got := string(r.getJSON("/eureka/apps/DEMO")); !strings.Contains(got, `"renewalIntervalInSecs":10000,"durationInSecs":10000`) {
		t.Errorf("listed as %s", got)
	}
	r.register("OTHER", "beating", "UP", 1)
	pass := func(seconds int) {
		for i := range seconds {
			if i%30 == 0 {
				r.want(http.StatusOK, http.MethodPut, "/eureka/apps/OTHER/beating")
			}
			r.clock.advance(time.Second)
			r.engine.Tick(r.clock.Now())
		}
	}
	pass(9990)
	r.getJSON("/eureka/apps/DEMO")
	pass(20)
	r.want(http.StatusNotFound, http.MethodGet, "/eureka/apps/DEMO")
}

// Several clients set UP by an override as a step of their start. It must not hide
// what they say afterwards.
func TestStatus_anOverrideToUpIsNoPromise(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for i, step := range []struct{ says, want string }{
		{"STARTING", "STARTING"}, {"pin", "UP"}, {"UP", "UP"}, {"OUT_OF_SERVICE", "OUT_OF_SERVICE"}, {"DOWN", "DOWN"}, {"UP", "UP"},
	} {
		if step.says == "pin" {
			r.want(http.StatusOK, http.MethodPut, "/eureka/apps/DEMO/demo-1/status?value=UP")
		} else {
			r.register("DEMO", "demo-1", step.says, int64(1000+i))
		}
		if got := r.show().Status; got != step.want {
			t.Errorf("after %s the instance is %s, want %s", step.says, got, step.want)
		}
	}
	r.register("DEMO", "demo-1", "DOWN", 2000) // and the end of a graceful stop
	r.want(http.StatusOK, http.MethodDelete, "/eureka/apps/DEMO/demo-1")
	r.want(http.StatusNotFound, http.MethodGet, "/eureka/apps/DEMO/demo-1")
}

// Anybody can say that he is a peer; only addresses make one.
func TestR40_theHeaderOfPeersMeansNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const name, value = "x-netflix-discovery-replication", "true"
	r.register("DEMO", "demo-1", "UP", 2000)
	beat := r.do(http.MethodPut, "/eureka/apps/DEMO/demo-1?status=UP&lastDirtyTimestamp=1000", "", name, value)
	if beat.Code != http.StatusOK || beat.Body.Len() > 0 {
		t.Errorf("a heartbeat that knows less = %d %s, want an empty 200", beat.Code, beat.Body)
	}
	r.do(http.MethodPost, "/eureka/apps/DEMO", body("DEMO", "demo-1", "DOWN", 1000), name, value)
	if got := r.show(); got.Status != "DOWN" || got.Dirty != "1000" {
		t.Errorf("a registration that looks older left %+v", got)
	}
	r.do(http.MethodDelete, "/eureka/apps/DEMO/demo-1", "", name, value)
	r.want(http.StatusNotFound, http.MethodGet, "/eureka/apps/DEMO/demo-1")
}

func TestR26_clientsWithoutIDsAreToldApart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	want := make([]string, 0, 3)
	for i := range cap(want) {
		host := fmt.Sprintf("demo-py-%d.example.test", i)
		text := `{"instance":{"hostName":"` + host + `","app":"DEMO","ipAddr":"192.0.2.31","status":"UP","dataCenterInfo":{"name":"MyOwn"}}}`
		if rec := r.do(http.MethodPost, "/eureka/apps/DEMO", text); rec.Code != http.StatusNoContent {
			t.Fatalf("POST = %d %s", rec.Code, rec.Body)
		}
		want = append(want, host)
	}
	if diff := cmp.Diff([]string{"DEMO: " + strings.Join(want, " ")}, r.list("/eureka/apps").names()); diff != "" {
		t.Errorf("ids (-want +got)\n%s", diff)
	}
	if got := r.do(http.MethodGet, "/eureka/apps", "").Body.String(); strings.Count(got, "<instanceId>demo-py-") != 3 {
		t.Errorf("XML: %s", got)
	}
}

// What a body expands to is never kept, however many are sent. Not parallel, because
// it measures what is allocated.
func TestR49_bodiesThatExpandTakeNoMemory(t *testing.T) {
	r := newRig(t)
	bomb := zip(t, strings.Repeat("\x00", 64<<20))
	if len(bomb) > 128<<10 {
		t.Fatalf("the body has %d bytes, which are too many by themselves", len(bomb))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const requests = 20
	for range requests {
		if rec := r.do(http.MethodPost, "/eureka/apps/DEMO", bomb, "Content-Encoding", "gzip"); rec.Code != http.StatusRequestEntityTooLarge {
			t.Fatalf("POST = %d %s", rec.Code, rec.Body)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := (after.TotalAlloc - before.TotalAlloc) / requests; grown > 4<<20 {
		t.Errorf("%d bytes allocated for a request", grown)
	}
}
