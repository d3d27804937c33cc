package server

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kureka/kureka/internal/registry"
)

// shown is what a single read shows of an instance.
type shown struct {
	Status     string            `json:"status"`
	Overridden string            `json:"overriddenStatus"`
	Dirty      string            `json:"lastDirtyTimestamp"`
	Metadata   map[string]string `json:"metadata"`
}

// show returns the instance demo-1 of DEMO.
func (r *rig) show() shown {
	r.tb.Helper()
	var doc struct{ Instance shown }
	if err := json.Unmarshal(r.getJSON("/eureka/apps/DEMO/demo-1"), &doc); err != nil {
		r.tb.Fatalf("decoding the instance: %v", err)
	}
	return doc.Instance
}

func TestRegister_refusesWithTheReferenceTexts(t *testing.T) {
	t.Parallel()
	const generic = "cannot parse request body"
	tests := map[string]struct {
		body, contentType string
		code              int
		want, wantType    string
	}{
		"no id and no host": {
			`{"instance":{"app":"DEMO","ipAddr":"192.0.2.1","dataCenterInfo":{"name":"MyOwn"}}}`,
			"application/json", 400, "Missing instanceId", "text/plain; charset=utf-8",
		},
		"no host": {
			`{"instance":{"instanceId":"a","app":"DEMO","ipAddr":"192.0.2.1","dataCenterInfo":{"name":"MyOwn"}}}`,
			"application/json", 400, "Missing hostname", "text/plain; charset=utf-8",
		},
		"another application": {
			body("OTHER", "a", "UP", 1), "application/json", 400, "Mismatched appName, expecting DEMO but was OTHER", "text/plain; charset=utf-8",
		},
		"empty":              {"", "application/json", 400, `{"error": "` + generic + `"}`, "application/json"},
		"empty XML":          {"", "application/xml", 400, "<error><message>" + generic + "</message></error>", "application/xml"},
		"half a document":    {`{"instance":{`, "application/json", 400, `{"error": "` + generic + `"}`, "application/json"},
		"no content type":    {"hello", "", 400, `{"error": "` + generic + `"}`, "application/json"},
		"port as a word":     {strings.Replace(body("DEMO", "a", "UP", 1), "8080", `"eighty"`, 1), "application/json", 400, `{"error": "` + generic + `: port: not a number"}`, "application/json"},
		"port out of range":  {strings.Replace(body("DEMO", "a", "UP", 1), "8080", "70000", 1), "application/json", 400, `{"error": "` + generic + `: port: out of range"}`, "application/json"},
		"too large":          {strings.Repeat(" ", 128<<10) + body("DEMO", "a", "UP", 1), "application/json", 413, "", ""},
		"type of a form":     {body("DEMO", "a", "UP", 1), "application/x-www-form-urlencoded", 204, "", ""},
		"type XML, but JSON": {body("DEMO", "a", "UP", 1), "application/xml", 204, "", ""},
		"no type":            {body("DEMO", "a", "UP", 1), "", 204, "", ""},
		"with a charset":     {body("DEMO", "a", "UP", 1), "application/json;charset=ISO-8859-1", 204, "", ""},
		"in lower case":      {body("demo", "a", "up", 1), "application/json", 204, "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			rec := r.do(http.MethodPost, "/eureka/apps/demo", tc.body, "Content-Type", tc.contentType)
			if rec.Code != tc.code || rec.Body.String() != tc.want || rec.Header().Get("Content-Type") != tc.wantType {
				t.Errorf("POST = %d %q %q, want %d %q %q", rec.Code, rec.Body, rec.Header().Get("Content-Type"), tc.code, tc.want, tc.wantType)
			}
			if listed, want := r.engine.Snapshot().Len(), btoi(tc.code == http.StatusNoContent); listed != want {
				t.Errorf("%d instances are listed, want %d", listed, want)
			}
		})
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestRegister_keepsEverythingTheClientSaid(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const text = `<instance><instanceId>i-1</instanceId><hostName>h</hostName><app>demo</app><ipAddr>192.0.2.1</ipAddr><sid>s</sid>
		<status>STARTING</status><port enabled="true">1</port><securePort enabled="true">2</securePort><countryId>7</countryId>
		<dataCenterInfo class="x"><name>Amazon</name><metadata><ami-id>a</ami-id></metadata></dataCenterInfo>
		<leaseInfo><renewalIntervalInSecs>5</renewalIntervalInSecs><durationInSecs>15</durationInSecs></leaseInfo>
		<metadata><a__b>c</a__b></metadata><appGroupName>g</appGroupName><homePageUrl>u1</homePageUrl><statusPageUrl>u2</statusPageUrl>
		<healthCheckUrl>u3</healthCheckUrl><secureHealthCheckUrl>u4</secureHealthCheckUrl><vipAddress>v,w</vipAddress>
		<secureVipAddress>s</secureVipAddress><lastDirtyTimestamp>5</lastDirtyTimestamp><asgName>asg</asgName></instance>`
	if rec := r.do(http.MethodPost, "/eureka/apps/DEMO", text, "Content-Type", "application/xml"); rec.Code != http.StatusNoContent {
		t.Fatalf("POST = %d %s", rec.Code, rec.Body)
	}
	want := &registry.Record{
		App: "DEMO", ID: "i-1", HostName: "h", IPAddr: "192.0.2.1", VIP: "v,w", SecureVIP: "s",
		Port: registry.Port{Number: 1, Enabled: true}, SecurePort: registry.Port{Number: 2, Enabled: true}, CountryID: 7,
		DataCenter: registry.DataCenter{Name: "Amazon", Metadata: []registry.Pair{{Key: "ami-id", Value: "a"}, {Key: "instance-id", Value: "i-1"}}},
		Metadata:   []registry.Pair{{Key: "a_b", Value: "c"}}, AppGroup: "G", SID: "s", ASG: "asg",
		HomePageURL: "u1", StatusPageURL: "u2", HealthCheckURL: "u3", SecureHealthURL: "u4",
		Status: registry.Starting, Dirty: 5, RenewalInterval: 5 * time.Second, LeaseDuration: 15 * time.Second,
	}
	got := r.engine.Snapshot().Get(registry.NewKey("DEMO", "i-1"))
	if diff := cmp.Diff(want, got.Record); diff != "" {
		t.Errorf("the record differs (-want +got):\n%s", diff)
	}
	// What is written for it, read again, is the same record.
	again := newRig(t)
	for _, accept := range []string{"application/json", "application/xml"} {
		doc := r.do(http.MethodGet, "/eureka/instances/i-1", "", "Accept", accept).Body.String()
		if rec := again.do(http.MethodPost, "/apps/DEMO", doc); rec.Code != http.StatusNoContent {
			t.Fatalf("POST of the answer = %d %s", rec.Code, rec.Body)
		}
		if diff := cmp.Diff(want, again.engine.Snapshot().Get(registry.NewKey("DEMO", "i-1")).Record); diff != "" {
			t.Errorf("the record read back from %s differs (-want +got):\n%s", accept, diff)
		}
	}
}

func TestRegister_withoutTimestampGetsTheServersTime(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.do(http.MethodPost, "/apps/DEMO", strings.Replace(body("DEMO", "a", "UP", 1), `"lastDirtyTimestamp":"1",`, "", 1))
	if got, want := r.engine.Snapshot().Get(registry.NewKey("DEMO", "a")).Dirty, r.clock.Now().UnixMilli(); got != want {
		t.Errorf("lastDirtyTimestamp = %d, want %d", got, want)
	}
}

func TestRegister_takesPackedBodies(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		encoding string
		body     string
		code     int
	}{
		"gzip":           {"gzip", zip(t, body("DEMO", "a", "UP", 1)), 204},
		"x-gzip":         {"x-gzip", zip(t, body("DEMO", "a", "UP", 1)), 204},
		"identity":       {"identity", body("DEMO", "a", "UP", 1), 204},
		"no gzip at all": {"gzip", body("DEMO", "a", "UP", 1), 400},
		"cut short":      {"gzip", zip(t, body("DEMO", "a", "UP", 1))[:100], 400},
		"unknown":        {"br", body("DEMO", "a", "UP", 1), 400},
		"stacked":        {"gzip, gzip", zip(t, body("DEMO", "a", "UP", 1)), 400},
		"expands":        {"gzip", zip(t, strings.Repeat(" ", 1<<20)), 413},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := newRig(t).do(http.MethodPost, "/eureka/apps/DEMO", tc.body, "Content-Encoding", tc.encoding)
			if rec.Code != tc.code {
				t.Errorf("POST = %d %s, want %d", rec.Code, rec.Body, tc.code)
			}
		})
	}
}

