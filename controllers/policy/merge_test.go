package policy

import (
	"encoding/json"
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

// example is what one field can be, in JSON; empty means that it is not there.
type example struct{ builtIn, cluster, namespace, wrong string }

// examples has every field by its path.
func examples() map[string]example {
	return map[string]example{
		"mode":                  {`"Enforce"`, `"Observe"`, `"Enforce"`, `"Wrong"`},
		"selfPreservation.mode": {`"Enabled"`, `"Disabled"`, `"Enabled"`, `"Wrong"`},
		"selfPreservation.renewalThresholdPercent": {`85`, `70`, `60`, `101`},
		"selfPreservation.maxHoldSeconds":          {`0`, `900`, `60`, `-1`},
		"leases.defaultDurationSeconds":            {`90`, `80`, `70`, `1`},
		"leases.defaultRenewalIntervalSeconds":     {`30`, `20`, `10`, `3601`},
		"leases.bounds.minDurationSeconds":         {``, `50`, `60`, `1`},
		"leases.bounds.maxDurationSeconds":         {``, `500`, `600`, `86401`},
		"leases.bounds.minRenewalIntervalSeconds":  {``, `5`, `6`, `0`},
		"leases.bounds.maxRenewalIntervalSeconds":  {``, `50`, `60`, `3601`},
		"leases.readyGraceSeconds":                 {`90`, `0`, `60`, `3601`},
		"leases.maxEvictionPercent":                {`15`, `0`, `30`, `101`},
		"pods.notReady":                            {`"Ignore"`, `"OutOfService"`, `"Ignore"`, `"Wrong"`},
		"pods.readinessHoldSeconds":                {`0`, `10`, `20`, `3601`},
		"pods.disruption":                          {`"OutOfService"`, `"Ignore"`, `"OutOfService"`, `"Wrong"`},
		"pods.containerDown":                       {`"OutOfService"`, `"Ignore"`, `"OutOfService"`, `"Wrong"`},
		"pods.hostName":                            {`"Keep"`, `"PodIP"`, `"Keep"`, `"Wrong"`},
		"nodes.hardNotice":                         {`"OutOfService"`, `"Ignore"`, `"OutOfService"`, `"Wrong"`},
		"nodes.plannedNotice":                      {`"OutOfService"`, `"Ignore"`, `"OutOfService"`, `"Wrong"`},
		"nodes.cordon":                             {`"Ignore"`, `"OutOfService"`, `"Ignore"`, `"Wrong"`},
		"nodes.unreachable.action":                 {`"OutOfService"`, `"Ignore"`, `"OutOfService"`, `"Wrong"`},
		"nodes.unreachable.afterSeconds":           {`20`, `30`, `40`, `4`},
		"nodes.additionalTerminationTaints":        {``, `[{"key":"a","notice":"Hard"},{"effect":"NoSchedule","key":"b","value":"v"}]`, ``, `[{"key":""}]`},
		"nodes.maxUnreachablePercent":              {`55`, `40`, ``, `0`},
		"breaker.minInServicePercent":              {`50`, `0`, ``, `101`},
		"appsAcrossNamespaces":                     {`"Warn"`, `"Merge"`, ``, `"Wrong"`},
		"drain.mode":                               {`"Disabled"`, `"Sleep"`, `"Hold"`, `"Wrong"`},
		"drain.seconds":                            {`"Auto"`, `20`, `"Auto"`, `601`},
		"drain.maxSeconds":                         {`90`, `60`, `30`, `0`},
		"drain.loadBalancerCacheSeconds":           {`35`, `0`, `10`, `601`},
		"drain.onExistingHook":                     {`"Keep"`, `"Replace"`, `"Keep"`, `"Wrong"`},
	}
}

func TestEveryFieldOfAPolicyIsMergedAndHasAnExample(t *testing.T) {
	want := leaves(reflect.TypeFor[v1alpha1.Policy](), "")
	slices.Sort(want)
	var merged []string
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
	} {
		t.Run(limit, func(t *testing.T) {
			e := examples()[path]
			namespace := spec[v1alpha1.RegistryPolicySpec](t, path, e.namespace)
			value := *namespaceNumber(t, path, namespace)
			for _, r := range []struct {
				bounds, want, reason string
			}{
				{number2(`min`, value), e.namespace, ""},
				{number2(`max`, value), e.namespace, ""},
				{number2(`min`, value+1), e.builtIn, v1alpha1.ReasonOutOfRange},
				{number2(`max`, value-1), e.builtIn, v1alpha1.ReasonOutOfRange},
			} {
				cluster := spec[v1alpha1.ClusterRegistryPolicySpec](t, "namespaceOverrides.ranges."+limit, r.bounds)
				checkField(t, path, r.want, cluster, namespace, r.reason)
			}
		})
	}
}

