package policy

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kureka/kureka/api/v1alpha1"
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
		"readinessGate.maxWaitSeconds":             {`300`, `120`, `60`, `0`},
	}
}

// checkField compares one field of what is in force, and the reason of its only
// problem; an empty reason means that there is none.
func checkField(
	t *testing.T, path, want string, c *v1alpha1.ClusterRegistryPolicySpec, n *v1alpha1.RegistryPolicySpec, reason string,
) {
	t.Helper()
	effective, _, problems := Merge(c, n)
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