func zip(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHeartbeat_answersByRecordAndTimestamp(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		query string
		code  int
		want  string
	}{
		"no parameters":          {"", 200, "UP"},
		"equal":                  {"?status=UP&lastDirtyTimestamp=1000", 200, "UP"},
		"older":                  {"?status=DOWN&lastDirtyTimestamp=999", 200, "UP"},
		"newer":                  {"?status=UP&lastDirtyTimestamp=1001", 404, "UP"},
		"equal, another status":  {"?status=DOWN&lastDirtyTimestamp=1000", 200, "DOWN"},
		"no number":              {"?status=UP&lastDirtyTimestamp=soon", 200, "UP"},
		"too large a number":     {"?status=UP&lastDirtyTimestamp=99999999999999999999", 200, "UP"},
		"unknown status":         {"?status=SLEEPING&lastDirtyTimestamp=1000", 200, "UP"},
		"override is no matter":  {"?status=UP&lastDirtyTimestamp=1000&overriddenstatus=DOWN", 200, "UP"},
		"first value counts":     {"?lastDirtyTimestamp=1000&lastDirtyTimestamp=2000", 200, "UP"},
		"broken escapes":         {"?status=%zz&lastDirtyTimestamp=%", 200, "UP"},
		"separators alone":       {"?&&=&", 200, "UP"},
		"another instance's 404": {"", 404, "UP"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.register("DEMO", "demo-1", "UP", 1000)
			id := "demo-1"
			if strings.HasPrefix(name, "another instance") {
				id = "demo-2"
			}
			rec := r.do(http.MethodPut, "/eureka/apps/demo/"+id+tc.query, "{}", "Content-Type", "application/json", "Accept", "application/json")
			if rec.Code != tc.code || rec.Body.Len() != 0 {
				t.Errorf("PUT = %d %q, want %d and no body", rec.Code, rec.Body, tc.code)
			}
			if got := r.show(); got.Status != tc.want || got.Overridden != "UNKNOWN" {
				t.Errorf("the instance is %s, overridden %s, want %s", got.Status, got.Overridden, tc.want)
			}
		})
	}
}

