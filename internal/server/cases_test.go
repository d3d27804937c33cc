package server

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The tests of this file are named after what went wrong in the field.

func TestR01_emptyRegistryIsAnEmptyArray(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const want = `{"applications":{"versions__delta":"1","apps__hashcode":"","application":[]}}`
	for _, target := range []string{"/eureka/apps", "/eureka/apps/"} {
		if got := string(r.getJSON(target)); got != want {
			t.Errorf("GET %s = %s, want %s", target, got, want)
		}
	}
	if got := string(r.getJSON("/eureka/apps/delta")); !strings.HasSuffix(got, `,"apps__hashcode":"","application":[]}}`) {
		t.Errorf("delta = %s", got)
	}
	r.register("DEMO", "demo-1", "UP", 1000)
	if got := string(r.getJSON("/eureka/apps/DEMO")); !strings.HasPrefix(got, `{"application":{"name":"DEMO","instance":[{`) {
		t.Errorf("one instance is no array: %s", got)
	}
	r.want(200, http.MethodDelete, "/eureka/apps/DEMO/demo-1")
	if got := string(r.getJSON("/eureka/apps")); got != want {
		t.Errorf("emptied registry = %s, want %s", got, want)
	}
}

func TestR02_cancelledInstanceLeavesTheDeltaAsUp(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("DEMO", "demo-1", "UP", 1000)
	r.want(200, http.MethodPut, "/eureka/apps/DEMO/demo-1/status?value=OUT_OF_SERVICE")
	inst := r.list("/eureka/apps/delta").Applications.Apps[0].Instances[0]
	if inst.Action != "MODIFIED" || inst.Status != "OUT_OF_SERVICE" {
		t.Errorf("taken out, the delta says %s %s", inst.Action, inst.Status)
	}
	r.want(200, http.MethodDelete, "/eureka/apps/DEMO/demo-1")
	doc := r.list("/eureka/apps/delta")
	inst = doc.Applications.Apps[0].Instances[0]
	if inst.Action != "DELETED" || inst.Status != "UP" || doc.Applications.Hash != "" || len(doc.Applications.Apps[0].Instances) != 1 {
		t.Errorf("cancelled, the delta says %+v", doc)
	}
}

func TestR03_deltaDeletesLastInsideAnApp(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, id := range []string{"old-1", "old-2", "old-3"} {
		r.register("DEMO", id, "UP", 1000)
	}
	client := newJavaClient()
	client.fetch(r)
	for _, id := range []string{"old-1", "old-2", "old-3"} {
		r.want(200, http.MethodDelete, "/eureka/apps/DEMO/"+id)
	}
	r.register("DEMO", "new-1", "UP", 2000)
	doc := r.list("/eureka/apps/delta")
	actions := make([]string, 0, 4)
	for _, inst := range doc.Applications.Apps[0].Instances {
		actions = append(actions, inst.Action)
	}
	if diff := cmp.Diff([]string{"ADDED", "DELETED", "DELETED", "DELETED"}, actions); diff != "" {
		t.Errorf("actions differ (-want +got):\n%s", diff)
	}
	client.fetch(r)
	if client.full != 1 || client.hash() != "UP_1_" {
		t.Errorf("the client fetched everything %d times and has %q", client.full, client.hash())
	}
}

func TestR04_doubledSlashesAreFoldedInPlace(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("DEMO", "demo-1", "UP", 1000)
	r.want(200, http.MethodPut, "/eureka//apps/DEMO/demo-1?status=UP")
	r.want(200, http.MethodPut, "/eureka/apps//DEMO/demo-1/?status=UP")
	r.want(200, http.MethodPut, "//apps/DEMO//demo-1")
	for _, target := range []string{"/eureka/apps", "/eureka//apps//", "/eureka/apps/DEMO/", "/eureka/apps/delta/"} {
		if code := r.do(http.MethodGet, target, "").Code; code != http.StatusOK {
			t.Errorf("GET %s = %d, want 200", target, code)
		}
	}
}

