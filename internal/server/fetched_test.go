package server

import (
	"net/http"
	"net/netip"
	"testing"
	"time"
)

func TestEveryListThatWasSentIsToldWithItsVersion(t *testing.T) {
	type fetch struct {
		src     netip.Addr
		agent   string
		version int64
	}
	var told []fetch
	open := true
	r := newRig(t, func(o *Options) {
		o.Gate = func(time.Time) bool { return open }
		o.Fetched = func(_ time.Time, src netip.Addr, agent string, version int64) {
			told = append(told, fetch{src, agent, version})
		}
	})
	r.register("DEMO", "a", "UP", 1)
	want := fetch{netip.MustParseAddr("192.0.2.1"), "client", r.engine.Snapshot().Version}
	for _, tc := range []struct {
		method, path string
		told         bool
	}{
		{http.MethodGet, "/eureka/apps", true},
		{http.MethodGet, "/eureka/apps/", true},
		{http.MethodGet, "/eureka/apps/delta", true},
		{http.MethodGet, "/eureka/apps/DEMO", true},
		{http.MethodGet, "/eureka/apps/EMPTIED", true}, // says that nobody is left
		{http.MethodGet, "/eureka/vips/demo", true},
		{http.MethodGet, "/eureka/svips/demo", true},
		{http.MethodHead, "/eureka/apps", false},
		{http.MethodHead, "/eureka/apps/EMPTIED", false},
		{http.MethodGet, "/eureka/apps/DEMO/a", false}, // one instance is no list
		{http.MethodGet, "/eureka/nothing", false},
		{http.MethodPut, "/eureka/apps/DEMO/a", false},
	} {
		told = nil
		r.do(tc.method, tc.path, "", "User-Agent", "client")
		if tc.told != (len(told) == 1) || tc.told && told[0] != want {
			t.Errorf("%s %s: told %+v", tc.method, tc.path, told)
		}
	}
	open, told = false, nil
	if r.do(http.MethodGet, "/eureka/apps", ""); len(told) > 0 {
		t.Errorf("a refused fetch is told: %+v", told)
	}
}