func TestStatus_isPinnedAndReleased(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("DEMO", "demo-1", "UP", 1000)
	steps := []struct {
		method, query string
		code          int
		status, pin   string
	}{
		{http.MethodPut, "?value=OUT_OF_SERVICE&lastDirtyTimestamp=5000", 200, "OUT_OF_SERVICE", "OUT_OF_SERVICE"},
		{http.MethodPut, "?value=SLEEPING", 500, "OUT_OF_SERVICE", "OUT_OF_SERVICE"},
		{http.MethodPut, "", 500, "OUT_OF_SERVICE", "OUT_OF_SERVICE"},
		{http.MethodPut, "?value=up", 200, "UP", "UP"},
		{http.MethodPut, "?value=DOWN", 200, "DOWN", "DOWN"},
		{http.MethodDelete, "?value=OUT_OF_SERVICE", 200, "UP", "UNKNOWN"},
		{http.MethodDelete, "", 200, "UP", "UNKNOWN"},
		{http.MethodPut, "?value=DOWN", 200, "DOWN", "DOWN"},
		{http.MethodPut, "?value=UNKNOWN", 200, "UP", "UNKNOWN"},
	}
	for _, step := range steps {
		r.want(step.code, step.method, "/eureka/v2/apps/DEMO/demo-1/status"+step.query)
		got := r.show()
		if got.Status != step.status || got.Overridden != step.pin || got.Dirty != "1000" {
			t.Errorf("after %s %s: %+v, want %s pinned to %s", step.method, step.query, got, step.status, step.pin)
		}
	}
	r.want(404, http.MethodPut, "/eureka/apps/DEMO/ghost/status?value=UP")
	r.want(404, http.MethodDelete, "/eureka/apps/DEMO/ghost/status")
}

func TestMetadata_isMergedWithinTheBounds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("DEMO", "demo-1", "UP", 1000)
	r.want(200, http.MethodPut, "/eureka/apps/DEMO/demo-1/metadata?a=1&b=x%20y+z&a=2&@class=no&=no&flag")
	want := map[string]string{"a": "1", "b": "x y z", "flag": ""}
	if diff := cmp.Diff(want, r.show().Metadata); diff != "" {
		t.Errorf("metadata differs (-want +got):\n%s", diff)
	}
	r.want(413, http.MethodPut, "/eureka/apps/DEMO/demo-1/metadata?"+strings.Repeat("k", 9000)+"=1")
	for i := range 8 {
		query := "?k" + string(rune('a'+i)) + "=" + strings.Repeat("v", 20_000)
		want := http.StatusOK
		if i >= 6 {
			want = http.StatusRequestEntityTooLarge
		}
		r.want(want, http.MethodPut, "/eureka/apps/DEMO/demo-1/metadata"+query)
	}
	r.want(404, http.MethodPut, "/eureka/apps/DEMO/ghost/metadata?a=1")
}

