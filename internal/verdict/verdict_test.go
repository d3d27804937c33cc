package verdict_test

import (
	"testing"
	"time"

	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/verdict"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// healthy is an input that no check has anything against.
func healthy() verdict.Input {
	return verdict.Input{
		Now:  noon,
		Pod:  &evidence.Pod{UID: "u1", Name: "a", Node: "n1", Phase: evidence.Running, Ready: true, ContainersReady: true},
		Node: &evidence.Node{Name: "n1", Conditions: []evidence.Condition{{Type: "Ready", Status: evidence.True}}},
		Life: &verdict.Life{
			Container: evidence.Container{Name: "app", ID: "c1", Running: true}, Baseline: "c1",
			Request: noon, Registration: noon,
		},
		Seen: noon, Interval: 30 * time.Second,
	}
}

// A list from the past can show a container before it first started, long after
// it was seen running.
func TestContainerRestarted_needsAnEnd(t *testing.T) {
	for ended, want := range map[bool]verdict.Class{false: verdict.None, true: verdict.Ending} {
		in := healthy()
		in.Life.Container = evidence.Container{Name: in.Life.Container.Name, Ended: ended}
		in.Life.Changed = noon
		if got := verdict.Decide(in); got.Class != want {
			t.Errorf("ended %v: %v because of %s, want %v", ended, got.Class, got.Reason, want)
		}
	}
}

// A request that names its end is asked about again at that moment, and ends then.
func TestPodOutOfServiceRequested_endsAtItsTime(t *testing.T) {
	in := healthy()
	end := noon.Add(30 * time.Minute)
	tests := map[string]struct {
		until string
		now   time.Time
		want  verdict.Class
		next  time.Time
	}{
		"before":               {end.Format(time.RFC3339), end.Add(-time.Nanosecond), verdict.Asked, end},
		"elsewhere":            {end.In(time.FixedZone("CET", 3600)).Format(time.RFC3339), noon, verdict.Asked, end},
		"then":                 {end.Format(time.RFC3339), end, verdict.None, time.Time{}},
		"without an end":       {"", end, verdict.Asked, time.Time{}},
		"an end like no other": {"tomorrow", end, verdict.Asked, time.Time{}},
	}
	for name, tc := range tests {
		in.Now = tc.now
		in.Pod.Annotations = map[string]string{"kureka.dev/status": "OutOfService", "kureka.dev/status-until": tc.until}
		if got := verdict.Decide(in); got.Class != tc.want || !got.NextCheck.Equal(tc.next) {
			t.Errorf("%s: %v, to be asked again at %v; want %v, %v", name, got.Class, got.NextCheck, tc.want, tc.next)
		}
	}
}

func taint(key string) func(*verdict.Input) {
	return func(in *verdict.Input) { in.Node.Taints = []evidence.Taint{{Key: key}} }
}

func condition(kind, status, reason, message string) func(*verdict.Input) {
	return func(in *verdict.Input) {
		in.Node.Conditions = append([]evidence.Condition{{Type: kind, Status: status, Reason: reason, Message: message}}, in.Node.Conditions...)
	}
}

func policy(change func(*verdict.Policy)) *verdict.Policy {
	p := verdict.DefaultPolicy()
	change(&p)
	return &p
}

// Every check has an input on which it decides and one close by on which it must
// not. Undoing the change is going back to healthy, on which none may.
var cases = map[string]struct {
	class      verdict.Class
	fires, not func(*verdict.Input)
}{
	"PodGone": {
		verdict.Proof,
		func(in *verdict.Input) { in.Gone = &evidence.Gone{At: noon} },
		func(in *verdict.Input) { in.Gone = &evidence.Gone{At: noon, Abrupt: true} },
	},
	"PodFinished": {
		verdict.Proof,
		func(in *verdict.Input) { in.Pod.Phase = evidence.Failed },
		func(in *verdict.Input) { in.Pod.Phase = evidence.Pending },
	},
	"NodeOutOfService": {
		verdict.Proof,
		func(in *verdict.Input) {
			taint("node.kubernetes.io/out-of-service")(in)
			in.Node.Conditions[0].Status = evidence.Unknown
		},
		taint("node.kubernetes.io/out-of-service"), // the node is Ready
	},
	"PodGoneWithNode": {
		verdict.Ending,
		func(in *verdict.Input) { in.Gone = &evidence.Gone{At: noon, Abrupt: true} },
		func(in *verdict.Input) { in.Gone = &evidence.Gone{At: noon.Add(-60 * time.Second), Abrupt: true} },
	},
	"PodDeleting": {
		verdict.Ending,
		func(in *verdict.Input) { in.Pod.Deleting = true },
		func(in *verdict.Input) { in.Pod.Ready = false },
	},
	"PodDisrupted": {
		verdict.Ending,
		func(in *verdict.Input) { in.Pod.Disruption = "PreemptionByScheduler" },
		func(in *verdict.Input) { in.Pod.Disruption = "" },
	},
	"ContainerDown": {
		verdict.Ending,
		func(in *verdict.Input) { in.Life.Container.Running = false },
		func(in *verdict.Input) { in.Life.Container = evidence.Container{Name: "app"} }, // never started
	},
	"ContainerRestarted": {
		verdict.Ending,
		func(in *verdict.Input) { in.Life.Container.ID, in.Life.Changed = "c2", noon },
		func(in *verdict.Input) {
			in.Life.Container.ID, in.Life.Changed, in.Life.Request = "c2", noon, noon.Add(time.Millisecond)
		},
	},
	"EndpointTerminating": {
		verdict.Ending,
		func(in *verdict.Input) { in.SliceTerminating = true },
		func(in *verdict.Input) { in.Pod = &evidence.Pod{} },
	},
	"PodOutOfServiceRequested": {
		verdict.Asked,
		func(in *verdict.Input) { in.Pod.Annotations = map[string]string{"kureka.dev/status": "OutOfService"} },
		func(in *verdict.Input) { in.Pod.Annotations = map[string]string{"kureka.dev/status": "UP"} },
	},
	"PodLeftService": {
		verdict.Asked,
		func(in *verdict.Input) { in.Kept = &verdict.Kept{LeftService: noon.Add(-3 * time.Second)} },
		func(in *verdict.Input) { in.Kept = &verdict.Kept{LeftService: noon.Add(-2 * time.Second)} },
	},
	"NodeSpotInterruption": {
		verdict.HardNotice, taint("aws-node-termination-handler/spot-itn"),
		taint("aws-node-termination-handler/rebalance-recommendation"),
	},
	"NodeDeleting": {
		verdict.PlannedNotice,
		func(in *verdict.Input) { in.Node.Deleting = true },
		taint("karpenter.sh/disrupted"), // may be taken back
	},
	"NodeScaleDown": {
		verdict.PlannedNotice, taint("ToBeDeletedByClusterAutoscaler"), taint("DeletionCandidateOfClusterAutoscaler"),
	},
	"NodeLifecycleTermination": {
		verdict.PlannedNotice, taint("aws-node-termination-handler/asg-lifecycle-termination"), taint("aws-node-termination-handler/other"),
	},
	"NodeScheduledMaintenance": {
		verdict.PlannedNotice, taint("aws-node-termination-handler/scheduled-maintenance"), taint("node.kubernetes.io/unschedulable"),
	},
	"NodeRedeployScheduled": {
		verdict.PlannedNotice,
		condition("VMEventScheduled", evidence.True, "RedeployScheduled", ""), condition("VMEventScheduled", evidence.False, "RedeployScheduled", ""),
	},
	"NodeTerminateScheduled": {
		verdict.PlannedNotice,
		condition("VMEventScheduled", evidence.True, "TerminateScheduled", ""), condition("VMEventScheduled", evidence.True, "NoEvent", ""),
	},
	"NodeRebootScheduled": {
		verdict.PlannedNotice,
		condition("VMEventScheduled", evidence.True, "RebootScheduled", ""), condition("VMEventScheduled", evidence.Unknown, "RebootScheduled", ""),
	},
	"NodeRebootInProgress": {
		verdict.PlannedNotice,
		func(in *verdict.Input) {
			in.Node.Annotations = map[string]string{"weave.works/kured-reboot-in-progress": "2026"}
		},
		func(in *verdict.Input) {
			in.Node.Annotations = map[string]string{"weave.works/kured-most-recent-reboot-needed": "2026"}
		},
	},
	"NodeMaintenance": {
		verdict.PlannedNotice, taint("baremetal.cluster.gke.io/maintenance"), taint("node.kubernetes.io/memory-pressure"),
	},
	"NodeRemediation": {
		verdict.PlannedNotice, taint("remediation.medik8s.io/self-node-remediation"), taint("remediator.kubernetes.azure.com/unschedulable"),
	},
	"NodeDrainInProgress": {
		verdict.PlannedNotice, condition("DrainInProgress", evidence.True, "", ""), condition("DrainInProgress", evidence.False, "", ""),
	},
	"NodeSilent": {
		verdict.Inferred,
		func(in *verdict.Input) { in.Silence = confirmed; in.Silence.Leased = true },
		func(in *verdict.Input) { // heard since
			in.Silence, in.Seen = confirmed, noon.Add(time.Millisecond)
			in.Silence.Leased = true
		},
	},
	"NodeUnreachable": {
		verdict.Inferred,
		func(in *verdict.Input) {
			in.Silence = confirmed
			in.Node.Conditions[0].Status = evidence.Unknown
		},
		func(in *verdict.Input) { in.Node.Conditions[0].Status = evidence.Unknown }, // nobody confirms it
	},
	"PodInferredNotReady": {
		verdict.Inferred,
		func(in *verdict.Input) {
			in.Silence = confirmed
			in.Pod.Ready = false
		},
		func(in *verdict.Input) { in.Pod.Ready = false }, // nobody confirms it
	},
	"NodeRebooted": {
		verdict.Inferred,
		func(in *verdict.Input) { in.Node.Booted, in.Rebooted = noon, noon },
		func(in *verdict.Input) { in.Node.Booted, in.Rebooted = noon, noon.Add(-time.Hour) }, // concluded of an earlier boot
	},
	"NodeAdditionalHardTaint": {
		verdict.HardNotice,
		func(in *verdict.Input) {
			in.Policy = policy(func(p *verdict.Policy) {
				p.AdditionalTaints = []verdict.AdditionalTaint{{Key: "example.com/ends", Effect: "NoExecute", Hard: true}}
			})
			in.Node.Taints = []evidence.Taint{{Key: "example.com/ends", Effect: "NoExecute"}}
		},
		func(in *verdict.Input) {
			in.Policy = policy(func(p *verdict.Policy) {
				p.AdditionalTaints = []verdict.AdditionalTaint{{Key: "example.com/ends", Effect: "NoExecute", Hard: true}}
			})
			in.Node.Taints = []evidence.Taint{{Key: "example.com/ends", Effect: "NoSchedule"}}
		},
	},
	"NodeAdditionalTaint": {
		verdict.PlannedNotice,
		func(in *verdict.Input) {
			in.Policy = policy(func(p *verdict.Policy) {
				p.AdditionalTaints = []verdict.AdditionalTaint{{Key: "example.com/ends", Value: "yes"}}
			})
			in.Node.Taints = []evidence.Taint{{Key: "example.com/ends", Value: "yes"}}
		},
		taint("example.com/ends"), // nobody named it
	},
	"NodeCordoned": {
		verdict.PlannedNotice,
		func(in *verdict.Input) {
			in.Policy = policy(func(p *verdict.Policy) { p.Cordon = verdict.OutOfService })
			taint("node.kubernetes.io/unschedulable")(in)
		},
		taint("node.kubernetes.io/unschedulable"), // ignored unless the policy says otherwise
	},
	"PodNotReady": {
		verdict.Observed,
		func(in *verdict.Input) {
			in.Policy = policy(func(p *verdict.Policy) { p.NotReady = verdict.OutOfService })
			in.Pod.Ready, in.Pod.GateUnmet = false, true
		},
		func(in *verdict.Input) {
			in.Policy = policy(func(p *verdict.Policy) { p.NotReady = verdict.OutOfService })
			in.Pod.Ready = false // the control plane concluded that from the node
		},
	},
	"NodeMaintenanceInProgress": {
		verdict.PlannedNotice, condition("MaintenanceInProgress", evidence.True, "", ""), condition("MaintenancePlanned", evidence.True, "", ""),
	},
	"NodeImpendingTermination": {
		verdict.HardNotice, taint("cloud.google.com/impending-node-termination"), taint("cloud.google.com/gke-spot"),
	},
	"NodePreemptScheduled": {
		verdict.HardNotice,
		condition("VMEventScheduled", evidence.True, "PreemptScheduled", ""),
		condition("VMEventScheduled", evidence.True, "FreezeScheduled", ""), // a pause of seconds
	},
	"NodeTerminating": {
		verdict.HardNotice,
		condition("Terminating", evidence.True, "", ""), condition("Terminating", evidence.Unknown, "", ""),
	},
	"NodeShuttingDown": {
		verdict.HardNotice,
		condition("Ready", evidence.False, "KubeletNotReady", "node is shutting down"),
		condition("Ready", evidence.False, "KubeletNotReady", "container runtime is down"),
	},
	"NodeGracefulShutdown": {
		verdict.HardNotice,
		condition("GracefulNodeShutdownInProgress", evidence.True, "", ""),
		condition("MaintenancePlanned", evidence.True, "", ""),
	},
	"NodeCloudShutdown": {
		verdict.HardNotice,
		taint("node.cloudprovider.kubernetes.io/shutdown"), taint("node.cloudprovider.kubernetes.io/uninitialized"),
	},
	"NodeDeleted": {
		verdict.HardNotice,
		func(in *verdict.Input) { in.Node = &evidence.Node{Name: "n1", Missing: true} },
		func(in *verdict.Input) { in.Node = nil }, // nothing is known
	},
}

// confirmed is a silence that a second witness confirmed.
var confirmed = evidence.Silence{Quiet: 25 * time.Second, At: noon, By: verdict.WitnessHeartbeat, Detail: "that of a did not come"}

func TestEachCheckDecidesOnItsEvidenceAndNotBeside(t *testing.T) {
	for _, check := range verdict.Checks() {
		if check.Class == verdict.Hint {
			continue
		}
		tc, ok := cases[check.Reason]
		if !ok {
			t.Errorf("check %s has no case", check.Reason)
			continue
		}
		t.Run(check.Reason, func(t *testing.T) {
			in := healthy()
			tc.fires(&in)
			if v := verdict.Decide(in); v.Reason != check.Reason || v.Class != tc.class {
				t.Errorf("decided %+v", v)
			} else if second := v.Confirmed != ""; second != (v.Class == verdict.Inferred) {
				t.Errorf("its second witness is %q", v.Confirmed) // only inferred checks have one, and all of them
			}
			in = healthy()
			tc.not(&in)
			if v := verdict.Decide(in); v.Reason == check.Reason {
				t.Errorf("fires beside its evidence: %+v", v)
			}
		})
	}
	if v := verdict.Decide(healthy()); v != (verdict.Verdict{}) {
		t.Errorf("something is wrong with a healthy instance: %+v", v)
	}
}

func TestExplainAsksEveryCheck(t *testing.T) {
	in := healthy()
	in.Pod.Deleting = true
	taint("aws-node-termination-handler/spot-itn")(&in)
	var fired []string
	answers := verdict.Explain(in)
	for _, a := range answers {
		if a.Fires {
			fired = append(fired, a.Check)
		}
	}
	if len(answers) != len(verdict.Checks()) {
		t.Errorf("%d answers of %d checks", len(answers), len(verdict.Checks()))
	}
	if len(fired) != 2 || fired[0] != "PodDeleting" || fired[1] != "NodeSpotInterruption" {
		t.Errorf("fired %v", fired)
	}
}

func TestAPodThatVanishedWithItsNodeIsRemovedWhenSilentOrAfterAMinute(t *testing.T) {
	tests := map[string]struct {
		after, silent time.Duration
		want          string
	}{
		"heard lately":            {10 * time.Second, 10 * time.Second, "PodGoneWithNode"},
		"just on time":            {10 * time.Second, 33 * time.Second, "PodGoneWithNode"},
		"late":                    {10 * time.Second, 34 * time.Second, "PodGone"},
		"still heard at a minute": {60 * time.Second, time.Second, "PodGone"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := healthy()
			in.Gone = &evidence.Gone{At: noon.Add(-tc.after), Abrupt: true}
			in.Seen = noon.Add(-tc.silent)
			v := verdict.Decide(in)
			if v.Reason != tc.want {
				t.Errorf("decided %+v", v)
			}
			if tc.want == "PodGoneWithNode" && v.NextCheck.Before(noon) {
				t.Errorf("next check %v is past", v.NextCheck)
			}
		})
	}
}

