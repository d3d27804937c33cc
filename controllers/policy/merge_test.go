package policy

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/internal/verdict"
)

func TestEveryFieldOfAPolicyIsMergedAndHasAnExample(t *testing.T) {
	want := leaves(reflect.TypeFor[v1alpha1.Policy](), "")
	slices.Sort(want)
	merged := make([]string, 0, len(want))
	for _, f := range fields() {
		merged = append(merged, f.name)
	}
	slices.Sort(merged)
	if diff := cmp.Diff(want, merged); diff != "" {
		t.Errorf("fields() (-policy +merged):\n%s", diff)
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(examples()))); diff != "" {
		t.Errorf("examples() (-policy +examples):\n%s", diff)
	}
}

// leaves are the paths of all fields that are no group.
func leaves(typ reflect.Type, path string) []string {
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct || typ.Name() == "IntOrString" {
		return []string{path}
	}
	var out []string
	for f := range typ.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out = append(out, leaves(f.Type, strings.Trim(path+"."+name, "."))...)
	}
	return out
}

func TestAFieldIsTakenFromTheNamespaceThenTheClusterThenTheProduct(t *testing.T) {
	for path, e := range examples() {
		t.Run(path, func(t *testing.T) {
			checkField(t, path, e.builtIn, nil, nil, "")
			cluster := spec[v1alpha1.ClusterRegistryPolicySpec](t, path, e.cluster)
			checkField(t, path, e.cluster, cluster, nil, "")
			if e.namespace == "" {
				return
			}
			namespace := spec[v1alpha1.RegistryPolicySpec](t, path, e.namespace)
			checkField(t, path, e.namespace, nil, namespace, "")
			checkField(t, path, e.namespace, cluster, namespace, "")
		})
	}
}

func TestAWrongValueCountsAsUnset(t *testing.T) {
	for path, e := range examples() {
		t.Run(path, func(t *testing.T) {
			checkField(t, path, e.builtIn, spec[v1alpha1.ClusterRegistryPolicySpec](t, path, e.wrong), nil, v1alpha1.ReasonInvalid)
			if e.namespace == "" {
				return
			}
			cluster := spec[v1alpha1.ClusterRegistryPolicySpec](t, path, e.cluster)
			checkField(t, path, e.cluster, cluster, spec[v1alpha1.RegistryPolicySpec](t, path, e.wrong), v1alpha1.ReasonInvalid)
		})
	}
}

func TestADeniedGroupCountsAsUnset(t *testing.T) {
	for path, e := range examples() {
		if e.namespace == "" {
			continue
		}
		t.Run(path, func(t *testing.T) {
			group, _, _ := strings.Cut(path, ".")
			cluster := spec[v1alpha1.ClusterRegistryPolicySpec](t, path, e.cluster)
			cluster.NamespaceOverrides = &v1alpha1.NamespaceOverrides{
				Denied: []v1alpha1.NamespaceSetting{v1alpha1.NamespaceSetting(strings.ToUpper(group[:1]) + group[1:])},
			}
			checkField(t, path, e.cluster, cluster, spec[v1alpha1.RegistryPolicySpec](t, path, e.namespace), v1alpha1.ReasonDenied)
		})
	}
}

func TestANumberOutsideTheClustersRangeCountsAsUnset(t *testing.T) {
	for limit, path := range map[string]string{
		"renewalThresholdPercent":       "selfPreservation.renewalThresholdPercent",
		"defaultDurationSeconds":        "leases.defaultDurationSeconds",
		"defaultRenewalIntervalSeconds": "leases.defaultRenewalIntervalSeconds",
		"readyGraceSeconds":             "leases.readyGraceSeconds",
		"maxEvictionPercent":            "leases.maxEvictionPercent",
		"readinessHoldSeconds":          "pods.readinessHoldSeconds",
		"unreachableAfterSeconds":       "nodes.unreachable.afterSeconds",
		"drainMaxSeconds":               "drain.maxSeconds",
		"readinessGateMaxWaitSeconds":   "readinessGate.maxWaitSeconds",
	} {
		t.Run(limit, func(t *testing.T) {
			e := examples()[path]
			namespace := spec[v1alpha1.RegistryPolicySpec](t, path, e.namespace)
			value := *namespaceNumber(t, path, namespace)
			for _, r := range []struct {
				bounds, want, reason string
			}{
				{bound(`min`, value), e.namespace, ""},
				{bound(`max`, value), e.namespace, ""},
				{bound(`min`, value+1), e.builtIn, v1alpha1.ReasonOutOfRange},
				{bound(`max`, value-1), e.builtIn, v1alpha1.ReasonOutOfRange},
			} {
				cluster := spec[v1alpha1.ClusterRegistryPolicySpec](t, "namespaceOverrides.ranges."+limit, r.bounds)
				checkField(t, path, r.want, cluster, namespace, r.reason)
			}
		})
	}
}

func bound(name string, n int32) string { return fmt.Sprintf("{%q: %d}", name, n) }

func namespaceNumber(t *testing.T, path string, s *v1alpha1.RegistryPolicySpec) *int32 {
	t.Helper()
	for _, f := range fields() {
		if f.name == path {
			return f.number(withGroups(ofNamespace(s)))
		}
	}
	t.Fatalf("no field %s", path)
	return nil
}

