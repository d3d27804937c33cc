// Package java runs Java applications as the containers of test/rig/kubelet. An
// application listens on the address of its pod; what it sends to the registry
// goes through a pipe that calls from the pod's address, which is what the network
// of a cluster sees to.
//
// It owns the processes, their logs and their pipes, and must not import anything
// of the product.
package java
