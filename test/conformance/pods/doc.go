// Package pods runs a Spring Boot application in pods of a real API server, with
// Kureka as its operator: readiness probes that ask for the status in the registry,
// and restarts of containers whose preStop hook took the instance out of service.
//
// It consists of tests. Like its parent it must not import the product.
package pods