func TestANewContainerIsAcknowledgedByItsRegistration(t *testing.T) {
	tests := map[string]struct {
		finished, ahead time.Duration // the old container's end by the node's clock; how far that runs ahead
		began           time.Duration // of the new one, after that end; negative: it is not told
		want            bool
	}{
		"registered after the end":                                   {-time.Second, 0, -1, true},
		"registered before the end":                                  {time.Second, 0, -1, false},
		"registered before the end of one that was followed at once": {time.Second, 0, 0, false},
		"registered in the second of the end":                        {-time.Second / 2, 0, -1, false},
		"in that second, in which the next one began":                {-time.Second / 2, 0, 0, true},
		"in that second, after which the next one began":             {-time.Second / 2, 0, time.Second, false},
		"after, on a node whose clock runs ahead":                    {19 * time.Second, 20 * time.Second, -1, true},
		"before, on a node whose clock is behind":                    {-5 * time.Second, -20 * time.Second, -1, false},
		"after, on a node whose clock is a bit behind":               {-21 * time.Second, -20 * time.Second, -1, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := healthy()
			in.Node.ClockAhead = tc.ahead
			in.Life.Container = evidence.Container{Name: "app", ID: "c2", Running: true, Finished: noon.Add(tc.finished)}
			if tc.began >= 0 {
				in.Life.Container.Started = in.Life.Container.Finished.Add(tc.began)
			}
			in.Life.Changed = noon.Add(time.Second)
			if got := verdict.Decide(in).Reason == ""; got != tc.want {
				t.Errorf("acknowledged: %v", got)
			}
		})
	}
}