func number2(bound string, n int32) string {
	data, _ := json.Marshal(map[string]int32{bound: n})
	return string(data)
}

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
			_, _, problems := Effective(spec[v1alpha1.ClusterRegistryPolicySpec](t, "leases", tc.cluster),
				spec[v1alpha1.RegistryPolicySpec](t, "leases", tc.namespace))
			var names []string
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
		effective, _, _ := Effective(cluster, namespace)
		p := withGroups(&effective)
		if r := broken(p); r != nil {
			t.Fatal(r.say(p))
		}
	})
}

func TestTheEngineGetsWhatIsInForce(t *testing.T) {
	_, engine, _ := Effective(nil, nil)
	if diff := cmp.Diff(verdict.DefaultPolicy(), engine); diff != "" {
		t.Errorf("nobody decided anything (-want +got):\n%s", diff)
	}
	cluster := map[string]any{}
	for path, e := range examples() {
		put(t, cluster, path, e.cluster)
	}
	_, engine, problems := Effective(decode[v1alpha1.ClusterRegistryPolicySpec](t, cluster), nil)
	want := verdict.Policy{
		Observe: true, RenewalThresholdPercent: 70, MaxHold: 900e9, DefaultDuration: 80e9, DefaultInterval: 20e9,
		MinDuration: 50e9, MaxDuration: 500e9, MinInterval: 5e9, MaxInterval: 50e9,
		NotReady: verdict.OutOfService, Disruption: verdict.Ignore, ContainerDown: verdict.Ignore,
		HardNotice: verdict.Ignore, PlannedNotice: verdict.Ignore, Cordon: verdict.OutOfService,
		AdditionalTaints: []verdict.AdditionalTaint{{Key: "a", Hard: true}, {Key: "b", Value: "v", Effect: "NoSchedule"}},
	}
	if diff := cmp.Diff(want, engine); diff != "" {
		t.Errorf("the cluster decided everything (-want +got):\n%s", diff)
	}
	if len(problems) > 0 {
		t.Errorf("problems: %+v", problems)
	}
}

// checkField compares one field of what is in force, and the reason of its only
// problem; an empty reason means that there is none.
func checkField(
	t *testing.T, path, want string, c *v1alpha1.ClusterRegistryPolicySpec, n *v1alpha1.RegistryPolicySpec, reason string,
) {
	t.Helper()
	effective, _, problems := Effective(c, n)
	if got := get(t, effective, path); got != want {
		t.Errorf("%s is %s, want %s", path, got, want)
	}
	switch {
	case reason == "" && len(problems) > 0:
		t.Errorf("problems: %+v", problems)
	case reason != "" && (len(problems) != 1 || problems[0].Field != path || problems[0].Reason != reason):
		t.Errorf("problems: %+v, want %s because of %s", problems, path, reason)
	}
}

// get returns the JSON of one field, empty if it is not there.
func get(t *testing.T, p v1alpha1.Policy, path string) string {
	t.Helper()
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(path, ".") {
		group, _ := v.(map[string]any)
		v = group[name]
	}
	if v == nil {
		return ""
	}
	data, err = json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// spec returns a spec with one field.
func spec[T any](t *testing.T, path, value string) *T {
	t.Helper()
	m := map[string]any{}
	put(t, m, path, value)
	return decode[T](t, m)
}

func put(t *testing.T, m map[string]any, path, value string) {
	t.Helper()
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		if m[name] == nil {
			m[name] = map[string]any{}
		}
		m = m[name].(map[string]any)
	}
	var v any
	if err := json.Unmarshal([]byte(value), &v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	m[names[len(names)-1]] = v
}

func decode[T any](t *testing.T, m map[string]any) *T {
	t.Helper()
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	out := new(T)
	if err := json.Unmarshal(data, out); err != nil {
		t.Fatal(err)
	}
	return out
}
