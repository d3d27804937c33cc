package v1alpha1_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// example is an object with every field set.
type example struct{ spec, status string }

func complete() map[string]example {
	const shared = `"mode": "Observe",
		"selfPreservation": {"mode": "Enabled", "renewalThresholdPercent": 85, "maxHoldSeconds": 0},
		"leases": {"defaultDurationSeconds": 90, "defaultRenewalIntervalSeconds": 30, "readyGraceSeconds": 90, "maxEvictionPercent": 15,
			"bounds": {"minDurationSeconds": 5, "maxDurationSeconds": 600, "minRenewalIntervalSeconds": 1, "maxRenewalIntervalSeconds": 60}},
		"pods": {"notReady": "Ignore", "readinessHoldSeconds": 0, "disruption": "OutOfService", "containerDown": "OutOfService", "hostName": "Keep"},
		"drain": {"mode": "Sleep", "seconds": "Auto", "maxSeconds": 90, "loadBalancerCacheSeconds": 35, "onExistingHook": "Keep"},
		"readinessGate": {"maxWaitSeconds": 300}`
	const nodes = `"hardNotice": "OutOfService", "plannedNotice": "OutOfService", "cordon": "Ignore",
		"unreachable": {"action": "OutOfService", "afterSeconds": 20}`
	const policy = shared + `, "breaker": {"minInServicePercent": 50}, "appsAcrossNamespaces": "Warn", "nodes": {` + nodes + `,
		"additionalTerminationTaints": [{"key": "example.com/ending", "value": "now", "effect": "NoExecute", "notice": "Hard"}],
		"maxUnreachablePercent": 55}`
	const limits = `"renewalThresholdPercent": {"min": 1, "max": 2}, "defaultDurationSeconds": {"min": 1, "max": 2},
		"defaultRenewalIntervalSeconds": {"min": 1, "max": 2}, "readyGraceSeconds": {"min": 1, "max": 2},
		"maxEvictionPercent": {"min": 1, "max": 2}, "readinessHoldSeconds": {"min": 1, "max": 2},
		"unreachableAfterSeconds": {"min": 1, "max": 2}, "drainMaxSeconds": {"min": 1, "max": 2},
		"readinessGateMaxWaitSeconds": {"min": 1, "max": 2}`
	const observed = `"observedGeneration": 1, "conditions": [
		{"type": "Accepted", "status": "True", "reason": "Accepted", "message": "", "lastTransitionTime": "2026-11-29T00:00:00Z"}]`
	return map[string]example{
		clusterPolicy: {
			spec: `{` + policy + `, "registryClassName": "blue",
				"namespaceOverrides": {"denied": ["Mode", "Drain"], "ranges": {` + limits + `}}}`,
			status: `{` + observed + `, "effective": {` + policy + `}}`,
		},
		namespacePolicy: {
			spec: `{` + shared + `, "nodes": {` + nodes + `}, "registryClassName": "blue"}`,
			status: `{` + observed + `, "effective": {` + policy + `},
				"figures": {"leases": 12, "expected": 24, "received": 16, "selfPreservation": "Engaged", "held": 4}}`,
		},
		registration: {
			spec: `{"app": "demo", "port": 8080, "securePort": "https", "managementPort": 9000,
				"selector": {"matchLabels": {"app": "demo"}, "matchExpressions": [{"key": "track", "operator": "In", "values": ["a"]}]},
				"vipAddress": "demo", "secureVipAddress": "demo-secure", "metadata": {"team": "media"},
				"metadataFromLabels": [{"label": "version", "name": "release"}],
				"paths": {"homePage": "/", "statusPage": "/info", "healthCheck": "/health"},
				"hostName": "PodIP", "registryClassName": "blue"}`,
			status: `{` + observed + `, "matchedPods": 2, "registeredInstances": 1}`,
		},
	}
}

// createComplete stores an object with every field set until the test ends.
func createComplete(t *testing.T, kind string) *unstructured.Unstructured {
	t.Helper()
	o := minimal(kind)
	o.Object["spec"] = parse(complete()[kind].spec)
	stored := create(t, o)
	stored.Object["status"] = parse(complete()[kind].status)
	stored, err := apiFor(o).UpdateStatus(t.Context(), stored, metav1.UpdateOptions{FieldValidation: "Strict"})
	if err != nil {
		t.Fatal(err)
	}
	return stored
}
