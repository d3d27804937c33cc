package dashboard_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/consumers"
	"github.com/kureka/kureka/internal/dashboard"
	"github.com/kureka/kureka/internal/registry"
)

// browse asks as a browser does.
func browse(tb testing.TB, h http.Handler, target string) *httptest.ResponseRecorder {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), http.MethodGet, target, http.NoBody)
	r.Header.Set("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// registryOf lists the records, outside pods.
func registryOf(records ...*registry.Record) http.Handler {
	engine := registry.New(noon, registry.Options{})
	c := cluster.New(engine, cluster.Options{})
	for _, r := range records {
		c.Register(noon, netip.Addr{}, r)
	}
	return dashboard.New(dashboard.Options{
		View: c, Registry: engine, Consumers: consumers.New(engine.Snapshot(), consumers.Options{}), Clock: func() time.Time { return noon.Add(time.Second) },
	})
}

func fleet(n, groups int) []*registry.Record {
	out := make([]*registry.Record, 0, n)
	for i := range n {
		out = append(out, &registry.Record{App: fmt.Sprintf("APP-%02d", i%groups), ID: fmt.Sprintf("i-%04d", i), HostName: "host", IPAddr: "192.0.2.1", Status: registry.Up})
	}
	return out
}

func TestTheRootAndTheOwnPathsAreAnsweredAndNothingOfTheAPI(t *testing.T) {
	tests := []struct {
		method, target string
		want           bool
	}{
		{http.MethodGet, "/", true},
		{http.MethodHead, "/", true},
		{http.MethodGet, "/?q=a", true},
		{http.MethodPost, "/", false},
		{http.MethodGet, "//", false},
		{http.MethodGet, "/apps", false},
		{http.MethodGet, "/eureka/apps", false},
		{http.MethodGet, "/kureka/ui", false},
		{http.MethodGet, "/kureka/ui/changes", true},
		{http.MethodGet, "/lastn", true},
		{http.MethodGet, "/kureka/v1/view", true},
		{http.MethodGet, "/kureka/v1/drain/token", true},
	}
	for _, tc := range tests {
		r := httptest.NewRequestWithContext(t.Context(), tc.method, tc.target, http.NoBody)
		if got := dashboard.Answers(r); got != tc.want {
			t.Errorf("%s %s: answered by the dashboard: %v, want %v", tc.method, tc.target, got, tc.want)
		}
	}
}

func TestWhoCameAndWhoLeftIsAPageForWhoAsksForHTMLOnly(t *testing.T) {
	h := incident(t)
	for accept, want := range map[string]string{
		"":                                     "application/json",
		"*/*":                                  "application/json",
		"application/json":                     "application/json",
		"application/xml, text/xml;q=0.9":      "application/json",
		"text/html;q=0":                        "application/json",
		"text/html;q=0.0, */*":                 "application/json",
		"text/htmlx":                           "application/json",
		"text/html":                            "text/html",
		"application/xhtml+xml, TEXT/HTML;q=1": "text/html",
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/lastn", http.NoBody)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Header().Get("Content-Type"); !strings.HasPrefix(got, want) {
			t.Errorf("Accept %q: answered as %s, want %s", accept, got, want)
		}
	}
	if w := browse(t, h, "/lastn"); !strings.Contains(w.Body.String(), "Last 1,000 cancelled leases") {
		t.Errorf("a browser gets %s", w.Body)
	}
	if _, doc := get(t, h, "/lastn"); doc["registered"] == nil {
		t.Error("others do not get JSON")
	}
}