// hints are inputs that people are told of and that change nothing.
var hints = map[string]func(*verdict.Input){
	"NodeDisrupted":          taint("karpenter.sh/disrupted"),
	"NodeDeletionCandidate":  taint("DeletionCandidateOfClusterAutoscaler"),
	"NodeRebalanceAdvised":   taint("aws-node-termination-handler/rebalance-recommendation"),
	"NodeFreezeScheduled":    condition("VMEventScheduled", evidence.True, "FreezeScheduled", ""),
	"NodeMaintenancePlanned": condition("MaintenancePlanned", evidence.True, "", ""),
	"NodeMemoryPressure":     taint("node.kubernetes.io/memory-pressure"),
	"NodeDiskPressure":       taint("node.kubernetes.io/disk-pressure"),
	"NodePIDPressure":        taint("node.kubernetes.io/pid-pressure"),
}

func TestHintsAreShownAndDecideNothing(t *testing.T) {
	for _, check := range verdict.Checks() {
		if check.Class != verdict.Hint {
			continue
		}
		t.Run(check.Reason, func(t *testing.T) {
			give, ok := hints[check.Reason]
			if !ok {
				t.Fatal("no case")
			}
			in := healthy()
			if fires(in, check.Reason) {
				t.Error("fires on a healthy instance")
			}
			give(&in)
			if !fires(in, check.Reason) {
				t.Error("is not shown")
			}
			if v := verdict.Decide(in); v != (verdict.Verdict{}) {
				t.Errorf("decided %+v", v)
			}
		})
	}
}