func TestR05_idsMayHoldAnything(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, id := range []string{"http://192.0.2.10:8080", "demo/192.0.2.11:8080", "zone%2Fa", "local host"} {
		r.register("DEMO", id, "UP", 1)
	}
	r.want(200, http.MethodPut, "/eureka/apps/DEMO/http%3A%2F%2F192.0.2.10%3A8080?status=UP")
	r.want(200, http.MethodPut, "/eureka/apps/DEMO/http://192.0.2.10:8080?status=UP")
	r.want(200, http.MethodPut, "/eureka/apps/DEMO/demo/192.0.2.11:8080?status=UP")
	r.want(200, http.MethodPut, "/eureka/apps/DEMO/demo/192.0.2.11:8080/status?value=DOWN")
	r.want(200, http.MethodPut, "/eureka/apps/DEMO/local%20host/metadata?a=1")
	r.want(200, http.MethodPut, "/eureka/apps/DEMO/local+host?status=UP") // a .NET client's blank
	r.register("DEMO", "local+host", "UP", 1)
	r.want(200, http.MethodDelete, "/eureka/apps/DEMO/local+host")
	r.want(404, http.MethodDelete, "/eureka/apps/DEMO/zone%2Fa")
	r.want(200, http.MethodDelete, "/eureka/apps/DEMO/zone%252Fa")
	r.want(200, http.MethodDelete, "/eureka/apps/DEMO/http%3A%2F%2F192.0.2.10%3A8080")
	r.want(404, http.MethodDelete, "/eureka/apps/DEMO/http://192.0.2.10:8080")
}

func TestR12_looseBodiesRegister(t *testing.T) {
	t.Parallel()
	const data = `"dataCenterInfo":{"name":"MyOwn"}`
	for name, members := range map[string]string{
		"zeros and texts": `"securePort":{"@enabled":false,"$":"0"},"port":{"@enabled":"","$":"6001"},"metadata":null,"leaseInfo":{"durationInSecs":0,"renewalIntervalInSecs":0},` + data,
		"bare port":       `"port":8080,` + data,
		"flag as a word":  `"port":{"$":8080,"enabled":true},` + data,
		"no port":         `"port":null,` + data,
		"odd metadata":    `"metadata":{"a":1,"b":true,"c":null,"d":{"e":[1]}},` + data,
		"negative port":   `"securePort":{"$":-1,"@enabled":"false"},"vipAddress":null,` + data,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			text := `{"instance":{"app":"DEMO","status":"UP","hostName":"demo-go","ipAddr":"192.0.2.20",` + members + `}}`
			if rec := r.do(http.MethodPost, "/eureka/apps/DEMO", text); rec.Code != http.StatusNoContent {
				t.Fatalf("POST = %d %s, want 204", rec.Code, rec.Body)
			}
			got := string(r.getJSON("/eureka/apps"))
			if !strings.Contains(got, `"leaseInfo":{"renewalIntervalInSecs":30,"durationInSecs":90,`) || strings.Contains(got, "null") {
				t.Errorf("listed as %s", got)
			}
		})
	}
}

func TestR14_unknownInstanceGetsAnEmpty404(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodGet} {
		rec := r.do(method, "/eureka/apps/DEMO/ghost?status=UP&lastDirtyTimestamp=1", "", "Accept", "application/json")
		if rec.Code != http.StatusNotFound || rec.Body.Len() != 0 || rec.Header().Get("Content-Type") != "" {
			t.Errorf("%s = %d %q %v, want an empty 404", method, rec.Code, rec.Body, rec.Header())
		}
	}
}

func TestR26_missingIDIsTheHostName(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	text := strings.Replace(body("DEMO", "gone", "UP", 1), `"instanceId":"gone",`, "", 1)
	if rec := r.do(http.MethodPost, "/eureka/apps/DEMO", text); rec.Code != http.StatusNoContent {
		t.Fatalf("POST = %d %s", rec.Code, rec.Body)
	}
	r.want(200, http.MethodPut, "/eureka/apps/DEMO/192.0.2.10")
	r.want(404, http.MethodPut, "/eureka/apps/DEMO/another")
}

