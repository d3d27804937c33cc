package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kureka/kureka/internal/registry"
)

// peerRig is a rig that the address of the tests' requests is a peer of.
func peerRig(tb testing.TB) *rig {
	tb.Helper()
	return newRig(tb, func(o *Options) { o.Peers = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} })
}

// batchResult is one item of an answer as a peer reads it: no other keys.
type batchResult struct {
	Code   int             `json:"statusCode"`
	Entity json.RawMessage `json:"responseEntity"`
}

func (r *rig) batch(items ...string) []batchResult {
	r.tb.Helper()
	rec := r.do(http.MethodPost, "/eureka/peerreplication/batch/", `{"replicationList":[`+strings.Join(items, ",")+`]}`,
		"Content-Type", "application/json", "Accept", "application/json", "Accept-Encoding", "gzip")
	if rec.Code != http.StatusOK || rec.Header().Get("Content-Encoding") != "" || rec.Header().Get("Content-Type") != "application/json" {
		r.tb.Fatalf("POST = %d %v %s", rec.Code, rec.Header(), rec.Body)
	}
	var answer struct {
		Results []batchResult `json:"responseList"`
	}
	dec := json.NewDecoder(rec.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&answer); err != nil || len(answer.Results) != len(items) {
		r.tb.Fatalf("%d answers to %d items, %v", len(answer.Results), len(items), err)
	}
	return answer.Results
}

func codes(results []batchResult) []int {
	all := make([]int, 0, len(results))
	for _, res := range results {
		all = append(all, res.Code)
	}
	return all
}

// item is an item of a batch about DEMO/a.
func item(action, more string) string {
	return `{"appName":"demo","id":"a","action":"` + action + `"` + more + `}`
}

func copied(status string, dirty int64, more string) string {
	text := strings.TrimSuffix(strings.TrimPrefix(body("DEMO", "a", status, dirty), `{"instance":`), "}")
	return item("Register", fmt.Sprintf(`,"lastDirtyTimestamp":%d,"status":%q,"instanceInfo":%s`, dirty, status, strings.TrimSuffix(text, "}")+more+"}"))
}

func (r *rig) shown() string {
	inst := r.engine.Snapshot().Get(registry.Key{App: "DEMO", ID: "a"})
	if inst == nil {
		return "absent"
	}
	return fmt.Sprintf("%s override=%s dirty=%d from=%s", inst.Status, inst.Override, inst.Dirty, inst.From)
}

