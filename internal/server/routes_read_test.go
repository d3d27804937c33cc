package server

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kureka/kureka/internal/registry"
)

// listing is an applications document as a typed client reads it.
type listing struct {
	Applications struct {
		Version string        `json:"versions__delta"`
		Hash    string        `json:"apps__hashcode"`
		Apps    []application `json:"application"`
	} `json:"applications"`
}

type application struct {
	Name      string `json:"name"`
	Instances []struct {
		ID     string `json:"instanceId"`
		App    string `json:"app"`
		Status string `json:"status"`
		Action string `json:"actionType"`
	} `json:"instance"`
}

func (r *rig) list(target string) listing {
	r.tb.Helper()
	var doc listing
	if err := json.Unmarshal(r.getJSON(target), &doc); err != nil {
		r.tb.Fatalf("decoding %s: %v", target, err)
	}
	for _, app := range doc.Applications.Apps {
		if len(app.Instances) == 0 {
			r.tb.Errorf("GET %s has an application without instances, which some clients fail on", target)
		}
	}
	return doc
}

// names returns the document as one line per application.
func (l listing) names() []string {
	all := make([]string, 0, len(l.Applications.Apps))
	for _, app := range l.Applications.Apps {
		ids := make([]string, 0, len(app.Instances))
		for _, inst := range app.Instances {
			ids = append(ids, inst.ID)
		}
		all = append(all, app.Name+": "+strings.Join(ids, " "))
	}
	return all
}

