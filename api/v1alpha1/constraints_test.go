package v1alpha1_test

import "slices"

// constraints are all that the API server checks, by kind.
func constraints() map[string][]constraint {
	return map[string][]constraint{
		clusterPolicy:   slices.Concat(policyConstraints(), clusterOnlyConstraints(), rangeConstraints()),
		namespacePolicy: slices.Concat(policyConstraints(), namespaceOnlyConstraints()),
		registration:    slices.Concat(registrationConstraints(), selectorConstraints(), classConstraints(), statusConstraints()),
	}
}

// policyConstraints are those that both kinds of policies have.
func policyConstraints() []constraint {
	return slices.Concat(
		classConstraints(), statusConstraints(), leaseConstraints(),
		oneOf("spec.mode", "Enforce", "Observe"),
		oneOf("spec.selfPreservation.mode", "Enabled", "Disabled"),
		between("spec.selfPreservation.renewalThresholdPercent", 1, 100),
		between("spec.selfPreservation.maxHoldSeconds", 0, 86400),
		oneOf("spec.pods.notReady", "OutOfService", "Ignore"),
		between("spec.pods.readinessHoldSeconds", 0, 3600),
		oneOf("spec.pods.disruption", "OutOfService", "Ignore"),
		oneOf("spec.pods.containerDown", "OutOfService", "Ignore"),
		oneOf("spec.pods.hostName", "Keep", "PodIP"),
		oneOf("spec.nodes.hardNotice", "OutOfService", "Ignore"),
		oneOf("spec.nodes.plannedNotice", "OutOfService", "Ignore"),
		oneOf("spec.nodes.cordon", "OutOfService", "Ignore"),
		oneOf("spec.nodes.unreachable.action", "OutOfService", "Ignore"),
		between("spec.nodes.unreachable.afterSeconds", 5, 3600),
		oneOf("spec.drain.mode", "Disabled", "Sleep", "Hold"),
		rule("spec.drain.seconds", "seconds is a number from 0 to 600 or Auto", `600`, `601`),
		rule("spec.drain.seconds", "seconds is a number from 0 to 600 or Auto", `0`, `-1`),
		rule("spec.drain.seconds", "seconds is a number from 0 to 600 or Auto", `"Auto"`, `"35"`),
		between("spec.drain.maxSeconds", 1, 600),
		between("spec.drain.loadBalancerCacheSeconds", 0, 600),
		oneOf("spec.drain.onExistingHook", "Keep", "Replace"),
		between("spec.readinessGate.maxWaitSeconds", 1, 3600),
	)
}

