package audit

import "slices"

// Rule is one thing to look for.
type Rule struct {
	// ID names the rule and never changes.
	ID       string
	Severity Severity
	// About says in one line what the rule looks for, Advice what to do about it
	// unless a finding says something of its own.
	About, Advice string
	// check finds it in a workload. It keeps nothing.
	check func(*subject) []hit
	// servers says that the rule is for Eureka servers, too.
	servers bool
}

// Group is the rules about one subject, in the order of docs/audit.md.
type Group struct {
	Title string
	Rules []Rule
}

// Groups lists every rule. A new one is added here, in the group's own file.
func Groups() []Group {
	return []Group{
		{"The end of a pod", endRules()},
		{"Hand-written preStop hooks", hookRules()},
		{"Probes", probeRules()},
		{"Leases and caches", leaseRules()},
		{"Who an instance is", identityRules()},
		{"Where it runs", placementRules()},
		{"Other settings", settingRules()},
	}
}

// Rules lists every rule in one.
func Rules() []Rule {
	var all []Rule
	for _, g := range Groups() {
		all = slices.Concat(all, g.Rules)
	}
	return all
}
