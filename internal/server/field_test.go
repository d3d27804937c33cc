package server

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// More of what went wrong in the field, see cases_test.go.

func TestR09_outOfServiceAtTheStartIsOverWithTheNextReport(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("DEMO", "demo-1", "OUT_OF_SERVICE", 1000)
	r.register("DEMO", "demo-1", "UP", 2000)
	r.want(200, http.MethodPut, "/eureka/apps/DEMO/demo-1?status=UP&lastDirtyTimestamp=2000")
	if got := r.show(); got.Status != "UP" || got.Overridden != "UNKNOWN" {
		t.Errorf("shown as %+v", got)
	}
}

func TestR10_clearingAnOverrideRestoresTheClient(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("DEMO", "demo-1", "UP", 1000)
	r.want(200, http.MethodPut, "/eureka/apps/DEMO/demo-1/status?value=OUT_OF_SERVICE")
	r.want(200, http.MethodDelete, "/eureka/apps/DEMO/demo-1/status")
	r.want(200, http.MethodPut, "/eureka/apps/DEMO/demo-1?status=UP&lastDirtyTimestamp=1000")
	if got := r.show(); got.Status != "UP" || got.Dirty != "1000" {
		t.Errorf("shown as %+v", got)
	}
}

// R15 is TestConcurrent_documentsAgreeWithThemselves, R20 the scenario
// heal-starting of the registry, R85 TestGzip_onlyWhereItIsWantedAndWorthIt.

func TestR16_metadataNamesSurviveXML(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const pairs = `{"build_id":"7","a$b":"x","2nd key":"y","user.name":"z","k:v":"<&>\"'","ctl":"a\u0000b"}`
	text := strings.Replace(body("DEMO", "demo-1", "UP", 1), `"vipAddress":"demo"`, `"metadata":`+pairs, 1)
	if rec := r.do(http.MethodPost, "/eureka/apps/DEMO", text); rec.Code != http.StatusNoContent {
		t.Fatalf("POST = %d %s", rec.Code, rec.Body)
	}
	asXML := r.do(http.MethodGet, "/eureka/apps/DEMO/demo-1", "").Body.String()
	if !strings.Contains(asXML, "<build__id>7</build__id>") {
		t.Errorf("XML: %s", asXML)
	}
	want := strings.Replace(string(r.getJSON("/eureka/apps/DEMO/demo-1")), `\u0000`, "", 1)
	again := newRig(t)
	if rec := again.do(http.MethodPost, "/eureka/apps/DEMO", asXML, "Content-Type", "application/xml"); rec.Code != http.StatusNoContent {
		t.Fatalf("POST of the XML = %d %s", rec.Code, rec.Body)
	}
	if diff := cmp.Diff(want, string(again.getJSON("/eureka/apps/DEMO/demo-1"))); diff != "" {
		t.Errorf("after JSON, XML, JSON (-want +got):\n%s", diff)
	}
}

func TestR45_negativePortsAreKeptAndImpossibleOnesNamed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	text := func(port string) string {
		return `{"instance":{"instanceId":"demo-neg","hostName":"localhost","app":"DEMO","ipAddr":"192.0.2.60","status":"UP","vipAddress":null,
			"port":{"$":` + port + `,"@enabled":"true"},"securePort":{"$":-1,"@enabled":"false"},"dataCenterInfo":{"name":"MyOwn"}}}`
	}
	if rec := r.do(http.MethodPost, "/eureka/apps/DEMO", text("8080")); rec.Code != http.StatusNoContent {
		t.Fatalf("POST = %d %s", rec.Code, rec.Body)
	}
	got := string(r.getJSON("/eureka/apps"))
	if !strings.Contains(got, `"securePort":{"$":-1,"@enabled":"false"}`) || strings.Contains(got, ":-1/") || !strings.Contains(got, `"hostName":"localhost"`) {
		t.Errorf("listed as %s", got)
	}
	for _, port := range []string{"70000", `"eighty"`} {
		if rec := r.do(http.MethodPost, "/eureka/apps/DEMO", text(port)); rec.Code != http.StatusBadRequest || !strings.Contains(rec.Body.String(), "port") {
			t.Errorf("port %s: %d %s", port, rec.Code, rec.Body)
		}
	}
}