func TestR32_acceptDecidesBySubstring(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("DEMO", "demo-1", "UP", 1000)
	for accept, want := range map[string]string{
		"": "application/xml", "*/*": "application/xml", "application/xml": "application/xml", "text/html, image/gif, *; q=.2": "application/xml",
		"application/json": "application/json", "text/html, application/json;q=0.1": "application/json", " application/vnd.demo+JSON": "application/json",
		"application/json;q=0.1, application/xml": "application/json", ";;;=": "application/xml",
	} {
		for _, target := range []string{"/eureka/apps", "/eureka/apps/delta", "/eureka/apps/DEMO", "/eureka/apps/DEMO/demo-1", "/eureka/instances/demo-1", "/eureka/vips/demo"} {
			rec := r.do(http.MethodGet, target, "", "Accept", accept, "Content-Type", "application/json")
			if got := rec.Header().Get("Content-Type"); rec.Code != http.StatusOK || got != want {
				t.Errorf("GET %s with Accept %q = %d %q, want 200 %q", target, accept, rec.Code, got, want)
			}
		}
	}
}

func TestCompact_listsSayLessAndSingleReadsDoNot(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("DEMO", "demo-1", "UP", 1000)
	for _, target := range []string{"/eureka/apps", "/eureka/apps/delta", "/eureka/apps/DEMO", "/eureka/vips/demo", "/eureka/svips/demo-s"} {
		full := string(r.getJSON(target))
		for value, compact := range map[string]bool{"compact": true, "Compact": true, "[compact]": true, "full": false, "other": false} {
			for accept, want := range map[string]string{"application/json": `"hostName":"192.0.2.10"`, "": "<hostName>192.0.2.10</hostName>"} {
				rec := r.do(http.MethodGet, target, "", "Accept", accept, "X-Eureka-Accept", value)
				got := rec.Body.String()
				if rec.Code != http.StatusOK || !strings.Contains(got, want) || strings.Contains(got, "leaseInfo") == compact {
					t.Errorf("GET %s with %q and Accept %q = %d %s", target, value, accept, rec.Code, got)
				}
				if accept != "" && !compact && got != full {
					t.Errorf("GET %s with %q = %s, want %s", target, value, got, full)
				}
				if !strings.Contains(rec.Header().Get("Vary"), "X-Eureka-Accept") {
					t.Errorf("GET %s varies with %q", target, rec.Header().Get("Vary"))
				}
			}
		}
	}
	got := r.do(http.MethodGet, "/eureka/apps/DEMO/demo-1", "", "Accept", "application/json", "X-Eureka-Accept", "compact").Body.String()
	if got != string(r.getJSON("/eureka/apps/DEMO/demo-1")) {
		t.Errorf("one instance in compact form = %s", got)
	}
}

func TestR33_noAnswerHoldsNull(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.do(http.MethodPost, "/eureka/apps/DEMO", strings.Replace(body("DEMO", "a", "UP", 1), `"vipAddress":"demo"`, `"vipAddress":null,"homePageUrl":null`, 1))
	for _, target := range []string{"/eureka/apps", "/eureka/apps/delta", "/eureka/apps/DEMO/a"} {
		if got := r.getJSON(target); regexp.MustCompile(`:null\b`).Match(got) {
			t.Errorf("GET %s = %s", target, got)
		}
	}
}

func TestR49_compressedBodyCannotExpand(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	rec := r.do(http.MethodPost, "/eureka/apps/DEMO", zip(t, strings.Repeat("\x00", 4<<20)), "Content-Encoding", "gzip")
	if rec.Code != http.StatusRequestEntityTooLarge || rec.Body.Len() != 0 {
		t.Errorf("POST = %d %q, want an empty 413", rec.Code, rec.Body)
	}
}

func TestR51_restartIsHealedByRegistering(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.want(404, http.MethodPut, "/eureka/apps/DEMO/demo-1?status=UP&lastDirtyTimestamp=1000")
	r.register("DEMO", "demo-1", "UP", 1000)
	r.want(200, http.MethodPut, "/eureka/apps/DEMO/demo-1?status=UP&lastDirtyTimestamp=1000")
}

func TestR69_everyReadShowsTheLastWrite(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	targets := []string{"/eureka/apps", "/eureka/apps/delta", "/eureka/apps/DEMO", "/eureka/apps/DEMO/demo-1", "/eureka/vips/demo"}
	r.register("DEMO", "demo-1", "UP", 1000)
	for i := range 200 {
		want := []string{"OUT_OF_SERVICE", "DOWN"}[i%2]
		r.want(200, http.MethodPut, "/eureka/apps/DEMO/demo-1/status?value="+want)
		if got := string(r.getJSON(targets[i%len(targets)])); !strings.Contains(got, `"status":"`+want+`"`) {
			t.Fatalf("GET %s after writing %s = %s", targets[i%len(targets)], want, got)
		}
	}
}