func leaseConstraints() []constraint {
	return slices.Concat(
		between("spec.leases.defaultDurationSeconds", 2, 86400),
		between("spec.leases.defaultRenewalIntervalSeconds", 1, 3600),
		between("spec.leases.readyGraceSeconds", 0, 3600),
		between("spec.leases.maxEvictionPercent", 0, 100),
		between("spec.leases.bounds.minDurationSeconds", 2, 86400),
		between("spec.leases.bounds.maxDurationSeconds", 2, 86400),
		between("spec.leases.bounds.minRenewalIntervalSeconds", 1, 3600),
		between("spec.leases.bounds.maxRenewalIntervalSeconds", 1, 3600),
		rule("spec.leases",
			"defaultDurationSeconds must be longer than defaultRenewalIntervalSeconds, or every lease would end before its first renewal",
			`{"defaultDurationSeconds": 31, "defaultRenewalIntervalSeconds": 30}`,
			`{"defaultDurationSeconds": 30, "defaultRenewalIntervalSeconds": 30}`),
		rule("spec.leases", "defaultDurationSeconds must lie within bounds",
			`{"defaultDurationSeconds": 10, "bounds": {"minDurationSeconds": 10, "maxDurationSeconds": 10}}`,
			`{"defaultDurationSeconds": 9, "bounds": {"minDurationSeconds": 10}}`),
		rule("spec.leases", "defaultDurationSeconds must lie within bounds",
			`{"defaultDurationSeconds": 10, "bounds": {"maxDurationSeconds": 10}}`,
			`{"defaultDurationSeconds": 11, "bounds": {"maxDurationSeconds": 10}}`),
		rule("spec.leases", "defaultRenewalIntervalSeconds must lie within bounds",
			`{"defaultRenewalIntervalSeconds": 5, "bounds": {"minRenewalIntervalSeconds": 5, "maxRenewalIntervalSeconds": 5}}`,
			`{"defaultRenewalIntervalSeconds": 4, "bounds": {"minRenewalIntervalSeconds": 5}}`),
		rule("spec.leases", "defaultRenewalIntervalSeconds must lie within bounds",
			`{"defaultRenewalIntervalSeconds": 5, "bounds": {"maxRenewalIntervalSeconds": 5}}`,
			`{"defaultRenewalIntervalSeconds": 6, "bounds": {"maxRenewalIntervalSeconds": 5}}`),
		rule("spec.leases.bounds", "minDurationSeconds must not be above maxDurationSeconds",
			`{"minDurationSeconds": 20, "maxDurationSeconds": 20}`, `{"minDurationSeconds": 21, "maxDurationSeconds": 20}`),
		rule("spec.leases.bounds", "minRenewalIntervalSeconds must not be above maxRenewalIntervalSeconds",
			`{"minRenewalIntervalSeconds": 20, "maxRenewalIntervalSeconds": 20}`,
			`{"minRenewalIntervalSeconds": 21, "maxRenewalIntervalSeconds": 20}`),
		rule("spec.leases.bounds",
			"maxDurationSeconds must be longer than minRenewalIntervalSeconds, or every lease would end before its first renewal",
			`{"maxDurationSeconds": 21, "minRenewalIntervalSeconds": 20}`,
			`{"maxDurationSeconds": 20, "minRenewalIntervalSeconds": 20}`),
	)
}

func clusterOnlyConstraints() []constraint {
	const taints = "spec.nodes.additionalTerminationTaints"
	return slices.Concat(
		rule("metadata.name", "there is one ClusterRegistryPolicy per cluster, and its name is default", `"default"`, `"other"`),
		few(taints, "maxItems", 32, list(`{"key": "x%d"}`)),
		required(taints+"[].key", "x"),
		notEmpty(taints+"[].key", "x"),
		text(taints+"[].key", "example.com/ending", "no/two/slashes", 317, long(253)+"/"),
		text(taints+"[].value", "now", "not a label value", 63, ""),
		oneOf(taints+"[].effect", "NoSchedule", "PreferNoSchedule", "NoExecute"),
		oneOf(taints+"[].notice", "Hard", "Planned"),
		between("spec.nodes.maxUnreachablePercent", 1, 100),
		between("spec.breaker.minInServicePercent", 0, 100),
		oneOf("spec.appsAcrossNamespaces", "Merge", "Warn", "FirstNamespaceOnly"),
	)
}

func rangeConstraints() []constraint {
	const overrides = "spec.namespaceOverrides"
	out := slices.Concat(
		few(overrides+".denied", "maxItems", 7, func(n int) any {
			return []any{"Mode", "SelfPreservation", "Leases", "Pods", "Nodes", "Drain", "ReadinessGate", "Mode"}[:n]
		}),
		rule(overrides+".denied", "unique", `["Mode", "Pods"]`, `["Mode", "Mode"]`),
		oneOf(overrides+".denied[]", "Mode", "SelfPreservation", "Leases", "Pods", "Nodes", "Drain", "ReadinessGate"),
	)
	for _, name := range []string{
		"renewalThresholdPercent", "defaultDurationSeconds", "defaultRenewalIntervalSeconds", "readyGraceSeconds",
		"maxEvictionPercent", "readinessHoldSeconds", "unreachableAfterSeconds", "drainMaxSeconds", "readinessGateMaxWaitSeconds",
	} {
		path := overrides + ".ranges." + name
		out = slices.Concat(out,
			between(path+".min", 0, 86400),
			between(path+".max", 0, 86400),
			rule(path, "a range has a min, a max or both", `{"min": 1}`, `{}`),
			rule(path, "min must not be above max", `{"min": 5, "max": 5}`, `{"min": 6, "max": 5}`),
		)
	}
	return out
}

