// Package registration reads the EurekaRegistrations, hands the complete set to
// package cluster, which registers the pods, and writes into their status what
// became of them. It owns how a resource becomes an offer, and no rule about pods.
//
// Nothing waits for it: without the custom resource, or without the permission to
// read it, what was offered last stays offered.
//
// It may import client-go, controller-runtime and the packages api, cluster and
// evidence. It must not import server, eureka or registry.
package registration
