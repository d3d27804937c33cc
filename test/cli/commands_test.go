package cli

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kureka/kureka/test/rig/instance"
	"github.com/kureka/kureka/test/rig/stage"
)

// fetch has a pod fetch the registry some times, as a client in it does.
func (s *scene) fetch(p *stage.Pod, times int, every time.Duration) {
	s.t.Helper()
	source := p.Process().Config.Address.Addr().String()
	client := &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}}).DialContext}}
	for range times {
		req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.Operator.URL()+"/apps/delta", http.NoBody)
		s.must(err)
		req.Header.Set("User-Agent", "Java-EurekaClient/v2.0.4")
		resp, err := client.Do(req)
		s.must(err)
		s.must(resp.Body.Close())
		s.must(stage.Pass(s.t.Context(), every))
	}
}

func TestCommands_answerAboutALiveRegistry(t *testing.T) {
	s := begin(t, 2, 4, instance.Config{App: "shop", OnTerm: instance.Vanish})
	s.fetch(s.pods[0], 4, time.Second)
	_, err := s.pods[1].ForceDelete(t.Context())
	s.must(err)
	s.await(stage.Gone, s.pods[1])
	s.fetch(s.pods[0], 1, time.Second)
	tests := map[string]struct {
		args []string
		code int
		want []string
	}{
		"status":         {[]string{"status"}, 0, []string{"server ", "NAMESPACE", s.Namespace}},
		"instances":      {[]string{"instances", "--app", "shop", "-n", s.Namespace}, 0, []string{s.pods[0].ID, "UP", s.Nodes[0].Name}},
		"wide":           {[]string{"instances", "--app", "shop", "-o", "wide"}, 0, []string{"ADDRESS", "yes"}},
		"unbound":        {[]string{"instances", "--app", "shop", "--unbound"}, 0, []string{"APP"}},
		"as JSON":        {[]string{"instances", "--app", "shop", "-o", "json"}, 0, []string{`"matched": 3`}},
		"consumers":      {[]string{"consumers"}, 0, []string{s.Namespace + "/shop-1", "Java-EurekaClient", "ALL KNEW AFTER"}},
		"budget":         {[]string{"budget", "shop"}, 0, []string{"SHOP has 3 instances", "A POD DIES", "A POD STARTS", "A POD IS DRAINED", "measured"}},
		"policy":         {[]string{"policy"}, 0, []string{"built in", s.Namespace}},
		"one policy":     {[]string{"policy", "-n", s.Namespace}, 0, []string{"now: renewals a minute"}},
		"observe-report": {[]string{"observe-report", "--since", "1h", "-n", s.Namespace}, 0, []string{"Nothing was found"}},
		"diff":           {[]string{"diff", s.Operator.URL(), "--app", "shop"}, 0, []string{"Both list the same"}},
		"a wrong status": {[]string{"instances", "--status", "GONE"}, 2, []string{"status is UP, DOWN"}},
		"no application": {[]string{"budget", "nobody"}, 2, []string{"no instance of NOBODY is registered"}},
		"a wrong form":   {[]string{"status", "-o", "yaml"}, 2, []string{`"-o, --output" flag: want json`}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ask(t, tc.args...)
			t.Logf("$ kubectl kureka %s\n%s%s", strings.Join(tc.args, " "), got.out, got.err)
			if got.code != tc.code {
				t.Errorf("its code is %d, want %d", got.code, tc.code)
			}
			for _, want := range tc.want {
				if !strings.Contains(got.out+got.err, want) {
					t.Errorf("it does not say %q", want)
				}
			}
		})
	}
}
