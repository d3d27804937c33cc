package server

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRouter_takesPathsApart(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		path string
		want route
	}{
		"list":                                {"/eureka/apps", route{to: toApps}},
		"list with a slash":                   {"/eureka/apps/", route{to: toApps}},
		"list with many slashes":              {"//eureka///apps//", route{to: toApps}},
		"version 2":                           {"/eureka/v2/apps", route{to: toApps}},
		"version in upper case":               {"/eureka/V2/apps", route{to: toApps}},
		"version 1":                           {"/eureka/v1/apps", route{to: toApps}},
		"version at the root":                 {"/v2/apps", route{to: toApps}},
		"root":                                {"/apps", route{to: toApps}},
		"discovery":                           {"/discovery/v2/apps", route{to: toApps}},
		"base that ends in a blank":           {"/eureka/v2%20/apps", route{to: toApps}},
		"unknown base":                        {"/other/apps", route{}},
		"base only":                           {"/eureka", route{}},
		"nothing":                             {"/", route{}},
		"no path at all":                      {"", route{}},
		"resource in upper case":              {"/eureka/APPS", route{}},
		"batch":                               {"/eureka/peerreplication/batch/", route{to: toBatch}},
		"batch with more":                     {"/eureka/peerreplication/batch/x", route{}},
		"status of the server":                {"/eureka/status", route{to: toServerStatus}},
		"status of the server with more":      {"/eureka/status/x", route{}},
		"delta":                               {"/eureka/apps/delta", route{to: toDelta, app: "DELTA"}},
		"delta with a slash":                  {"/eureka/apps//delta/", route{to: toDelta, app: "DELTA"}},
		"application called delta":            {"/eureka/apps/DELTA", route{to: toApp, app: "DELTA"}},
		"instance of an application delta":    {"/eureka/apps/delta/a", route{to: toInstance, app: "DELTA", id: "a"}},
		"application":                         {"/eureka/apps/demo", route{to: toApp, app: "DEMO"}},
		"application called apps":             {"/apps/apps", route{to: toApp, app: "APPS"}},
		"application with an escape":          {"/apps/a%2Fb", route{to: toApp, app: "A/B"}},
		"instance":                            {"/eureka/apps/demo/pod-a:demo:8080", route{to: toInstance, app: "DEMO", id: "pod-a:demo:8080"}},
		"escaped colon":                       {"/eureka/apps/demo/pod-a%3Ademo%3a8080", route{to: toInstance, app: "DEMO", id: "pod-a:demo:8080"}},
		"slashes before the id":               {"/eureka/apps//demo//a", route{to: toInstance, app: "DEMO", id: "a"}},
		"one slash after the id":              {"/eureka/apps/demo/a/", route{to: toInstance, app: "DEMO", id: "a"}},
		"two slashes after the id":            {"/eureka/apps/demo/a//", route{to: toInstance, app: "DEMO", id: "a/"}},
		"raw slash in the id":                 {"/eureka/apps/demo/demo/192.0.2.11:8080", route{to: toInstance, app: "DEMO", id: "demo/192.0.2.11:8080"}},
		"raw URL as the id":                   {"/eureka/apps/demo/http://192.0.2.10:8080", route{to: toInstance, app: "DEMO", id: "http://192.0.2.10:8080"}},
		"escaped URL as the id":               {"/eureka/apps/demo/http%3A%2F%2F192.0.2.10%3A8080", route{to: toInstance, app: "DEMO", id: "http://192.0.2.10:8080"}},
		"escaped slash after the id":          {"/eureka/apps/demo/a%2F", route{to: toInstance, app: "DEMO", id: "a/"}},
		"escaped percent":                     {"/eureka/apps/demo/zone%252Fa", route{to: toInstance, app: "DEMO", id: "zone%2Fa"}},
		"no escape":                           {"/eureka/apps/demo/100%", route{to: toInstance, app: "DEMO", id: "100%"}},
		"plus is a plus":                      {"/eureka/apps/demo/a+b", route{to: toInstance, app: "DEMO", id: "a+b"}},
		"blank":                               {"/eureka/apps/demo/local%20host", route{to: toInstance, app: "DEMO", id: "local host"}},
		"dots are no navigation":              {"/eureka/apps/demo/../a", route{to: toInstance, app: "DEMO", id: "../a"}},
		"status":                              {"/eureka/apps/demo/a/status", route{to: toStatus, app: "DEMO", id: "a"}},
		"status with a slash":                 {"/eureka/apps/demo/a/status/", route{to: toStatus, app: "DEMO", id: "a"}},
		"status of a URL":                     {"/eureka/apps/demo/http://h:1/x/status", route{to: toStatus, app: "DEMO", id: "http://h:1/x"}},
		"instance called status":              {"/eureka/apps/demo/status", route{to: toInstance, app: "DEMO", id: "status"}},
		"status of an instance called status": {"/eureka/apps/demo/status/status", route{to: toStatus, app: "DEMO", id: "status"}},
		"escaped status belongs to the id":    {"/eureka/apps/demo/a%2Fstatus", route{to: toInstance, app: "DEMO", id: "a/status"}},
		"metadata":                            {"/eureka/apps/demo/a/metadata", route{to: toMetadata, app: "DEMO", id: "a"}},
		"id":                                  {"/eureka/instances/a%2Fb", route{to: toInstanceByID, id: "a/b"}},
		"id with raw slashes":                 {"/eureka/instances/http://h:1", route{to: toInstanceByID, id: "http://h:1"}},
		"no id":                               {"/eureka/instances/", route{}},
		"vip":                                 {"/eureka/vips/Demo-A", route{to: toVIP, id: "Demo-A"}},
		"secure vip":                          {"/eureka/svips/demo:8080/", route{to: toSecureVIP, id: "demo:8080"}},
		"no vip":                              {"/eureka/vips", route{}},
		"scaling group":                       {"/eureka/asg/demo-v003/status", route{to: toASG, id: "demo-v003/status"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := newRouter(nil).match(tc.path)
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(route{})); diff != "" {
				t.Errorf("match(%q) differs (-want +got):\n%s", tc.path, diff)
			}
		})
	}
}

