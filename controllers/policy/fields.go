package policy

import (
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kureka/kureka/api/v1alpha1"
)

// field is one field of a policy. Its functions need a policy that has every group.
type field struct {
	name string
	// group is empty for what only the cluster has.
	group v1alpha1.NamespaceSetting
	// value says the value, empty if it is not set.
	value func(*v1alpha1.Policy) string
	copy  func(to, from *v1alpha1.Policy)
	// fault says what is wrong with a value that is set, empty if nothing is.
	fault func(*v1alpha1.Policy) string
	// number and limit are nil where the cluster has no range.
	number func(*v1alpha1.Policy) *int32
	limit  func(*v1alpha1.NamespaceRanges) *v1alpha1.Range
}

// fields returns every field of a policy, in the order of the messages.
func fields() []field {
	return slices.Concat(
		[]field{word("mode", v1alpha1.SettingMode, func(p *v1alpha1.Policy) *v1alpha1.PolicyMode { return &p.Mode },
			v1alpha1.Enforce, v1alpha1.Observe)},
		selfPreservationFields(), leaseFields(), podFields(), nodeFields(), clusterFields(), drainFields(), gateFields(),
	)
}

func selfPreservationFields() []field {
	const group = v1alpha1.SettingSelfPreservation
	return []field{
		word("selfPreservation.mode", group, func(p *v1alpha1.Policy) *v1alpha1.Switch { return &p.SelfPreservation.Mode },
			v1alpha1.Enabled, v1alpha1.Disabled),
		number("selfPreservation.renewalThresholdPercent", group, 1, 100,
			func(p *v1alpha1.Policy) **int32 { return &p.SelfPreservation.RenewalThresholdPercent }).
			within(func(r *v1alpha1.NamespaceRanges) *v1alpha1.Range { return r.RenewalThresholdPercent }),
		number("selfPreservation.maxHoldSeconds", group, 0, 86400,
			func(p *v1alpha1.Policy) **int32 { return &p.SelfPreservation.MaxHoldSeconds }),
	}
}

// The fields that contradict each other when they do not fit together.
const (
	duration    = "leases.defaultDurationSeconds"
	interval    = "leases.defaultRenewalIntervalSeconds"
	minDuration = "leases.bounds.minDurationSeconds"
	maxDuration = "leases.bounds.maxDurationSeconds"
	minInterval = "leases.bounds.minRenewalIntervalSeconds"
	maxInterval = "leases.bounds.maxRenewalIntervalSeconds"
)

func leaseFields() []field {
	const group = v1alpha1.SettingLeases
	return []field{
		number(duration, group, 2, 86400, func(p *v1alpha1.Policy) **int32 { return &p.Leases.DefaultDurationSeconds }).
			within(func(r *v1alpha1.NamespaceRanges) *v1alpha1.Range { return r.DefaultDurationSeconds }),
		number(interval, group, 1, 3600, func(p *v1alpha1.Policy) **int32 { return &p.Leases.DefaultRenewalIntervalSeconds }).
			within(func(r *v1alpha1.NamespaceRanges) *v1alpha1.Range { return r.DefaultRenewalIntervalSeconds }),
		number(minDuration, group, 2, 86400, func(p *v1alpha1.Policy) **int32 { return &p.Leases.Bounds.MinDurationSeconds }),
		number(maxDuration, group, 2, 86400, func(p *v1alpha1.Policy) **int32 { return &p.Leases.Bounds.MaxDurationSeconds }),
		number(minInterval, group, 1, 3600, func(p *v1alpha1.Policy) **int32 { return &p.Leases.Bounds.MinRenewalIntervalSeconds }),
		number(maxInterval, group, 1, 3600, func(p *v1alpha1.Policy) **int32 { return &p.Leases.Bounds.MaxRenewalIntervalSeconds }),
		number("leases.readyGraceSeconds", group, 0, 3600, func(p *v1alpha1.Policy) **int32 { return &p.Leases.ReadyGraceSeconds }).
			within(func(r *v1alpha1.NamespaceRanges) *v1alpha1.Range { return r.ReadyGraceSeconds }),
		number("leases.maxEvictionPercent", group, 0, 100, func(p *v1alpha1.Policy) **int32 { return &p.Leases.MaxEvictionPercent }).
			within(func(r *v1alpha1.NamespaceRanges) *v1alpha1.Range { return r.MaxEvictionPercent }),
	}
}

