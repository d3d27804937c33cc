// Package cluster joins what the cluster's watches saw with what clients
// registered. It owns the index of pods, nodes and addresses, the binding of
// registrations to pods, the verdict in force for every instance, and the
// freshness of the view; it asks package verdict what follows from the evidence
// and tells the registry.
//
// Verdicts belong to pods and exist before any registration: one is applied
// inside the register call, so an instance of a pod that is ending never shows
// up, not even for a moment.
//
// It may import evidence, verdict and registry. It must not import client-go,
// net/http or anything that blocks: no call out of this package waits for the
// API server. Time is an argument. All methods of [Cluster] may be called
// concurrently.
package cluster
