package audit_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/internal/audit"
)

// adviceOf returns what a rule advises, empty if it does not speak.
func adviceOf(w *world, rule string) string {
	for _, f := range audit.Check(w.input()).Findings {
		if f.Rule == rule {
			return f.Advice
		}
	}
	return ""
}

func TestAHookMayGoOnlyWhereTheDrainIsOn(t *testing.T) {
	t.Parallel()
	hooked := func(edit func(*world)) *world {
		w := newWorld()
		w.shell("sleep 70")
		edit(w)
		return w
	}
	tests := map[string]struct {
		edit func(*world)
		want string // what the advice begins with
	}{
		"the drain is on":            {func(*world) {}, "Remove the whole hook"},
		"it replaces hooks":          {func(w *world) { w.policy.Drain.OnExistingHook = v1alpha1.ReplaceHook }, "Remove the hook, once new pods have the annotation"},
		"nobody opts in":             {func(w *world) { w.optedIn = false }, "First turn on Kureka's drain (docs/drain.md): label the namespace"},
		"the pod opts out":           {func(w *world) { label(w, "Disabled") }, "First turn on Kureka's drain (docs/drain.md): take the label"},
		"the policy is off":          {func(w *world) { w.policy.Drain.Mode = v1alpha1.DrainDisabled }, "First turn on Kureka's drain (docs/drain.md): set drain.mode"},
		"the cluster does not allow": {denied, "First turn on Kureka's drain (docs/drain.md): set drain.mode"},
		"the pod wants to be killed": {func(w *world) { w.grace(0) }, "Kureka's drain leaves this pod alone"},
		"the pod is of a job":        {func(w *world) { w.job() }, "Kureka's drain leaves this pod alone"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := adviceOf(hooked(tc.edit), "PreStopSleep")
			if !strings.HasPrefix(got, tc.want) {
				t.Errorf("the advice is %q, want it to begin with %q", got, tc.want)
			}
			if keeps := strings.Contains(got, "eep the hook"); keeps == strings.HasPrefix(tc.want, "Remove") {
				t.Errorf("it says to keep the hook: %v; %q", keeps, got)
			}
		})
	}
}

func denied(w *world) {
	w.in.ClusterPolicies = []v1alpha1.ClusterRegistryPolicy{{Spec: v1alpha1.ClusterRegistryPolicySpec{
		NamespaceOverrides: &v1alpha1.NamespaceOverrides{Denied: []v1alpha1.NamespaceSetting{v1alpha1.SettingDrain}},
	}}}
}

func TestThePolicyInForceCountsBeforeWhatIsWrittenDown(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.policy.Drain.Mode = v1alpha1.DrainSleep
	in := w.input()
	in.Policies[0].Status.Effective = &v1alpha1.Policy{Drain: &v1alpha1.Drain{Mode: v1alpha1.DrainDisabled}}
	got := map[string]bool{}
	for _, f := range audit.Check(in).Findings {
		got[f.Rule] = true
	}
	if diff := cmp.Diff(map[string]bool{"NoDrain": true}, got); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

func TestFindings_theWorstComeFirst(t *testing.T) {
	t.Parallel()
	w := newWorld()
	lease("30", "30")(w)
	w.settings["eureka.client.disable-delta"] = "true"
	w.settings["management.endpoints.web.exposure.include"] = "*"
	r := audit.Check(w.input())
	got := make([]string, 0, len(r.Findings))
	for _, f := range r.Findings {
		got = append(got, f.Severity.String()+" "+f.Rule)
	}
	if diff := cmp.Diff([]string{"error LeaseEndsBeforeRenewal", "warning ActuatorExposed", "info DeltaDisabled"}, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	for _, s := range []audit.Severity{audit.Info, audit.Warning, audit.Error} {
		if !r.Reaches(s) {
			t.Errorf("they do not reach %s", s)
		}
	}
	if quiet := audit.Check(newWorld().input()); quiet.Reaches(audit.Info) {
		t.Errorf("a quiet world has %v", quiet.Findings)
	}
}

func TestEveryWorkload_isLookedAtIfAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld()
	clear(w.settings)
	w.optedIn = false
	in := w.input()
	if r := audit.Check(in); r.Clients != 0 || len(r.Findings) != 0 {
		t.Fatalf("%d clients, findings %v", r.Clients, r.Findings)
	}
	in.EveryWorkload = true
	if r := audit.Check(in); r.Clients != 1 || len(r.Findings) == 0 {
		t.Errorf("%d clients, findings %v", r.Clients, r.Findings)
	}
}

func TestParseSeverity_knowsTheWords(t *testing.T) {
	t.Parallel()
	for _, s := range []audit.Severity{audit.Info, audit.Warning, audit.Error} {
		if got, err := audit.ParseSeverity(s.String()); err != nil || got != s {
			t.Errorf("%s is read as %s, %v", s, got, err)
		}
	}
	if _, err := audit.ParseSeverity("loud"); err == nil {
		t.Error("loud is a severity")
	}
}