func TestCancel_isDoneOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("DEMO", "demo-1", "UP", 1000)
	r.want(200, http.MethodDelete, "/eureka/apps/DEMO/demo-1")
	r.want(404, http.MethodDelete, "/eureka/apps/DEMO/demo-1")
}

// outcomes is a registry that answers every write alike.
type outcomes struct {
	Registry

	outcome registry.Outcome
	src     *netip.Addr
}

func (o outcomes) Register(time.Time, netip.Addr, *registry.Record) registry.Outcome {
	return o.outcome
}

func (o outcomes) Renew(_ time.Time, src netip.Addr, _ registry.Key, _ registry.Beat) registry.Outcome {
	if o.src != nil {
		*o.src = src
	}
	return o.outcome
}

func TestWrites_answerByOutcome(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		outcome        registry.Outcome
		register, beat int
	}{
		"done":      {registry.Done, 204, 200},
		"fenced":    {registry.Fenced, 204, 200},
		"not found": {registry.NotFound, 404, 404},
		"newer":     {registry.Newer, 404, 404},
		"full":      {registry.Full, 503, 503},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(o *Options) { o.Registry = outcomes{Registry: o.Registry, outcome: tc.outcome} })
			if got := r.do(http.MethodPost, "/apps/DEMO", body("DEMO", "a", "UP", 1)); got.Code != tc.register || got.Body.Len() != 0 {
				t.Errorf("POST = %d %q, want %d", got.Code, got.Body, tc.register)
			}
			r.want(tc.beat, http.MethodPut, "/apps/DEMO/a")
		})
	}
}

func TestSource_isTheAddressUnlessAProxyHidesIt(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ remote, want string }{
		"IPv4":           {"192.0.2.10:4711", "192.0.2.10"},
		"IPv4 in IPv6":   {"[::ffff:192.0.2.10]:4711", "192.0.2.10"},
		"IPv6":           {"[2001:db8::1]:4711", "2001:db8::1"},
		"IPv6 and zone":  {"[fe80::1%eth0]:4711", "fe80::1"},
		"trusted proxy":  {"10.1.2.3:4711", "invalid IP"},
		"no address":     {"@", "invalid IP"},
		"forwarded only": {"198.51.100.1:1", "198.51.100.1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var src netip.Addr
			r := newRig(t, func(o *Options) {
				o.Registry = outcomes{Registry: o.Registry, src: &src}
				o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
			})
			req := get(t, "/apps/DEMO/a", "X-Forwarded-For", "203.0.113.9")
			req.Method, req.RemoteAddr = http.MethodPut, tc.remote
			r.handler.ServeHTTP(&discard{header: http.Header{}}, req)
			if src.String() != tc.want {
				t.Errorf("source = %s, want %s", src, tc.want)
			}
		})
	}
}

// Whatever is posted, the answer is a registration, a refusal or "too large",
// and the process lives.
func FuzzRegister(f *testing.F) {
	for _, seed := range []string{
		body("DEMO", "a", "UP", 1), `{"instance":null}`, `<instance><app>DEMO</app></instance>`, "<!DOCTYPE i>", "\x1f\x8b", "[]", "",
		`{"instance":{"hostName":"h","app":"DEMO","ipAddr":"i","port":8080,"dataCenterInfo":{"name":"Amazon"},"metadata":{"a":{"b":[1]}}}}`,
	} {
		f.Add(seed, "", "application/json")
		f.Add(seed, "gzip", "application/xml")
	}
	for _, requests := range recordedRequests(f) {
		for _, req := range requests {
			f.Add(string(req.Body), req.Header.Get("Content-Encoding"), req.Header.Get("Content-Type"))
		}
	}
	r := newRig(f)
	f.Fuzz(func(t *testing.T, text, encoding, contentType string) {
		r := r.in(t)
		rec := r.do(http.MethodPost, "/eureka/apps/DEMO", text, "Content-Encoding", encoding, "Content-Type", contentType)
		switch rec.Code {
		case http.StatusNoContent:
			var doc any
			if err := json.Unmarshal(r.getJSON("/eureka/apps"), &doc); err != nil {
				t.Errorf("after %q the registry is no JSON: %v", text, err)
			}
			for inst := range r.engine.Snapshot().All() {
				r.engine.Cancel(r.clock.Now(), registry.Caller{}, inst.Key())
			}
		case http.StatusBadRequest, http.StatusRequestEntityTooLarge:
		default:
			t.Errorf("POST of %q = %d", text, rec.Code)
		}
	})
}
