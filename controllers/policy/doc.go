// Package policy reads the policies of the cluster and its namespaces, hands the
// complete set to whoever decides, and writes into their status what is in force.
// It owns how policies combine, and nothing of what they do.
//
// Nothing waits for it: without the custom resources, or without the permission to
// read them, the built-in policy or the last one read stays in force.
//
// It may import client-go, controller-runtime and the packages api and verdict. It
// must not import cluster, server, eureka or registry.
package policy