func TestReads_answerPerRoute(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("DEMO", "demo-1", "UP", 1000)
	r.register("DEMO", "demo-2", "DOWN", 1000)
	r.register("OTHER", "demo-1", "UP", 1000)
	tests := map[string]struct {
		target, version, hash string
		want                  []string
	}{
		"apps":        {"/eureka/apps/", "1", "DOWN_1_UP_2_", []string{"DEMO: demo-1 demo-2", "OTHER: demo-1"}},
		"regions":     {"/eureka/apps?regions=eu,us", "1", "DOWN_1_UP_2_", []string{"DEMO: demo-1 demo-2", "OTHER: demo-1"}},
		"delta":       {"/eureka/apps/delta", "", "DOWN_1_UP_2_", []string{"DEMO: demo-1 demo-2", "OTHER: demo-1"}},
		"vip":         {"/eureka/vips/demo", "-1", "DOWN_1_UP_2_", []string{"DEMO: demo-1 demo-2", "OTHER: demo-1"}},
		"svip":        {"/eureka/svips/demo-s", "-1", "DOWN_1_UP_2_", []string{"DEMO: demo-1 demo-2", "OTHER: demo-1"}},
		"unknown vip": {"/eureka/vips/Demo", "-1", "", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := r.in(t).list(tc.target)
			if tc.version == "" {
				tc.version = strconv.FormatInt(r.engine.Snapshot().Version, 10)
			}
			if got.Applications.Version != tc.version || got.Applications.Hash != tc.hash {
				t.Errorf("version %q and hash %q, want %q and %q", got.Applications.Version, got.Applications.Hash, tc.version, tc.hash)
			}
			if diff := cmp.Diff(tc.want, got.names(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("instances differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReads_ofOne(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("Demo-Web", "demo-1", "UP", 1000)
	for _, target := range []string{"/eureka/apps/demo-web", "/eureka/apps/DEMO-WEB/", "/v2/apps/Demo-web"} {
		var doc struct{ Application application }
		if err := json.Unmarshal(r.getJSON(target), &doc); err != nil {
			t.Fatal(err)
		}
		if doc.Application.Name != "DEMO-WEB" || len(doc.Application.Instances) != 1 {
			t.Errorf("GET %s = %+v", target, doc)
		}
	}
	for _, target := range []string{"/eureka/apps/demo-web/demo-1", "/eureka/instances/demo-1"} {
		if got := r.getJSON(target); !bytes.HasPrefix(got, []byte(`{"instance":{"instanceId":"demo-1",`)) {
			t.Errorf("GET %s = %s", target, got)
		}
	}
	for _, target := range []string{
		"/eureka/apps/none", "/eureka/apps/demo-web/DEMO-1", "/eureka/instances/DEMO-1", "/eureka/apps/ALL_APPS",
		"/eureka/nothing", "/", "/eureka/statuses", "/eureka/lastn", "/eureka/peerreplication", "/metrics", "/debug/pprof/", "/env",
	} {
		r.want(http.StatusNotFound, http.MethodGet, target)
	}
	r.want(http.StatusNotFound, http.MethodPost, "/eureka/peerreplication/batch/")
	r.want(http.StatusOK, http.MethodPut, "/eureka/asg/demo-v003/status?value=ENABLED")
}

func TestReads_ofOneShowTheLiveLease(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("DEMO", "demo-1", "UP", 1000)
	r.getJSON("/eureka/apps")
	r.clock.advance(20 * time.Second)
	r.want(http.StatusOK, http.MethodPut, "/eureka/apps/DEMO/demo-1")
	want := fmt.Sprintf(`"lastRenewalTimestamp":%d`, r.clock.Now().UnixMilli())
	if got := r.getJSON("/eureka/apps/DEMO/demo-1"); !bytes.Contains(got, []byte(want)) {
		t.Errorf("the lease is not live: %s lacks %s", got, want)
	}
}

func TestReads_answerHeadLikeGetWithoutBody(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("DEMO", "demo-1", "UP", 1000)
	for _, target := range []string{"/eureka/apps", "/eureka/apps/delta", "/eureka/apps/DEMO", "/eureka/apps/DEMO/demo-1", "/eureka/vips/demo", "/eureka/apps/none"} {
		full, head := r.do(http.MethodGet, target, ""), r.do(http.MethodHead, target, "")
		if head.Code != full.Code || head.Body.Len() != 0 || head.Header().Get("Content-Length") != full.Header().Get("Content-Length") {
			t.Errorf("HEAD %s = %d with %d bytes and %v, GET has %d and %v", target, head.Code, head.Body.Len(), head.Header(), full.Code, full.Header())
		}
	}
}

func TestMethods_thatDoNothingAreNotAllowed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	tests := map[string]struct{ method, target, allow string }{
		"delete all":          {http.MethodDelete, "/eureka/apps", "GET, HEAD"},
		"delete an app":       {http.MethodDelete, "/eureka/apps/DEMO", "GET, HEAD, POST"},
		"post an instance":    {http.MethodPost, "/eureka/apps/DEMO/a", "GET, HEAD, PUT, DELETE"},
		"get a status":        {http.MethodGet, "/eureka/apps/DEMO/a/status", "PUT, DELETE"},
		"delete metadata":     {http.MethodDelete, "/eureka/apps/DEMO/a/metadata", "PUT"},
		"options":             {http.MethodOptions, "/eureka/apps", "GET, HEAD"},
		"a method of its own": {"BREW", "/eureka/vips/demo", "GET, HEAD"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := r.in(t).do(tc.method, tc.target, "")
			if rec.Code != http.StatusMethodNotAllowed || rec.Body.Len() != 0 || rec.Header().Get("Allow") != tc.allow {
				t.Errorf("%s %s = %d %q, Allow %q, want 405, no body, %q", tc.method, tc.target, rec.Code, rec.Body, rec.Header().Get("Allow"), tc.allow)
			}
		})
	}
}

func TestDelta_appCalledDeltaCanRegister(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("delta", "a", "UP", 1)
	r.want(http.StatusOK, http.MethodPut, "/eureka/apps/delta/a")
	if got := r.list("/eureka/apps").names(); !cmp.Equal(got, []string{"DELTA: a"}) {
		t.Errorf("apps = %q", got)
	}
}

func TestGzip_onlyWhereItIsWantedAndWorthIt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill(20, 20)
	tests := map[string]struct {
		target, accept, agent string
		want                  string
	}{
		"full":              {"/eureka/apps", "gzip", "", "gzip"},
		"among others":      {"/eureka/apps", "deflate, gzip;q=0.5, br", "", "gzip"},
		"in upper case":     {"/eureka/apps", "GZIP", "", "gzip"},
		"old name":          {"/eureka/apps", "x-gzip", "", "gzip"},
		"delta":             {"/eureka/apps/delta", "gzip", "", "gzip"},
		"app":               {"/eureka/apps/APP-0000", "gzip", "", "gzip"},
		"vip":               {"/eureka/vips/app-0000", "gzip", "", "gzip"},
		"not asked":         {"/eureka/apps", "", "", ""},
		"identity":          {"/eureka/apps", "identity", "", ""},
		"wildcard":          {"/eureka/apps", "*", "", ""},
		"forbidden":         {"/eureka/apps", "gzip;q=0", "", ""},
		"forbidden exactly": {"/eureka/apps", "gzip; q=0.000", "", ""},
		"another coding":    {"/eureka/apps", "gzipped", "", ""},
		"peer":              {"/eureka/apps", "gzip", "Java-EurekaClient-Replication/v1.10.17", ""},
		"instance":          {"/eureka/apps/APP-0000/pod-00000:app:8080", "gzip", "", ""},
		"empty vip":         {"/eureka/vips/none", "gzip", "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := r.in(t)
			rec := r.do(http.MethodGet, tc.target, "", "Accept", "application/json", "Accept-Encoding", tc.accept, "User-Agent", tc.agent)
			if got := rec.Header().Get("Content-Encoding"); got != tc.want {
				t.Fatalf("Content-Encoding = %q, want %q", got, tc.want)
			}
			if got := rec.Header().Get("Vary"); got != "Accept, Accept-Encoding, X-Eureka-Accept" {
				t.Errorf("Vary = %q", got)
			}
			if got, want := rec.Header().Get("Content-Length"), strconv.Itoa(rec.Body.Len()); got != want {
				t.Errorf("Content-Length = %s, want %s", got, want)
			}
			text := rec.Body.Bytes()
			if tc.want == "gzip" {
				text = gunzip(t, text)
			}
			if !bytes.Equal(text, r.getJSON(tc.target)) {
				t.Errorf("the packed body differs from the plain one")
			}
		})
	}
}

func TestEmptyRegistry_isNeverPacked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, target := range []string{"/eureka/apps", "/eureka/apps/delta"} {
		rec := r.do(http.MethodGet, target, "", "Accept-Encoding", "gzip")
		if rec.Header().Get("Content-Encoding") != "" {
			t.Errorf("GET %s of an empty registry is packed", target)
		}
	}
}

