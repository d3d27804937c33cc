package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/internal/verdict"
)

// Problem is a field that is set and not used.
type Problem struct {
	// Field is its path below spec.
	Field string
	// Reason is ReasonDenied, ReasonOutOfRange or ReasonInvalid.
	Reason string
	// Message says in a part of a sentence why, and what holds instead.
	Message string
}

// Merge combines field by field what is built in, what the cluster decided and
// what the namespace decided; either may be nil. It returns the whole policy for a
// status and for the engine, and the problems of the namespace, or those of the
// cluster if there is no namespace.
//
// A value that is denied, out of range, invalid or in contradiction with the others
// counts as unset, so the result is always consistent.
func Merge(
	cluster *v1alpha1.ClusterRegistryPolicySpec, namespace *v1alpha1.RegistryPolicySpec,
) (v1alpha1.Policy, verdict.Policy, []Problem) {
	effective := builtIn()
	var problems []Problem
	var bounds *v1alpha1.NamespaceOverrides
	if cluster != nil {
		problems = lay(effective, &cluster.Policy, nil)
		bounds = cluster.NamespaceOverrides
	}
	if namespace != nil {
		problems = lay(effective, ofNamespace(namespace), bounds)
	}
	engine := forEngine(effective)
	if *effective.Leases.Bounds == (v1alpha1.LeaseBounds{}) {
		effective.Leases.Bounds = nil
	}
	return *effective, engine, problems
}

// lay puts a layer over a complete and consistent policy and returns what it had
// to leave out.
func lay(under, layer *v1alpha1.Policy, bounds *v1alpha1.NamespaceOverrides) []Problem {
	base := under.DeepCopy()
	layer = withGroups(layer)
	all := fields()
	var problems []Problem
	used := map[string]field{}
	for _, f := range all {
		if f.value(layer) == "" {
			continue
		}
		if reason, why := refusal(f, layer, bounds); reason != "" {
			problems = append(problems, Problem{f.name, reason, f.value(layer) + " " + why})
			continue
		}
		f.copy(under, layer)
		used[f.name] = f
	}
	problems = append(problems, contradictions(under, base, used)...)
	for i, p := range problems {
		at := slices.IndexFunc(all, func(f field) bool { return f.name == p.Field })
		problems[i].Message += "; " + holds(all[at].value(under))
	}
	return problems
}

func holds(value string) string {
	if value == "" {
		return "it counts as unset"
	}
	return value + " holds instead"
}

// refusal says why the value of one field is not used; the reason is empty if it is.
func refusal(f field, layer *v1alpha1.Policy, bounds *v1alpha1.NamespaceOverrides) (reason, why string) {
	if bounds != nil && slices.Contains(bounds.Denied, f.group) {
		return v1alpha1.ReasonDenied, fmt.Sprintf("is not used, the cluster decides everything in %s", f.group)
	}
	if why := f.fault(layer); why != "" {
		return v1alpha1.ReasonInvalid, why
	}
	if bounds == nil || bounds.Ranges == nil || f.limit == nil {
		return "", ""
	}
	r, n := f.limit(bounds.Ranges), *f.number(layer)
	switch {
	case r == nil:
	case r.Min != nil && n < *r.Min:
		return v1alpha1.ReasonOutOfRange, fmt.Sprintf("is below %d, the least that the cluster allows", *r.Min)
	case r.Max != nil && n > *r.Max:
		return v1alpha1.ReasonOutOfRange, fmt.Sprintf("is above %d, the most that the cluster allows", *r.Max)
	}
	return "", ""
}

// contradictions takes back what a layer used and what does not fit together.
// Every round takes back at least one field, because the base has no
// contradiction; so it ends.
func contradictions(p, base *v1alpha1.Policy, used map[string]field) []Problem {
	var problems []Problem
	for r := broken(p); r != nil; r = broken(p) {
		var back []field
		for _, name := range r.fields {
			if f, ok := used[name]; ok {
				back = append(back, f)
				problems = append(problems, Problem{name, v1alpha1.ReasonInvalid, f.value(p) + " is not used, because " + r.say(p)})
			}
		}
		if len(back) == 0 {
			return problems
		}
		for _, f := range back {
			f.copy(p, base)
			delete(used, f.name)
		}
	}
	return problems
}

// rule relates two numbers of a policy; it holds where one of them is unset.
type rule struct {
	fields [2]string
	// values of the fields.
	values func(*v1alpha1.Policy) (a, b *int32)
	must   string
	ok     func(a, b int32) bool
}

func (r *rule) say(p *v1alpha1.Policy) string {
	a, b := r.values(p)
	return fmt.Sprintf("%s (%d) %s %s (%d)", leaf(r.fields[0]), *a, r.must, leaf(r.fields[1]), *b)
}

func leaf(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// broken returns the first rule that does not hold, nil if all do.
func broken(p *v1alpha1.Policy) *rule {
	for _, r := range rules() {
		if a, b := r.values(p); a != nil && b != nil && !r.ok(*a, *b) {
			return &r
		}
	}
	return nil
}

func rules() []rule {
	notAbove := func(a, b int32) bool { return a <= b }
	above := func(a, b int32) bool { return a > b }
	pair := func(a, b, must string, ok func(a, b int32) bool) rule {
		return rule{[2]string{a, b}, func(p *v1alpha1.Policy) (x, y *int32) { return lease(p, a), lease(p, b) }, must, ok}
	}
	return []rule{
		pair(minDuration, maxDuration, "must not be above", notAbove),
		pair(minInterval, maxInterval, "must not be above", notAbove),
		pair(maxDuration, minInterval, "must be longer than", above),
		pair(duration, interval, "must be longer than", above),
		pair(minDuration, duration, "must not be above", notAbove),
		pair(duration, maxDuration, "must not be above", notAbove),
		pair(minInterval, interval, "must not be above", notAbove),
		pair(interval, maxInterval, "must not be above", notAbove),
	}
}

// lease returns one of the numbers that contradict each other.
func lease(p *v1alpha1.Policy, name string) *int32 {
	switch name {
	case duration:
		return p.Leases.DefaultDurationSeconds
	case interval:
		return p.Leases.DefaultRenewalIntervalSeconds
	case minDuration:
		return p.Leases.Bounds.MinDurationSeconds
	case maxDuration:
		return p.Leases.Bounds.MaxDurationSeconds
	case minInterval:
		return p.Leases.Bounds.MinRenewalIntervalSeconds
	default:
		return p.Leases.Bounds.MaxRenewalIntervalSeconds
	}
}
