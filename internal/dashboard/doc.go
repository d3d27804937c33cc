// Package dashboard answers people: the read-only API under /kureka/v1, which
// explains why an instance is shown as it is, what changed lately and why, and how
// well the cluster is seen. It changes nothing and counts as no client.
//
// It may import registry, cluster and version. It must not import server,
// client-go, evidence or verdict: what it shows, package cluster has already put
// into words. Handlers may be called concurrently.
package dashboard
