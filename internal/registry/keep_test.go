package registry

import (
	"testing"
	"time"
)

func TestAHostNameOfTheBindingIsShownAndNotStored(t *testing.T) {
	tests := map[string]struct{ host, name, url, want string }{
		"with a port":         {"pod-1", "192.0.2.1", "http://pod-1:8080/x?y=pod-1", "http://192.0.2.1:8080/x?y=pod-1"},
		"without a port":      {"pod-1", "192.0.2.1", "https://POD-1", "https://192.0.2.1"},
		"an IPv6 address":     {"pod-1", "2001:db8::1", "http://pod-1:1/", "http://[2001:db8::1]:1/"},
		"of another host":     {"pod-1", "192.0.2.1", "http://pod-10/", "http://pod-10/"},
		"that is no URL":      {"pod-1", "192.0.2.1", "pod-1", "pod-1"},
		"of no host":          {"", "192.0.2.1", "http:///x", "http:///x"},
		"without a host name": {"pod-1", "", "http://pod-1/", "http://pod-1/"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(1_700_000_000, 0)
			e := New(now, Options{})
			rec := &Record{App: "A", ID: "1", HostName: tc.host, HomePageURL: tc.url}
			e.Register(now, Caller{}, rec, Binding{HostName: tc.name})
			shown := e.Snapshot().Get(rec.Key())
			want := tc.name
			if want == "" {
				want = tc.host
			}
			if shown.HostName != want || shown.HomePageURL != tc.want {
				t.Errorf("%s, %s; want %s, %s", shown.HostName, shown.HomePageURL, want, tc.want)
			}
			if rec.HostName != tc.host || rec.HomePageURL != tc.url {
				t.Errorf("the record became %+v", rec)
			}
			version := e.Snapshot().Version
			e.Rebind(now, rec.Key(), Binding{HostName: tc.name})
			if e.Snapshot().Version != version {
				t.Error("the same binding shows as a change")
			}
			e.Rebind(now, rec.Key(), Binding{})
			if shown := e.Snapshot().Get(rec.Key()); shown.HostName != tc.host || shown.HomePageURL != tc.url {
				t.Errorf("without the binding's name: %s, %s", shown.HostName, shown.HomePageURL)
			}
		})
	}
}

func TestKeep_isBoundedLikeRegistrations(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	e := New(now, Options{MaxInstances: 1})
	if got := e.Keep(now, &Record{App: "A", ID: "1"}, Binding{}); got != Done {
		t.Errorf("the first: %v", got)
	}
	if got := e.Keep(now, &Record{App: "A", ID: "2"}, Binding{}); got != Full {
		t.Errorf("one too many: %v", got)
	}
	if got := e.Keep(now, &Record{App: "A", ID: "1", VIP: "a"}, Binding{}); got != Done {
		t.Errorf("a change of the first: %v", got)
	}
}