func fires(in verdict.Input, check string) bool {
	for _, a := range verdict.Explain(in) {
		if a.Check == check {
			return a.Fires
		}
	}
	return false
}

func TestThePolicyCanIgnoreKindsOfEvidence(t *testing.T) {
	tests := map[string]struct {
		ignore func(*verdict.Policy)
		give   func(*verdict.Input)
	}{
		"disruption":     {func(p *verdict.Policy) { p.Disruption = verdict.Ignore }, func(in *verdict.Input) { in.Pod.Disruption = "x" }},
		"container down": {func(p *verdict.Policy) { p.ContainerDown = verdict.Ignore }, func(in *verdict.Input) { in.Life.Container.Running = false }},
		"hard notice":    {func(p *verdict.Policy) { p.HardNotice = verdict.Ignore }, taint("aws-node-termination-handler/spot-itn")},
		"planned notice": {func(p *verdict.Policy) { p.PlannedNotice = verdict.Ignore }, taint("ToBeDeletedByClusterAutoscaler")},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := healthy()
			tc.give(&in)
			before := verdict.Decide(in)
			if before.Reason == "" {
				t.Fatal("decided nothing without the policy")
			}
			in.Policy = policy(tc.ignore)
			if v := verdict.Decide(in); v.Reason != "" {
				t.Errorf("decided %+v", v)
			}
			for _, a := range verdict.Explain(in) {
				if a.Check == before.Reason && (!a.Fires || !a.Ignored) {
					t.Errorf("explained as %+v", a)
				}
			}
		})
	}
}

