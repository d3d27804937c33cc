// Package audit finds, in the manifests of workloads, what makes clients of the
// registry call instances that are gone, or keeps Kureka from helping: objects in,
// findings out. It owns the rules; rules.go is the one list of them, from which
// docs/audit.md is generated.
//
// A rule speaks only about what a manifest shows. Settings inside images, in Secrets
// and in config servers stay unknown, and nothing follows from what is not there.
//
// The package is pure and may be used concurrently: it imports types of Kubernetes and
// of this product's resources, and must not talk to anybody.
package audit