func TestBatch_doesWhatThePeersClientsDid(t *testing.T) {
	t.Parallel()
	r := peerRig(t)
	steps := []struct {
		what, item string
		code       int
		shown      string
	}{
		{"an unknown heartbeat", item("Heartbeat", `,"lastDirtyTimestamp":1000,"status":"UP"`), 404, "absent"},
		{"a copy", copied("UP", 1000, ""), 200, "UP override= dirty=1000 from=192.0.2.1"},
		{"its heartbeat", item("Heartbeat", `,"lastDirtyTimestamp":1000,"status":"DOWN"`), 200, "UP override= dirty=1000 from=192.0.2.1"},
		{"a heartbeat of a newer record", item("Heartbeat", `,"lastDirtyTimestamp":"2000"`), 404, "UP override= dirty=1000 from=192.0.2.1"},
		{"an older copy", copied("DOWN", 900, ""), 200, "UP override= dirty=1000 from=192.0.2.1"},
		{"a newer copy", copied("DOWN", 2000, ""), 200, "DOWN override= dirty=2000 from=192.0.2.1"},
		{"an older heartbeat", item("Heartbeat", `,"lastDirtyTimestamp":1000`), 409, "DOWN override= dirty=2000 from=192.0.2.1"},
		{"an override", item("StatusUpdate", `,"lastDirtyTimestamp":2000,"status":"OUT_OF_SERVICE"`), 200, "OUT_OF_SERVICE override=OUT_OF_SERVICE dirty=2000 from=192.0.2.1"},
		{"one of no status", item("StatusUpdate", `,"status":"SLEEPING"`), 400, "OUT_OF_SERVICE override=OUT_OF_SERVICE dirty=2000 from=192.0.2.1"},
		{"one without a status", item("StatusUpdate", ""), 400, "OUT_OF_SERVICE override=OUT_OF_SERVICE dirty=2000 from=192.0.2.1"},
		{"one of none", item("StatusUpdate", `,"status":"UNKNOWN"`), 200, "DOWN override= dirty=2000 from=192.0.2.1"},
		{"the override again", item("StatusUpdate", `,"status":"out_of_service"`), 200, "OUT_OF_SERVICE override=OUT_OF_SERVICE dirty=2000 from=192.0.2.1"},
		{"its end", item("DeleteStatusOverride", `,"lastDirtyTimestamp":2000,"status":"UP"`), 200, "DOWN override= dirty=2000 from=192.0.2.1"},
		{"a cancel", item("Cancel", ""), 200, "absent"},
		{"another", item("Cancel", ""), 404, "absent"},
		{"a late copy", copied("UP", 2000, ""), 200, "absent"},
		{"a new life", copied("UP", 2001, `,"overriddenStatus":"OUT_OF_SERVICE"`), 200, "OUT_OF_SERVICE override=OUT_OF_SERVICE dirty=2001 from=192.0.2.1"},
		{"an unknown action", item("heartbeat", ""), 400, "OUT_OF_SERVICE override=OUT_OF_SERVICE dirty=2001 from=192.0.2.1"},
		{"no record", item("Register", ""), 400, "OUT_OF_SERVICE override=OUT_OF_SERVICE dirty=2001 from=192.0.2.1"},
	}
	for _, s := range steps {
		res := r.batch(s.item)[0]
		if got := r.shown(); res.Code != s.code || got != s.shown {
			t.Errorf("%s: %d and %s, want %d and %s", s.what, res.Code, got, s.code, s.shown)
		}
		if newer := strings.Contains(string(res.Entity), `"lastDirtyTimestamp":"2000"`); newer != (s.code == http.StatusConflict) {
			t.Errorf("%s: the answer has the record %s", s.what, res.Entity)
		}
	}
}

func TestBatch_answersEveryItemInOrder(t *testing.T) {
	t.Parallel()
	r := peerRig(t)
	got := codes(r.batch(copied("UP", 1, ""), `7`, item("Heartbeat", ""), `{}`, `null`, item("Cancel", ""), item("Heartbeat", "")))
	if diff := cmp.Diff([]int{200, 400, 200, 400, 400, 200, 404}, got); diff != "" {
		t.Errorf("codes differ (-want +got):\n%s", diff)
	}
	if got := r.batch(); len(got) != 0 {
		t.Errorf("an empty batch is answered %v", got)
	}
}

// The client's own word counts more than what a peer says of it.
func TestBatch_neverReplacesWhatTheClientSaidSince(t *testing.T) {
	t.Parallel()
	r := peerRig(t)
	r.register("DEMO", "a", "UP", 1000)
	r.batch(copied("DOWN", 1000, ""))
	if got := r.shown(); got != "UP override= dirty=1000 from=" {
		t.Errorf("a copy as old as the record: %s", got)
	}
	r.batch(copied("DOWN", 2000, ""))
	r.register("DEMO", "a", "UP", 1500)
	if got := r.shown(); got != "UP override= dirty=1500 from=" {
		t.Errorf("the client after a newer copy: %s", got)
	}
}

func TestBatch_isForPeersOnly(t *testing.T) {
	t.Parallel()
	none, foreign := newRig(t), newRig(t, func(o *Options) { o.Peers = []netip.Prefix{netip.MustParsePrefix("198.51.100.7/32")} })
	hidden := newRig(t, func(o *Options) {
		o.Peers = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
		o.TrustedProxies = o.Peers
	})
	for name, tc := range map[string]struct {
		r    *rig
		want int
	}{"without peers": {none, 404}, "from somebody else": {foreign, 403}, "behind a proxy": {hidden, 403}} {
		rec := tc.r.do(http.MethodPost, "/eureka/peerreplication/batch/", `{"replicationList":[`+copied("UP", 1, "")+`]}`)
		if rec.Code != tc.want || rec.Body.Len() != 0 || tc.r.shown() != "absent" {
			t.Errorf("%s: %d %q, %s", name, rec.Code, rec.Body, tc.r.shown())
		}
	}
}