func TestXML_isWellFormedWhateverIsRegistered(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	rec := record("DEMO", "a")
	rec.Metadata = []registry.Pair{{Key: "2nd key", Value: "<&>\"'\x00"}, {Key: "a$b_c:d/e", Value: "x"}, {Key: "\xff", Value: "\xff"}}
	r.engine.Register(r.clock.Now(), registry.Caller{}, rec, registry.Binding{})
	for _, target := range []string{"/eureka/apps", "/eureka/apps/delta", "/eureka/apps/DEMO", "/eureka/apps/DEMO/a", "/eureka/vips/demo"} {
		answer := r.do(http.MethodGet, target, "")
		if answer.Header().Get("Content-Type") != "application/xml" {
			t.Errorf("GET %s has Content-Type %q", target, answer.Header().Get("Content-Type"))
		}
		dec := xml.NewDecoder(answer.Body)
		for {
			if _, err := dec.Token(); err != nil {
				if err.Error() != "EOF" {
					t.Errorf("GET %s is not well-formed: %v", target, err)
				}
				break
			}
		}
	}
}

func TestGate_holdsBackListsAndNothingElse(t *testing.T) {
	t.Parallel()
	open := false
	r := newRig(t, func(o *Options) { o.Gate = func(time.Time) bool { return open } })
	r.register("DEMO", "demo-1", "UP", 1000)
	r.register("delta", "a", "UP", 1000)
	lists := []string{"/eureka/apps", "/eureka/apps/", "/eureka/apps/delta", "/eureka/apps/DEMO", "/eureka/vips/demo", "/eureka/svips/demo-s"}
	for _, target := range lists {
		rec := r.do(http.MethodGet, target, "", "Accept", "application/json")
		if rec.Code != http.StatusServiceUnavailable || rec.Body.Len() != 0 || rec.Header().Get("Retry-After") == "" {
			t.Errorf("GET %s = %d %q %v, want an empty 503 with Retry-After", target, rec.Code, rec.Body, rec.Header())
		}
	}
	r.show()
	r.getJSON("/eureka/instances/demo-1")
	r.want(200, http.MethodPut, "/eureka/apps/DEMO/demo-1")
	r.want(200, http.MethodPut, "/eureka/apps/DEMO/demo-1/status?value=DOWN")
	r.want(200, http.MethodDelete, "/eureka/apps/DEMO/demo-1/status")
	r.want(200, http.MethodPut, "/eureka/apps/DEMO/demo-1/metadata?a=1")
	r.want(200, http.MethodDelete, "/eureka/apps/DEMO/demo-1")
	open = true
	for _, target := range lists {
		if code := r.do(http.MethodGet, target, "").Code; code == http.StatusServiceUnavailable {
			t.Errorf("GET %s = 503 with the gate open", target)
		}
	}
}