func namespaceOnlyConstraints() []constraint {
	out := slices.Concat(
		rule("metadata.name", "there is one RegistryPolicy per namespace, and its name is default", `"default"`, `"other"`),
		oneOf("status.figures.selfPreservation", "Engaged", "Watching", "Disabled"),
		required("status.figures.selfPreservation", "Engaged"),
	)
	for _, name := range []string{"leases", "expected", "received", "held"} {
		out = slices.Concat(out, required("status.figures."+name, int64(0)), notNegative("status.figures."+name))
	}
	return out
}

func classConstraints() []constraint {
	const path = "spec.registryClassName"
	return slices.Concat(notEmpty(path, "blue"), text(path, "blue-2", "Blue", 63, ""))
}

func statusConstraints() []constraint {
	const condition = `{"type": "Type%d", "status": "True", "reason": "Accepted", "message": "", "lastTransitionTime": "2026-11-29T00:00:00Z"}`
	return slices.Concat(
		notNegative("status.observedGeneration"),
		few("status.conditions", "maxItems", 16, list(condition)),
		[]constraint{{"status.conditions", "unique", []any{list(condition)(2)}, append(list(condition)(1).([]any), list(condition)(1).([]any)...)}},
	)
}

func registrationConstraints() []constraint {
	const portRule = " is a number from 1 to 65535 or the name of a container port"
	out := slices.Concat(
		[]constraint{{"spec", "required", []any{parse(`{"app": "demo", "serviceName": "demo", "port": 1}`)}, nil}},
		rule("spec", "set exactly one of selector and serviceName",
			`{"app": "demo", "port": 1, "selector": {"matchLabels": {"app": "demo"}}}`, `{"app": "demo", "port": 1}`),
		rule("spec", "set exactly one of selector and serviceName", `{"app": "demo", "port": 1, "serviceName": "demo"}`,
			`{"app": "demo", "port": 1, "serviceName": "demo", "selector": {"matchLabels": {"app": "demo"}}}`),
		rule("spec", "set port, securePort or both",
			`{"app": "demo", "serviceName": "demo", "securePort": 1}`, `{"app": "demo", "serviceName": "demo"}`),
		rule("spec", "secureVipAddress needs a securePort",
			`{"app": "demo", "serviceName": "demo", "securePort": 1, "secureVipAddress": "demo"}`,
			`{"app": "demo", "serviceName": "demo", "port": 1, "secureVipAddress": "demo"}`),
		required("spec.app", "demo"),
		notEmpty("spec.app", "demo"),
		text("spec.app", "Order_Service.v2-eu", "order service", 128, ""),
		notEmpty("spec.serviceName", "demo"),
		text("spec.serviceName", "demo-2", "demo.2", 63, ""),
		notEmpty("spec.vipAddress", "demo"),
		text("spec.vipAddress", "demo,demo.example.com:80", "demo vip", 255, ""),
		notEmpty("spec.secureVipAddress", "demo"),
		text("spec.secureVipAddress", "demo,demo.example.com:443", "demo vip", 255, ""),
		few("spec.metadata", "maxProperties", 64, pairs),
		rule("spec.metadata", metadataNameRule, `{"_management.context-path": "/"}`, `{"a/b": "c"}`),
		rule("spec.metadata", metadataNameRule, `{"`+long(128)+`": ""}`, `{"`+long(129)+`": ""}`),
		[]constraint{{"spec.metadata.{}", "maxLength", []any{long(1024)}, long(1025)}},
		labelConstraints(),
		oneOf("spec.hostName", "PodIP", "PodDNS"),
		notNegative("status.matchedPods"),
		notNegative("status.registeredInstances"),
	)
	for _, name := range []string{"port", "securePort", "managementPort"} {
		path := "spec." + name
		out = slices.Concat(out,
			rule(path, name+portRule, `1`, `0`),
			rule(path, name+portRule, `65535`, `65536`),
			rule(path, name+portRule, `"http-2"`, `"8080"`),
			rule(path, name+portRule, `"abcdefghijklmno"`, `"abcdefghijklmnop"`),
			rule(path, name+portRule, `"a-b"`, `"a--b"`),
		)
	}
	for _, name := range []string{"homePage", "statusPage", "healthCheck"} {
		out = slices.Concat(out, text("spec.paths."+name, "/actuator/health?x=1", "health", 1024, "/"))
	}
	return out
}