func TestAnInstanceWithoutAClientHasNothingButReadinessToGoBy(t *testing.T) {
	in := healthy()
	in.Pod.Ready, in.Pod.ContainersReady = false, false
	if v := verdict.Decide(in); v.Reason != "" {
		t.Errorf("one with a client: %+v", v)
	}
	in.Kept = &verdict.Kept{}
	if v := verdict.Decide(in); v.Reason != "PodNotReady" || v.Class != verdict.Observed {
		t.Errorf("one without: %+v", v)
	}
	in.Kept.NeedsNoReadiness = true
	if v := verdict.Decide(in); v.Reason != "" {
		t.Errorf("one that is published all the same: %+v", v)
	}
	in = healthy()
	in.Kept = &verdict.Kept{}
	in.Pod.Ready = false // the control plane concluded that from the node
	if v := verdict.Decide(in); v.Reason != "" {
		t.Errorf("on the control plane's word about the node: %+v", v)
	}
	in = healthy()
	in.Kept = &verdict.Kept{}
	in.Silence = evidence.Silence{Leased: true, At: noon.Add(-time.Second), By: verdict.WitnessProber} // no heartbeat could speak for it
	if v := verdict.Decide(in); v.Reason != "NodeSilent" {
		t.Errorf("on a silent node: %+v", v)
	}
}