func TestR54_aSuggestedStatusIsNotKept(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("DEMO", "demo-1", "UP", 1000)
	r.want(200, http.MethodPut, "/eureka/apps/DEMO/demo-1/status?value=OUT_OF_SERVICE")
	r.want(200, http.MethodDelete, "/eureka/apps/DEMO/demo-1/status?value=OUT_OF_SERVICE")
	r.want(200, http.MethodPut, "/eureka/apps/DEMO/demo-1?status=UP&lastDirtyTimestamp=1000")
	if got := r.show(); got.Status != "UP" || got.Overridden != "UNKNOWN" {
		t.Errorf("shown as %+v", got)
	}
}

// What the client wrote is what everybody reads, and what its next heartbeat
// finds (R66, R72).
func TestR72_idsAndHostNamesAreEchoedAsTheyCame(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, id := range []string{"192.0.2.10:8080", "Demo-1", "demo:demo-1:8080", "démo"} {
		r.register("DEMO", id, "UP", 1)
		r.want(200, http.MethodPut, "/eureka/apps/DEMO/"+strings.ReplaceAll(id, "é", "%C3%A9"))
		if got := string(r.getJSON("/eureka/apps")); !strings.Contains(got, `"instanceId":"`+id+`","hostName":"192.0.2.10"`) {
			t.Errorf("%s is listed in %s", id, got)
		}
		r.want(200, http.MethodDelete, "/eureka/apps/DEMO/"+strings.ReplaceAll(id, "é", "%C3%A9"))
	}
}

func TestR74_applicationsFoldCaseAndIDsDoNot(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.register("Demo-Web", "demo-1", "UP", 1000)
	for _, name := range []string{"demo-web", "DEMO-WEB", "Demo-Web"} {
		if got := string(r.getJSON("/eureka/apps/" + name)); !strings.HasPrefix(got, `{"application":{"name":"DEMO-WEB"`) {
			t.Errorf("%s = %s", name, got)
		}
	}
	r.want(404, http.MethodGet, "/eureka/apps/DEMO-WEB/DEMO-1")
	if rec := r.do(http.MethodPost, "/eureka/apps/OTHER", body("Demo-Web", "demo-1", "UP", 1)); rec.Code != http.StatusBadRequest ||
		rec.Body.String() != "Mismatched appName, expecting OTHER but was DEMO-WEB" {
		t.Errorf("another name in the path: %d %s", rec.Code, rec.Body)
	}
}

// Nothing that is registered makes the server call anybody, and nothing but the
// protocol is served (R79, R82).
func TestR79_registeredURLsAreNeverCalled(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	called := make(chan bool, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			_ = conn.Close() // it should not be there
		}
		called <- err == nil
	}()
	r := newRig(t)
	url := "http://" + l.Addr().String() + "/"
	text := strings.Replace(body("DEMO", "demo-ssrf", "UP", 1), `"vipAddress":"demo"`,
		`"homePageUrl":"`+url+`","statusPageUrl":"`+url+`","healthCheckUrl":"`+url+`","secureHealthCheckUrl":"`+url+`"`, 1)
	if rec := r.do(http.MethodPost, "/eureka/apps/DEMO", text); rec.Code != http.StatusNoContent {
		t.Fatalf("POST = %d %s", rec.Code, rec.Body)
	}
	for _, target := range []string{"/eureka/apps", "/eureka/apps/DEMO/demo-ssrf", "/eureka/status"} {
		r.do(http.MethodGet, target, "")
	}
	r.clock.advance(120 * time.Second)
	r.engine.Tick(r.clock.Now())
	for _, target := range []string{"/debug/pprof/", "/debug/vars", "/metrics", "/env", "/actuator/env", "/configz"} {
		r.want(404, http.MethodGet, target)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if <-called {
		t.Error("the server called an address from a registration")
	}
}
