package dashboard_test

import (
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/consumers"
	"github.com/kureka/kureka/internal/dashboard"
	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/internal/verdict"
)

// The page warns as that of a Eureka server does, and of what only Kureka knows.
func TestThePageWarns(t *testing.T) {
	off := verdict.DefaultPolicy()
	off.SelfPreservation = false
	tests := map[string]struct {
		policy  verdict.Policy
		silence time.Duration
		watches []dashboard.Watch
		lists   time.Duration
		want    []string
		not     string
	}{
		"all is well":              {policy: verdict.DefaultPolicy(), want: []string{"Healthy"}, not: `class="alert`},
		"renewals are missing":     {policy: verdict.DefaultPolicy(), silence: time.Minute, want: []string{"Emergency", "outside pods", "Renewals are missing"}, not: "Healthy"},
		"nobody is protected":      {policy: off, want: []string{"Self-preservation is turned off"}, not: "Emergency"},
		"nobody is, and it counts": {policy: off, silence: time.Minute, want: []string{"Renewals are below the threshold and self-preservation is turned off"}},
		"the cluster is not seen":  {policy: verdict.DefaultPolicy(), watches: []dashboard.Watch{{Resource: "nodes", Problem: "forbidden"}}, want: []string{"The cluster is not seen", "No evidence comes from: nodes"}},
		"lists are refused":        {policy: verdict.DefaultPolicy(), lists: time.Hour, want: []string{"Just started"}},
	}
	for name, tc := range tests {
		engine := registry.New(noon, registry.Options{})
		c := cluster.New(engine, cluster.Options{})
		c.SetPolicies(noon, tc.policy, nil)
		for i := range 10 {
			c.Register(noon, netip.Addr{}, &registry.Record{App: "VM", ID: strconv.Itoa(i), IPAddr: "203.0.113.1", LeaseDuration: time.Hour})
		}
		now := noon.Add(tc.silence)
		for at := noon; !at.After(now); at = at.Add(time.Second) {
			c.Tick(at)
		}
		opts := dashboard.Options{
			View: c, Registry: engine, Consumers: consumers.New(engine.Snapshot(), consumers.Options{}), Clock: func() time.Time { return now },
			ListsFrom: func() time.Time { return noon.Add(tc.lists) },
		}
		if tc.watches != nil {
			opts.Watches = func() []dashboard.Watch { return tc.watches }
		}
		body := browse(t, dashboard.New(opts), "/").Body.String()
		for _, want := range tc.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s: the page lacks %q", name, want)
			}
		}
		if tc.not != "" && strings.Contains(body, tc.not) {
			t.Errorf("%s: the page says %q", name, tc.not)
		}
	}
}