func TestAContradictionIsTakenBack(t *testing.T) {
	for name, tc := range map[string]struct {
		cluster, namespace string // below leases
		invalid            []string
		message            string
	}{
		"the duration of the namespace, not longer than the interval of the cluster": {
			`{"defaultRenewalIntervalSeconds":40}`, `{"defaultDurationSeconds":40,"readyGraceSeconds":1}`,
			[]string{"leases.defaultDurationSeconds"},
			"40 is not used, because defaultDurationSeconds (40) must be longer than defaultRenewalIntervalSeconds (40); 90 holds instead",
		},
		"a bound of the namespace below the duration in force": {
			`{"defaultDurationSeconds":80}`, `{"bounds":{"maxDurationSeconds":79}}`,
			[]string{"leases.bounds.maxDurationSeconds"},
			"79 is not used, because defaultDurationSeconds (80) must not be above maxDurationSeconds (79); it counts as unset",
		},
		"bounds that cross": {
			`{"bounds":{"minDurationSeconds":60}}`, `{"defaultDurationSeconds":50,"bounds":{"maxDurationSeconds":55}}`,
			[]string{"leases.bounds.maxDurationSeconds", "leases.defaultDurationSeconds"},
			"55 is not used, because minDurationSeconds (60) must not be above maxDurationSeconds (55); it counts as unset",
		},
		"both of a namespace that was stored before the API server knew the rule": {
			`{}`, `{"defaultDurationSeconds":10,"defaultRenewalIntervalSeconds":20}`,
			[]string{"leases.defaultDurationSeconds", "leases.defaultRenewalIntervalSeconds"},
			"10 is not used, because defaultDurationSeconds (10) must be longer than defaultRenewalIntervalSeconds (20); 90 holds instead",
		},
		"a longest lease that ends before the first renewal": {
			`{}`, `{"bounds":{"maxDurationSeconds":100,"minRenewalIntervalSeconds":100}}`,
			[]string{"leases.bounds.maxDurationSeconds", "leases.bounds.minRenewalIntervalSeconds"},
			"100 is not used, because maxDurationSeconds (100) must be longer than minRenewalIntervalSeconds (100); it counts as unset",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, problems := Merge(spec[v1alpha1.ClusterRegistryPolicySpec](t, "leases", tc.cluster),
				spec[v1alpha1.RegistryPolicySpec](t, "leases", tc.namespace))
			names := make([]string, 0, len(problems))
			for _, p := range problems {
				names = append(names, p.Field)
				if p.Reason != v1alpha1.ReasonInvalid {
					t.Errorf("%s: reason %s", p.Field, p.Reason)
				}
			}
			if diff := cmp.Diff(tc.invalid, names); diff != "" {
				t.Fatalf("fields (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.message, problems[0].Message); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatComesOutIsAlwaysConsistent(t *testing.T) {
	n := rapid.Ptr(rapid.Int32Range(0, 100), true)
	leases := rapid.Custom(func(t *rapid.T) *v1alpha1.Leases {
		return &v1alpha1.Leases{
			DefaultDurationSeconds: n.Draw(t, "duration"), DefaultRenewalIntervalSeconds: n.Draw(t, "interval"),
			Bounds: &v1alpha1.LeaseBounds{
				MinDurationSeconds: n.Draw(t, "minDuration"), MaxDurationSeconds: n.Draw(t, "maxDuration"),
				MinRenewalIntervalSeconds: n.Draw(t, "minInterval"), MaxRenewalIntervalSeconds: n.Draw(t, "maxInterval"),
			},
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		cluster := &v1alpha1.ClusterRegistryPolicySpec{Policy: v1alpha1.Policy{Leases: leases.Draw(t, "cluster")}}
		namespace := &v1alpha1.RegistryPolicySpec{Leases: leases.Draw(t, "namespace")}
		effective, _, _ := Merge(cluster, namespace)
		p := withGroups(&effective)
		if r := broken(p); r != nil {
			t.Fatal(r.say(p))
		}
	})
}

func TestTheEngineGetsWhatIsInForce(t *testing.T) {
	_, engine, _ := Merge(nil, nil)
	if diff := cmp.Diff(verdict.DefaultPolicy(), engine); diff != "" {
		t.Errorf("nobody decided anything (-want +got):\n%s", diff)
	}
	cluster := map[string]any{}
	for path, e := range examples() {
		put(t, cluster, path, e.cluster)
	}
	_, engine, problems := Merge(decode[v1alpha1.ClusterRegistryPolicySpec](t, cluster), nil)
	want := verdict.Policy{
		Observe: true, RenewalThresholdPercent: 70, MaxHold: 900e9, DefaultDuration: 80e9, DefaultInterval: 20e9,
		MinDuration: 50e9, MaxDuration: 500e9, MinInterval: 5e9, MaxInterval: 50e9,
		NotReady: verdict.OutOfService, Disruption: verdict.Ignore, ContainerDown: verdict.Ignore,
		ReadinessHold: 10e9, HostNamePodIP: true, AcrossNamespaces: verdict.Merge,
		HardNotice: verdict.Ignore, PlannedNotice: verdict.Ignore, Cordon: verdict.OutOfService,
		Unreachable: verdict.Ignore, UnreachableAfter: 30e9, MaxUnreachablePercent: 40,
		AdditionalTaints: []verdict.AdditionalTaint{{Key: "a", Hard: true}, {Key: "b", Value: "v", Effect: "NoSchedule"}},
	}
	if diff := cmp.Diff(want, engine); diff != "" {
		t.Errorf("the cluster decided everything (-want +got):\n%s", diff)
	}
	if len(problems) > 0 {
		t.Errorf("problems: %+v", problems)
	}
}
