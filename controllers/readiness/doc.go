// Package readiness has pods that opt in wait for the registry: a rollout goes on
// when the new pod is listed, not when its probe succeeds. The admission handler
// adds the readiness gate, and a loop writes the condition that it asks for into
// the status of pods. Whether a pod is registered is package cluster's to say.
//
// The condition becomes True once and stays so: what comes later is the business of
// the pod's readiness, and taking a pod out because it is out would latch. A pod
// that is older than its namespace's bound is released whatever the registry says,
// so a registry that misses somebody delays a rollout and does not stop it.
//
// It may import client-go, controller-runtime and the packages api and cluster.
package readiness