func TestRouter_servesOnlyItsPrefixes(t *testing.T) {
	t.Parallel()
	rt := newRouter([]string{"/ctx/eureka/"})
	if got := rt.match("/ctx/eureka/apps").to; got != toApps {
		t.Errorf("the configured prefix leads to %d, want apps", got)
	}
	if got := rt.match("/eureka/apps").to; got != toNothing {
		t.Errorf("another prefix leads to %d, want unknown", got)
	}
}

// Whatever the path, the answer is no redirect, has no body unless it is a
// document, and an escaped id comes back as it was.
func FuzzRouter(f *testing.F) {
	for _, seed := range []string{
		"/eureka/apps", "//eureka//apps//", "/eureka/apps/demo/a%2Fb", "/apps/demo/http://h:1//status", "/vips/%25", "/..%2f..%2f",
		"/eureka/apps/demo/%", "/eureka/apps/\xff/\x00", "*", "",
	} {
		f.Add(seed)
	}
	for _, requests := range recordedRequests(f) {
		for _, req := range requests {
			f.Add(req.URI)
		}
	}
	r := newRig(f)
	f.Fuzz(func(t *testing.T, text string) {
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete, http.MethodPatch} {
			w := &discard{header: http.Header{}}
			r.handler.ServeHTTP(w, &http.Request{Method: method, URL: &url.URL{Path: text, RawPath: text}, Header: http.Header{}, RequestURI: "/"})
			if w.code >= 300 && w.code < 400 || w.code != http.StatusOK && w.n > 0 {
				t.Errorf("%s %q = %d with %d bytes", method, text, w.code, w.n)
			}
		}
		id := strings.Trim(text, "/")
		if id == "" {
			return
		}
		got := r.server.router.match("/eureka/apps/demo/" + url.PathEscape(text))
		if want := (route{to: toInstance, app: "DEMO", id: text}); got != want {
			t.Errorf("the path of id %q leads to %+v", text, got)
		}
	})
}