func TestEveryPageIsProtected(t *testing.T) {
	h := incident(t)
	for _, target := range []string{
		"/", "/lastn", "/kureka/ui/", "/kureka/ui/changes", "/kureka/ui/observe", "/kureka/ui/consumers", "/kureka/ui/cluster", "/kureka/ui/lastn",
		"/kureka/ui/instance?app=DEMO&id=c", "/kureka/ui/instance?app=none&id=none", "/kureka/ui/none", "/kureka/ui/assets/style.css", "/kureka/ui/assets/none",
	} {
		w := browse(t, h, target)
		got := map[string]string{}
		for _, name := range []string{"Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy"} {
			got[name] = w.Header().Get(name)
		}
		if diff := cmp.Diff(map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
			"X-Content-Type-Options":  "nosniff",
			"Referrer-Policy":         "no-referrer",
		}, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", target, diff)
		}
		if w.Code >= 500 || strings.Contains(w.Body.String(), "<script>") || strings.Contains(w.Body.String(), " style=") {
			t.Errorf("%s: %d, or a script or style inside", target, w.Code)
		}
	}
}

func TestPagesOnlyRead(t *testing.T) {
	w := httptest.NewRecorder()
	registryOf().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/kureka/ui/changes", http.NoBody))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("%d, Allow %q", w.Code, w.Header().Get("Allow"))
	}
}

func TestNamesFromClientsStayText(t *testing.T) {
	image, script := `"><img src=x onerror=alert(1)>`, `</script><script>alert(1)</script>`
	hostile := &registry.Record{
		App: strings.ToUpper(image), ID: script, HostName: image, IPAddr: script, VIP: image, Status: registry.Up,
		HomePageURL: "javascript:alert(1)", StatusPageURL: "data:text/html,x", HealthCheckURL: "http://192.0.2.1/\"onclick=alert(1)",
		Metadata: []registry.Pair{{Key: script, Value: image}},
	}
	h := registryOf(hostile)
	page := "/kureka/ui/instance?" + url.Values{"app": {hostile.App}, "id": {script}}.Encode()
	for _, target := range []string{
		"/", "/?view=instances", "/lastn", page, "/?q=" + url.QueryEscape(image), "/?app=" + url.QueryEscape(image) + "&reason=" + url.QueryEscape(script),
		"/kureka/ui/changes?id=" + url.QueryEscape(image), "/kureka/ui/observe?since=" + url.QueryEscape(script),
	} {
		body := browse(t, h, target).Body.String()
		if strings.Contains(strings.ToLower(body), "<img src=x") || strings.Contains(body, "<script>") || regexp.MustCompile(`(?i)href="?(javascript|data):`).MatchString(body) ||
			regexp.MustCompile(`(?i)"\s*onclick=`).MatchString(body) {
			t.Errorf("%s holds markup of a client", target)
		}
	}
	body := browse(t, h, page).Body.String()
	if !strings.Contains(body, "javascript:alert(1)") || !strings.Contains(body, `href="http://192.0.2.1/%22onclick=alert%281%29"`) && !strings.Contains(body, `href="http://192.0.2.1/%22onclick=alert(1)"`) {
		t.Errorf("what is no link of the web is not shown as text, or what is one is not linked:\n%s", body)
	}
}

func TestPagesOfTheListAreBounded(t *testing.T) {
	h := registryOf(fleet(450, 3)...)
	tests := map[string]string{
		"/?view=instances":                           "450 instances, 1 to 200 shown",
		"/?view=instances&page=2":                    "450 instances, 201 to 400 shown",
		"/?view=instances&page=3":                    "450 instances, 401 to 450 shown",
		"/?view=instances&page=999999":               "450 instances, 401 to 450 shown",
		"/?view=instances&page=-1":                   "450 instances, 1 to 200 shown",
		"/?view=instances&page=99999999999999999999": "450 instances, 1 to 200 shown",
		"/":                                   "3 applications, 450 instances",
		"/?app=app-01":                        "150 instances match",
		"/?q=I-0007":                          "1 instances match",
		"/?q=nothing":                         "0 instances match",
		"/?status=down":                       "0 instances match",
		"/?status=nonsense":                   "3 applications, 450 instances",
		"/?namespace=-":                       "450 instances match",
		"/?namespace=shop":                    "0 instances match",
		"/?app=APP-02&view=applications":      "1 applications, 150 instances match",
		"/?q=" + strings.Repeat("i", 100_000): "0 instances match",
	}
	for target, want := range tests {
		body := browse(t, h, target).Body.String()
		if !strings.Contains(body, `<p class="count">`+want) {
			t.Errorf("%.60s: %q, want %q", target, regexp.MustCompile(`<p class="count">[^<]*`).FindString(body), want)
		}
		if rows := strings.Count(body, "<tr data-key"); rows > 200 {
			t.Errorf("%.60s shows %d rows", target, rows)
		}
	}
}

