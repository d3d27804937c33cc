// Package controllers watches the cluster. It owns the watches of pods, nodes,
// node Leases, EndpointSlices and Services, the rhythm of the live reads that confirm what a
// watch did not see itself, the canary Lease, and the Events about verdicts; what
// the objects say is for package feed below it. It holds no rule.
//
// The way from a watch event to the registry is a plain function call: no queue,
// no cache in between, no call to the API server. Whatever needs one runs beside
// it and comes back as evidence.
//
// It may import client-go, controller-runtime and the packages cluster, evidence,
// verdict and api. It must not import server, eureka or registry internals.
package controllers