func TestReadinessIsHeldForAsLongAsThePolicySays(t *testing.T) {
	tests := map[string]struct {
		since time.Time
		fires bool
		next  time.Time
	}{
		"not yet":            {noon.Add(-9 * time.Second), false, noon.Add(time.Second)},
		"long enough":        {noon.Add(-10 * time.Second), true, time.Time{}},
		"since nobody knows": {time.Time{}, true, time.Time{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := healthy()
			in.Policy = policy(func(p *verdict.Policy) { p.NotReady, p.ReadinessHold = verdict.OutOfService, 10*time.Second })
			in.Pod.Ready, in.Pod.ContainersReady, in.NotReadySince = false, false, tc.since
			v := verdict.Decide(in)
			if fires := v.Reason == "PodNotReady"; fires != tc.fires || !v.NextCheck.Equal(tc.next) {
				t.Errorf("decided %+v", v)
			}
		})
	}
}

// A pod that waits for the registry is not ready with ready containers, as one is
// whose node was given up. It says nothing about its node.
func TestAPodThatAwaitsItsRegistrationIsNotInferredUnready(t *testing.T) {
	pod := evidence.Pod{UID: "u", ContainersReady: true}
	in := verdict.Input{Now: noon, Policy: policy(func(*verdict.Policy) {}), Pod: &pod, Silence: confirmed, Seen: noon}
	if got := verdict.Decide(in); got.Reason != "PodInferredNotReady" {
		t.Errorf("without the gate: %+v", got)
	}
	pod.AwaitsRegistration = true
	if got := verdict.Decide(in); got.Class != verdict.None {
		t.Errorf("with the gate: %+v", got)
	}
}
