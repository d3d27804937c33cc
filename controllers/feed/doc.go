// Package feed hands on what watches and live reads show. It turns objects into
// evidence, and it doubts what no watch has seen: a pod that a list lacks may be
// missing because the list is from the past, so it asks for a live read of it.
//
// It calls the API server only through its own interface, has no timer and starts
// no goroutine: package controllers owns the watches and the rhythm of the live
// reads. It may import the API types of Kubernetes and ours, and the packages cluster, evidence and
// verdict, and must not import client-go.
package feed