func TestR76_vipListsAreSplitAndEmptyOnesAreSuccesses(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.do(http.MethodPost, "/eureka/apps/DEMO", strings.Replace(body("DEMO", "demo-1", "UP", 1), `"vipAddress":"demo"`, `"vipAddress":"Demo-A,demo-b:8080"`, 1))
	for _, name := range []string{"Demo-A", "demo-b:8080", "demo-b%3A8080"} {
		if got := r.list("/eureka/vips/" + name).names(); !cmp.Equal(got, []string{"DEMO: demo-1"}) {
			t.Errorf("vip %s = %q", name, got)
		}
	}
	r.want(200, http.MethodDelete, "/eureka/apps/DEMO/demo-1")
	if got := string(r.getJSON("/eureka/vips/Demo-A")); got != `{"applications":{"versions__delta":"-1","apps__hashcode":"","application":[]}}` {
		t.Errorf("emptied vip = %s", got)
	}
}

func TestR88_documentTypesAreRefusedWithoutEcho(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	rec := r.do(http.MethodPost, "/eureka/apps/DEMO", `<?xml version="1.0"?><!DOCTYPE i [<!ENTITY e SYSTEM "http://127.0.0.1:9999/x">]>
		<instance><instanceId>&e;</instanceId><hostName>demo</hostName><app>DEMO</app></instance>`, "Content-Type", "application/xml")
	if rec.Code != http.StatusBadRequest || rec.Body.String() != "<error><message>cannot parse request body</message></error>" {
		t.Errorf("POST = %d %s", rec.Code, rec.Body)
	}
}

func TestR89_webPagesCannotWrite(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("DEMO", "demo-1", "UP", 1000)
	for name, value := range map[string]string{"Origin": "http://demo.example", "Sec-Fetch-Site": "cross-site"} {
		if rec := r.do(http.MethodDelete, "/eureka/apps/DEMO/demo-1", "", name, value); rec.Code != http.StatusForbidden || rec.Body.Len() != 0 {
			t.Errorf("DELETE with %s = %d %q, want an empty 403", name, rec.Code, rec.Body)
		}
		rec := r.do(http.MethodGet, "/eureka/apps", "", name, value)
		if rec.Code != http.StatusOK || rec.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("GET with %s = %d %v", name, rec.Code, rec.Header())
		}
	}
}

func TestEmptyAnswers_areLabelledJSONIfThatWasAsked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for accept, want := range map[string]string{"application/json": "application/json", "": ""} {
		rec := r.do(http.MethodPost, "/apps/DEMO", body("DEMO", "a", "UP", 1), "Accept", accept)
		if got := rec.Header().Get("Content-Type"); got != want {
			t.Errorf("Content-Type of a 204 with Accept %q = %q, want %q", accept, got, want)
		}
	}
}

// The scalar types are what typed clients decode into; see the wire package for
// the goldens.
func TestR13_typesOfAnAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("DEMO", "demo-1", "UP", 1000)
	var doc struct {
		Applications struct {
			Version string `json:"versions__delta"`
			App     []struct {
				Instance []struct {
					Port struct {
						Number  float64 `json:"$"`
						Enabled string  `json:"@enabled"`
					} `json:"port"`
					Dirty string `json:"lastDirtyTimestamp"`
					Lease struct {
						Renewal float64 `json:"lastRenewalTimestamp"`
					} `json:"leaseInfo"`
				} `json:"instance"`
			} `json:"application"`
		} `json:"applications"`
	}
	if err := json.Unmarshal(r.getJSON("/eureka/apps"), &doc); err != nil {
		t.Fatal(err)
	}
	inst := doc.Applications.App[0].Instance[0]
	if doc.Applications.Version != "1" || inst.Port.Number != 8080 || inst.Port.Enabled != "true" || inst.Dirty != "1000" || inst.Lease.Renewal == 0 {
		t.Errorf("decoded %+v", doc)
	}
}
