package cluster

import (
	"slices"
	"testing"
	"time"

	"github.com/kureka/kureka/internal/verdict"
)

// observing is a scenario in which every verdict is only shown.
func observing() *scenario {
	s := newScenario()
	s.c.SetPolicies(s.now, withPolicy(func(p *verdict.Policy) { p.Observe = true }), nil)
	return s
}

// told returns what is found about an instance, the newest first.
func told(s *scenario, id string) []string {
	var out []string
	for _, f := range s.c.Findings(time.Time{}) {
		if f.Key.ID == id {
			out = append(out, f.Reason+" "+string(f.Effect)+" "+string(f.Outcome))
		}
	}
	return out
}

func TestWhatObservingFindsIsJudgedByWhatComesLater(t *testing.T) {
	start := []string{
		"node n1", "node n2", "node n3",
		"pod a ip=192.0.2.10 node=n1 containers=app:8080:c1:run", "pod b ip=192.0.2.11 node=n2", "pod c ip=192.0.2.12 node=n3",
		"register DEMO/a ip=192.0.2.10 from=192.0.2.10", "register DEMO/b ip=192.0.2.11 from=192.0.2.11", "register DEMO/c ip=192.0.2.12 from=192.0.2.12",
		"tick 10s",
	}
	tests := map[string]struct {
		lines []string
		want  []string // about a, the newest first
	}{
		"a dead one stays silent and self-preservation keeps it": {
			[]string{"podgone a", "tick 6m beat=DEMO/b,DEMO/c@30", "expect DEMO/a UP"},
			[]string{"PodGone would-remove confirmed"},
		},
		"it is found dead and heartbeats for minutes": {
			[]string{"podgone a", "tick 1m beat=DEMO/a,DEMO/b,DEMO/c@30"},
			[]string{"PodGone would-remove contradicted"},
		},
		"it is found dead and registers again": {
			[]string{"podgone a", "tick 20s", "register DEMO/a ip=192.0.2.10 from=192.0.2.10", "tick 1s"},
			[]string{"PodGone would-remove contradicted"},
		},
		"its last heartbeat comes while the kubelet ends it": {
			[]string{"podgone a", "tick 5s", "renew DEMO/a from=192.0.2.10", "tick 1m beat=DEMO/b,DEMO/c@30"},
			[]string{"PodGone would-remove "},
		},
		"another pod takes over its id": {
			[]string{"podgone a", "pod a2 ip=192.0.2.20 node=n1", "tick 20s", "register DEMO/a ip=192.0.2.20 from=192.0.2.20", "tick 1s"},
			[]string{"PodGone would-remove confirmed"},
		},
		"it is deleted, heartbeats until it cancels": {
			[]string{"pod a deleting", "tick 30s beat=DEMO/a,DEMO/b,DEMO/c@10", "cancel DEMO/a from=192.0.2.10", "tick 1s"},
			[]string{"PodDeleting would-take-out confirmed"},
		},
		"it is deleted and gone": {
			[]string{"pod a deleting", "tick 1s", "podgone a", "tick 1s"},
			[]string{"PodGone would-remove ", "PodDeleting would-take-out confirmed"},
		},
		"a registration does not ask again": {
			[]string{"pod a deleting", "register DEMO/a ip=192.0.2.10 from=192.0.2.10", "tick 2s"},
			[]string{"PodDeleting would-take-out "},
		},
		"a notice is taken back": {
			[]string{"node n1 taint=aws-node-termination-handler/spot-itn", "tick 30s beat=DEMO/a,DEMO/b,DEMO/c@10", "node n1", "tick 1s"},
			[]string{"NodeSpotInterruption would-take-out withdrawn"},
		},
		"a container is down and heartbeats": {
			[]string{"pod a containers=app:8080:c1:down", "tick 5s beat=DEMO/a@3", "tick 1s"},
			[]string{"ContainerDown would-take-out contradicted"},
		},
		"its address goes to another pod": {
			[]string{"pod a ip=192.0.2.30", "tick 1s"},
			[]string{"AddressLeft would-remove "},
		},
		"a silent node comes back": {
			[]string{"dark n1", "tick 45s beat=DEMO/b,DEMO/c@10", "renew DEMO/a from=192.0.2.10", "tick 1s"},
			[]string{"NodeSilent would-take-out contradicted"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := observing()
			run(t, s, append(slices.Clone(start), tc.lines...)...)
			if got := told(s, "a"); !slices.Equal(got, tc.want) {
				t.Errorf("found %q, want %q", got, tc.want)
			}
		})
	}
}

func TestFindingsAreBoundedAndTheOldestLeaveFirst(t *testing.T) {
	s := observing()
	run(t, s, "pod a ip=192.0.2.10", "register DEMO/a ip=192.0.2.10 from=192.0.2.10")
	for range historyLength/2 + 1 {
		s.now = s.now.Add(time.Second)
		run(t, s, "pod a deleting", "pod a -deleting disruption=none", "pod a disruption=Preempted", "pod a disruption=none")
	}
	found := s.c.Findings(time.Time{})
	if len(found) != historyLength || len(s.c.found.open) != 0 {
		t.Fatalf("%d kept, %d open", len(found), len(s.c.found.open))
	}
	if !slices.IsSortedFunc(found, func(a, b Finding) int { return b.At.Compare(a.At) }) {
		t.Error("not the newest first")
	}
	if since := s.c.Findings(s.now); len(since) != 2 {
		t.Errorf("%d since the last second, want 2", len(since))
	}
}
