// Package dashboard answers people: the read-only API under /kureka/v1, which
// explains why an instance is shown as it is, what changed lately and why, and how
// well the cluster is seen, and pages that show the same and the registry. It changes
// nothing and counts as no client.
//
// Pages are made here from the shapes of the API and the immutable snapshot. Their
// script only asks for them again when a stream of events says that it is time.
//
// It may import registry, cluster and version. It must not import server,
// client-go, evidence or verdict: what it shows, package cluster has already put
// into words. Handlers may be called concurrently.
package dashboard