func podFields() []field {
	const group = v1alpha1.SettingPods
	return []field{
		action("pods.notReady", group, func(p *v1alpha1.Policy) *v1alpha1.Action { return &p.Pods.NotReady }),
		number("pods.readinessHoldSeconds", group, 0, 3600, func(p *v1alpha1.Policy) **int32 { return &p.Pods.ReadinessHoldSeconds }).
			within(func(r *v1alpha1.NamespaceRanges) *v1alpha1.Range { return r.ReadinessHoldSeconds }),
		action("pods.disruption", group, func(p *v1alpha1.Policy) *v1alpha1.Action { return &p.Pods.Disruption }),
		action("pods.containerDown", group, func(p *v1alpha1.Policy) *v1alpha1.Action { return &p.Pods.ContainerDown }),
		word("pods.hostName", group, func(p *v1alpha1.Policy) *v1alpha1.HostNamePolicy { return &p.Pods.HostName },
			v1alpha1.KeepHostName, v1alpha1.RewriteToPodIP),
	}
}

func nodeFields() []field {
	const group = v1alpha1.SettingNodes
	return []field{
		action("nodes.hardNotice", group, func(p *v1alpha1.Policy) *v1alpha1.Action { return &p.Nodes.HardNotice }),
		action("nodes.plannedNotice", group, func(p *v1alpha1.Policy) *v1alpha1.Action { return &p.Nodes.PlannedNotice }),
		action("nodes.cordon", group, func(p *v1alpha1.Policy) *v1alpha1.Action { return &p.Nodes.Cordon }),
		action("nodes.unreachable.action", group, func(p *v1alpha1.Policy) *v1alpha1.Action { return &p.Nodes.Unreachable.Action }),
		number("nodes.unreachable.afterSeconds", group, 5, 3600,
			func(p *v1alpha1.Policy) **int32 { return &p.Nodes.Unreachable.AfterSeconds }).
			within(func(r *v1alpha1.NamespaceRanges) *v1alpha1.Range { return r.UnreachableAfterSeconds }),
	}
}

// clusterFields are facts of the whole cluster.
func clusterFields() []field {
	return []field{
		taints(),
		number("nodes.maxUnreachablePercent", "", 1, 100, func(p *v1alpha1.Policy) **int32 { return &p.Nodes.MaxUnreachablePercent }),
		number("breaker.minInServicePercent", "", 0, 100, func(p *v1alpha1.Policy) **int32 { return &p.Breaker.MinInServicePercent }),
		word("appsAcrossNamespaces", "", func(p *v1alpha1.Policy) *v1alpha1.NamespaceCollision { return &p.AppsAcrossNamespaces },
			v1alpha1.MergeNamespaces, v1alpha1.WarnOfNamespaces, v1alpha1.FirstNamespaceOnly),
	}
}

func drainFields() []field {
	const group = v1alpha1.SettingDrain
	return []field{
		word("drain.mode", group, func(p *v1alpha1.Policy) *v1alpha1.DrainMode { return &p.Drain.Mode },
			v1alpha1.DrainDisabled, v1alpha1.DrainSleep, v1alpha1.DrainHold),
		drainSeconds(),
		number("drain.maxSeconds", group, 1, 600, func(p *v1alpha1.Policy) **int32 { return &p.Drain.MaxSeconds }).
			within(func(r *v1alpha1.NamespaceRanges) *v1alpha1.Range { return r.DrainMaxSeconds }),
		number("drain.loadBalancerCacheSeconds", group, 0, 600,
			func(p *v1alpha1.Policy) **int32 { return &p.Drain.LoadBalancerCacheSeconds }),
		word("drain.onExistingHook", group, func(p *v1alpha1.Policy) *v1alpha1.ExistingHook { return &p.Drain.OnExistingHook },
			v1alpha1.KeepHook, v1alpha1.ReplaceHook),
	}
}

