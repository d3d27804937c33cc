package cluster

import (
	"testing"

	"github.com/kureka/kureka/internal/verdict"
)

// run plays lines of a scenario.
func run(t *testing.T, s *scenario, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if err := s.run(line); err != nil {
			t.Fatalf("%s\n\t%v", line, err)
		}
	}
}

func withPolicy(change func(*verdict.Policy)) verdict.Policy {
	p := verdict.DefaultPolicy()
	change(&p)
	return p
}

func TestAPolicyEditIsInForceAtOnceAndOnlyInItsNamespace(t *testing.T) {
	s := newScenario()
	run(t, s,
		"node n1 taint=aws-node-termination-handler/spot-itn",
		"pod a ip=192.0.2.10 node=n1", "pod b ip=192.0.2.11 node=n2",
		"register DEMO/a ip=192.0.2.10 from=192.0.2.10", "register DEMO/b ip=192.0.2.11 from=192.0.2.11",
		"expect DEMO/a OUT_OF_SERVICE because NodeSpotInterruption",
	)
	ignoring := map[string]verdict.Policy{"ns": withPolicy(func(p *verdict.Policy) { p.HardNotice = verdict.Ignore })}
	s.c.SetPolicies(s.now, verdict.DefaultPolicy(), ignoring)
	run(t, s, "expect DEMO/a UP")
	s.c.SetPolicies(s.now, verdict.DefaultPolicy(), map[string]verdict.Policy{"other": ignoring["ns"]})
	run(t, s, "expect DEMO/a OUT_OF_SERVICE because NodeSpotInterruption")
}

func TestReadinessTakesOutAsFarAsTheFloorAllowsIfThePolicySaysSo(t *testing.T) {
	s := newScenario()
	run(t, s,
		"pod a ip=192.0.2.10 ready", "pod b ip=192.0.2.11 ready",
		"register DEMO/a ip=192.0.2.10 from=192.0.2.10", "register DEMO/b ip=192.0.2.11 from=192.0.2.11",
		"pod a -ready", "expect DEMO/a UP",
	)
	s.c.SetPolicies(s.now, withPolicy(func(p *verdict.Policy) { p.NotReady = verdict.OutOfService }), nil)
	run(t, s,
		"expect DEMO/a OUT_OF_SERVICE because PodNotReady",
		"pod b -ready", "expect DEMO/b UP because HeldByFloor", // both at once: one stays
		"pod a ready", "expect DEMO/a UP", "expect DEMO/b OUT_OF_SERVICE because PodNotReady",
	)
	s.c.SetPolicies(s.now, withPolicy(func(p *verdict.Policy) { p.NotReady, p.MinInServicePercent = verdict.OutOfService, 100 }), nil)
	run(t, s, "expect DEMO/b UP because HeldByFloor")
}

func TestObserveShowsVerdictsAndLeavesInstancesToTheirLeases(t *testing.T) {
	s := newScenario()
	s.c.SetPolicies(s.now, withPolicy(func(p *verdict.Policy) { p.Observe = true }), nil)
	run(t, s,
		"node n1 cidr=192.0.2.0/24", "tick 1s",
		"pod a ip=192.0.2.10 node=n1", "pod b ip=192.0.2.11 node=n1", "pod k ip=192.0.2.12 node=n1",
		"register DEMO/a ip=192.0.2.10 from=192.0.2.10", "register DEMO/b ip=192.0.2.11 from=192.0.2.11",
		"register DEMO/k ip=192.0.2.12 from=192.0.2.12", "register DEMO/g ip=192.0.2.99 from=192.0.2.99",
		"expect DEMO/g UP", // nobody is hidden either
		"forget",
		"pod a deleting", "expect DEMO/a UP",
		"podgone a", "expect DEMO/a UP", "expect DEMO/a unbound PodGoneButOnlyObserved",
		"expect changes 3", // what would have been done, and that the second confirms the first
		"renew DEMO/a from=192.0.2.10 -> done",
		"pod b phase=Failed", "expect DEMO/b UP",
	)
	s.c.SetPolicies(s.now, verdict.DefaultPolicy(), nil)
	run(t, s, "pod k deleting", "expect DEMO/k OUT_OF_SERVICE because PodDeleting")
}