func TestBatch_isBounded(t *testing.T) {
	t.Parallel()
	r := peerRig(t)
	for name, tc := range map[string]struct {
		body string
		want int
	}{
		"no JSON":        {"<batch/>", 400},
		"no list":        {"{}", 400},
		"no array":       {`{"replicationList":{}}`, 400},
		"too many":       {`{"replicationList":[` + strings.Repeat("{},", 1000) + `{}]}`, 413},
		"too large":      {`{"replicationList":["` + strings.Repeat("x", 8<<20) + `"]}`, 413},
		"too many parts": {`{"replicationList":[[` + strings.Repeat("1,", 500_000) + `1]]}`, 400},
	} {
		if rec := r.do(http.MethodPost, "/eureka/peerreplication/batch", tc.body); rec.Code != tc.want {
			t.Errorf("%s: %d, want %d", name, rec.Code, tc.want)
		}
	}
}

func TestBatch_thoseBeyondItsSlotsKeepNobodyElseOut(t *testing.T) {
	t.Parallel()
	r := peerRig(t)
	s, ok := r.handler.(*server)
	if !ok {
		t.Fatalf("the handler is a %T", r.handler)
	}
	limits := Limits{}.withDefaults()
	for range limits.MaxBatches {
		if !s.batches.take() {
			t.Fatal("fewer slots than there should be")
		}
	}
	r.want(http.StatusServiceUnavailable, http.MethodPost, "/eureka/peerreplication/batch")
	r.want(http.StatusNotFound, http.MethodPut, "/eureka/apps/DEMO/a")
	if rec := r.do(http.MethodPost, "/eureka/apps/DEMO", body("DEMO", "a", "UP", 1)); rec.Code != http.StatusNoContent {
		t.Errorf("a registration = %d", rec.Code)
	}
	s.batches.release()
	if rec := r.do(http.MethodPost, "/eureka/peerreplication/batch", "{}"); rec.Code != http.StatusBadRequest {
		t.Errorf("with a slot: %d", rec.Code)
	}
}

func TestStatusOfTheServer_isReadByMonitors(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.clock.advance(125 * 60e9)
	for accept, want := range map[string]string{"application/json": `"server-uptime":"02:05"`, "": "<server-uptime>02:05</server-uptime>"} {
		rec := r.do(http.MethodGet, "/eureka/status", "", "Accept", accept)
		if rec.Code != http.StatusOK || !strings.Contains(rec.Body.String(), want) || accept != "" && !json.Valid(rec.Body.Bytes()) {
			t.Errorf("%q: %d %s", accept, rec.Code, rec.Body)
		}
	}
}

// Whatever a peer sends, every item gets an answer or the whole is refused.
func FuzzBatch(f *testing.F) {
	for _, seed := range []string{copied("UP", 1000, ""), item("Heartbeat", `,"lastDirtyTimestamp":1000`), item("Cancel", ""), `{}`, `[[]]`, ``} {
		f.Add(`{"replicationList":[` + seed + `,` + seed + `]}`)
		f.Add(seed)
	}
	r := peerRig(f)
	f.Fuzz(func(t *testing.T, text string) {
		rec := r.in(t).do(http.MethodPost, "/eureka/peerreplication/batch/", text)
		switch rec.Code {
		case http.StatusOK:
			if !json.Valid(rec.Body.Bytes()) {
				t.Errorf("%q is answered %q", text, rec.Body)
			}
		case http.StatusBadRequest, http.StatusRequestEntityTooLarge:
		default:
			t.Errorf("POST of %q = %d", text, rec.Code)
		}
		for inst := range r.engine.Snapshot().All() {
			r.engine.Cancel(r.clock.Now(), registry.Caller{}, inst.Key())
		}
	})
}