func gateFields() []field {
	return []field{
		number("readinessGate.maxWaitSeconds", v1alpha1.SettingReadinessGate, 1, 3600,
			func(p *v1alpha1.Policy) **int32 { return &p.ReadinessGate.MaxWaitSeconds }).
			within(func(r *v1alpha1.NamespaceRanges) *v1alpha1.Range { return r.ReadinessGateMaxWaitSeconds }),
	}
}

// word is a field with a fixed set of values.
func word[T ~string](name string, group v1alpha1.NamespaceSetting, at func(*v1alpha1.Policy) *T, values ...T) field {
	return field{
		name: name, group: group,
		value: func(p *v1alpha1.Policy) string { return string(*at(p)) },
		copy:  func(to, from *v1alpha1.Policy) { *at(to) = *at(from) },
		fault: func(p *v1alpha1.Policy) string {
			if slices.Contains(values, *at(p)) {
				return ""
			}
			return fmt.Sprintf("is none of %v", values)
		},
	}
}

func action(name string, group v1alpha1.NamespaceSetting, at func(*v1alpha1.Policy) *v1alpha1.Action) field {
	return word(name, group, at, v1alpha1.OutOfService, v1alpha1.Ignore)
}

// number is a field with a smallest and a largest value.
func number(name string, group v1alpha1.NamespaceSetting, least, most int32, at func(*v1alpha1.Policy) **int32) field {
	return field{
		name: name, group: group,
		value: func(p *v1alpha1.Policy) string {
			if *at(p) == nil {
				return ""
			}
			return strconv.Itoa(int(**at(p)))
		},
		copy: func(to, from *v1alpha1.Policy) { *at(to) = *at(from) },
		fault: func(p *v1alpha1.Policy) string {
			if n := **at(p); n < least || n > most {
				return fmt.Sprintf("is not from %d to %d", least, most)
			}
			return ""
		},
		number: func(p *v1alpha1.Policy) *int32 { return *at(p) },
	}
}

// within makes the cluster's range hold for a number.
func (f field) within(limit func(*v1alpha1.NamespaceRanges) *v1alpha1.Range) field {
	f.limit = limit
	return f
}

// drainSeconds is a number or Auto.
func drainSeconds() field {
	return field{
		name: "drain.seconds", group: v1alpha1.SettingDrain,
		value: func(p *v1alpha1.Policy) string {
			if p.Drain.Seconds == nil {
				return ""
			}
			return p.Drain.Seconds.String()
		},
		copy: func(to, from *v1alpha1.Policy) { to.Drain.Seconds = from.Drain.Seconds },
		fault: func(p *v1alpha1.Policy) string {
			s := p.Drain.Seconds
			if s.Type == intstr.String && s.StrVal == "Auto" || s.Type == intstr.Int && s.IntVal >= 0 && s.IntVal <= 600 {
				return ""
			}
			return "is neither a number from 0 to 600 nor Auto"
		},
	}
}

// taints is the list of additional taints; one without a key makes it useless.
func taints() field {
	return field{
		name:  "nodes.additionalTerminationTaints",
		value: func(p *v1alpha1.Policy) string { return taintKeys(p.Nodes.AdditionalTerminationTaints) },
		copy: func(to, from *v1alpha1.Policy) {
			to.Nodes.AdditionalTerminationTaints = from.Nodes.AdditionalTerminationTaints
		},
		fault: func(p *v1alpha1.Policy) string {
			list := p.Nodes.AdditionalTerminationTaints
			if len(list) > maxTaints {
				return fmt.Sprintf("has more than %d entries", maxTaints)
			}
			if slices.ContainsFunc(list, func(t v1alpha1.TerminationTaint) bool { return t.Key == "" }) {
				return "has an entry without a key"
			}
			return ""
		},
	}
}

// maxTaints is how many additional taints there may be.
const maxTaints = 32

func taintKeys(list []v1alpha1.TerminationTaint) string {
	keys := make([]string, 0, len(list))
	for _, t := range list[:min(len(list), maxTaints)] {
		keys = append(keys, t.Key)
	}
	if len(keys) == 0 {
		return ""
	}
	return fmt.Sprint(keys)
}