const metadataNameRule = "a metadata name has at most 128 letters, digits, dots, underscores and hyphens and begins with a letter or underscore"

const labelKeyRule = "the key of a label is a name of at most 63 characters, after a prefix and a slash or alone"

func labelConstraints() []constraint {
	const path = "spec.metadataFromLabels"
	return slices.Concat(
		few(path, "maxItems", 32, list(`{"label": "x%d"}`)),
		rule(path, "unique", `[{"label": "a"}, {"label": "b"}]`, `[{"label": "a"}, {"label": "a", "name": "b"}]`),
		rule(path+"[]", "a label with a prefix needs a name, because metadata names have no slash",
			`{"label": "example.com/version", "name": "version"}`, `{"label": "example.com/version"}`),
		required(path+"[].label", "x"),
		notEmpty(path+"[].label", "x"),
		text(path+"[].label", "app.version", "-", 317, long(253)+"/"),
		notEmpty(path+"[].name", "x"),
		text(path+"[].name", "version", "2nd", 128, ""),
	)
}

func selectorConstraints() []constraint {
	const path = "spec.selector"
	const terms = path + ".matchExpressions"
	return slices.Concat(
		rule(path, "a selector needs a label or an expression, or it would choose every pod",
			`{"matchLabels": {"app": "demo"}}`, `{}`),
		rule(path, "a selector needs a label or an expression, or it would choose every pod",
			`{"matchExpressions": [{"key": "app", "operator": "Exists"}]}`, `{"matchLabels": {}, "matchExpressions": []}`),
		few(path+".matchLabels", "maxProperties", 32, pairs),
		rule(path+".matchLabels", labelKeyRule, `{"example.com/`+long(63)+`": ""}`, `{"`+long(64)+`": ""}`),
		text(path+".matchLabels.{}", "demo", "not a label value", 63, ""),
		few(terms, "maxItems", 32, list(`{"key": "x%d", "operator": "Exists"}`)),
		rule(terms+"[]", "In and NotIn need values, Exists and DoesNotExist have none",
			`{"key": "x", "operator": "In", "values": ["a"]}`, `{"key": "x", "operator": "In"}`),
		rule(terms+"[]", "In and NotIn need values, Exists and DoesNotExist have none",
			`{"key": "x", "operator": "DoesNotExist"}`, `{"key": "x", "operator": "Exists", "values": ["a"]}`),
		required(terms+"[].key", "x"),
		notEmpty(terms+"[].key", "x"),
		text(terms+"[].key", "example.com/track", "a b", 317, long(253)+"/"),
		required(terms+"[].operator", "In"),
		oneOf(terms+"[].operator", "In", "NotIn"),
		few(terms+"[].values", "maxItems", 32, list(`"x%d"`)),
		text(terms+"[].values[]", "demo", "not a label value", 63, ""),
	)
}