func TestThePageNeedsNoScript(t *testing.T) {
	body := browse(t, incident(t), "/").Body.String()
	for _, want := range []string{
		"System status", "Renews threshold", "Renews (last min)", "Self-preservation by namespace", "Instances currently registered", "Last registered", "Last cancelled",
		"OUT_OF_SERVICE", "Pod deleting", `method="get"`, `href="#content"`, "Pod gone",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestTheInstancePageTellsWhy(t *testing.T) {
	h := incident(t)
	tests := map[string]struct {
		code int
		want []string
	}{
		"app=demo&id=" + url.QueryEscape(oddID): {http.StatusOK, []string{"OUT_OF_SERVICE", "Because of <b>PodDeleting</b>", "Its own end has begun", "ns/a", "taken-out", "<b>fires</b>", oddID}},
		"app=DEMO&id=b":                         {http.StatusNotFound, []string{"Not registered", "Pod gone", "Proof: it is certainly gone", "<b>PodGone</b>", "removed"}},
		"app=VM&id=v":                           {http.StatusOK, []string{"none: No pod owns address", "The cluster has nothing against it"}},
		"app=LEFT&id=l":                         {http.StatusNotFound, []string{"Not registered", "Cancelled"}},
		"app=NONE&id=never":                     {http.StatusNotFound, []string{"Nothing is remembered of its end"}},
		"":                                      {http.StatusNotFound, []string{"Not registered"}},
	}
	for query, tc := range tests {
		w := browse(t, h, "/kureka/ui/instance?"+query)
		if w.Code != tc.code {
			t.Errorf("%s: %d, want %d", query, w.Code, tc.code)
		}
		for _, want := range tc.want {
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s lacks %q", query, want)
			}
		}
	}
}

func TestReportsShowWhatTheAPITells(t *testing.T) {
	tests := []struct {
		h      http.Handler
		target string
		want   []string
	}{
		{incident(t), "changes", []string{"PodGone", "PodDeleting", "removed"}},
		{incident(t), "changes?reason=podgone", []string{"1 changes"}},
		{incident(t), "consumers", []string{"ns/c", "Java-EurekaClient/v2.0.4", "after 10.0 s"}},
		{incident(t), "cluster", []string{"Watches", "pods", "outside pods", "no: nothing is inferred"}},
		{trial(t), "observe", []string{"would-remove"}},
		{trial(t), "observe?since=nonsense", []string{"Write how long ago"}},
		{registryOf(), "cluster", []string{"No cluster is watched"}},
	}
	for _, tc := range tests {
		body := browse(t, tc.h, "/kureka/ui/"+tc.target).Body.String()
		for _, want := range tc.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s lacks %q", tc.target, want)
			}
		}
	}
}

func TestEveryAssetIsThere(t *testing.T) {
	h := registryOf()
	page := browse(t, h, "/").Body.String()
	for name, kind := range map[string]string{"style.css": "text/css; charset=utf-8", "dashboard.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml"} {
		address := regexp.MustCompile(`/kureka/ui/assets/` + name + `\?v=[0-9a-f]{12}`).FindString(page)
		w := browse(t, h, address)
		if address == "" || w.Code != http.StatusOK || w.Header().Get("Content-Type") != kind || w.Body.Len() == 0 {
			t.Errorf("%s at %q: %d %v", name, address, w.Code, w.Header())
		}
	}
}
