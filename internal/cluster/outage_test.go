package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/internal/verdict"
)

// Kubelets renew every 10 s, each at a second of its own, so the nodes of an outage
// become quiet one after the other. Nobody may be taken out meanwhile.
func TestAnOutageOfManyNodesTakesNobodyOutWhileItUnfolds(t *testing.T) {
	tests := map[string]struct {
		// Which nodes' Leases stop, which instances fall silent, and whether the
		// canary stops too.
		leases, beats func(node int) bool
		canary        bool
	}{
		"a whole zone is cut off": {
			leases: func(n int) bool { return n < 20 }, beats: func(n int) bool { return n < 20 },
		},
		"the API server is away while some clients hang": {
			leases: func(int) bool { return true }, beats: func(n int) bool { return n < 10 }, canary: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScenario()
			for i := range outageNodes {
				run(t, s, fmt.Sprintf("node n%d zone=z%d", i, i/20), fmt.Sprintf("pod p%d ip=192.0.2.%d node=n%d", i, i+1, i),
					fmt.Sprintf("register A%d/p%d ip=192.0.2.%d from=192.0.2.%d interval=10", i%10, i, i+1, i+1))
			}
			none := func(int) bool { return false }
			for second := range 120 {
				canary, leases, beats := false, none, none
				if second > 60 {
					canary, leases, beats = tc.canary, tc.leases, tc.beats
				}
				outageSecond(t, s, second, canary, leases, beats)
				if up := s.c.Snapshot().Counts.Of(registry.Up); up != outageNodes {
					t.Fatalf("%d of %d are UP %d s after the outage began", up, outageNodes, second-60)
				}
			}
		})
	}
}

const outageNodes = 40

// outageSecond plays one second, in which some Leases, some heartbeats and maybe
// the canary do not come.
func outageSecond(t *testing.T, s *scenario, second int, canary bool, leases, beats func(int) bool) {
	t.Helper()
	s.now = s.now.Add(time.Second)
	if second%5 == 0 && !canary {
		s.c.ObserveCanary(s.now, s.now)
	}
	for i := range outageNodes {
		if second%10 == i%10 && !leases(i) {
			s.c.ObserveLease(s.now, fmt.Sprintf("n%d", i), s.now, 40*time.Second)
		}
		if second%10 == (i+3)%10 && !beats(i) {
			run(t, s, fmt.Sprintf("renew A%d/p%d from=192.0.2.%d", i%10, i, i+1))
		}
	}
	s.c.Tick(s.now)
}

func TestAPolicyThatShortensIntervalsMakesNobodySilent(t *testing.T) {
	s := newScenario()
	run(t, s, "node n1", "node n2", "node n3", "pod a ip=192.0.2.10 node=n1", "pod b ip=192.0.2.11 node=n2",
		"register DEMO/a ip=192.0.2.10 from=192.0.2.10", "register DEMO/b ip=192.0.2.11 from=192.0.2.11",
		"tick 90s beat=DEMO/a,DEMO/b@30")
	s.c.SetPolicies(s.now, withPolicy(func(p *verdict.Policy) { p.MaxInterval = 10 * time.Second }), nil)
	run(t, s, "dark n1", "tick 25s", "expect DEMO/a UP")
}

func TestObserveSwitchedOnHidesAndFencesNobody(t *testing.T) {
	s := newScenario()
	run(t, s, "node n1 cidr=192.0.2.0/24", "pod a ip=192.0.2.10 node=n1", "tick 3s",
		"register DEMO/g ip=192.0.2.99 from=192.0.2.99", "expect DEMO/g gone",
		"register DEMO/a ip=192.0.2.10 from=192.0.2.10", "pod a phase=Failed", "expect DEMO/a gone")
	s.c.SetPolicies(s.now, withPolicy(func(p *verdict.Policy) { p.Observe = true }), nil)
	run(t, s, "expect DEMO/g UP", "register DEMO/a ip=192.0.2.10 from=192.0.2.10 -> done", "expect DEMO/a UP")
}

func TestAnInstanceThatIsBoundLateGetsItsNamespacesNumbers(t *testing.T) {
	s := newScenario()
	s.c.SetPolicies(s.now, verdict.DefaultPolicy(), map[string]verdict.Policy{
		"ns": withPolicy(func(p *verdict.Policy) { p.MinDuration = 300 * time.Second }),
	})
	run(t, s, "register DEMO/a ip=192.0.2.10 from=192.0.2.10", "pod a ip=192.0.2.10", "expect DEMO/a bound a")
	if d := s.c.Snapshot().Get(registry.NewKey("DEMO", "a")).Duration; d != 300 {
		t.Errorf("its lease lasts %d s", d)
	}
}
