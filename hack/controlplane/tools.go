//go:build tools

// Package controlplane pins the Kubernetes binaries that tests and the demo run
// against. It is a module of its own so that none of it reaches Kureka's binary.
package controlplane

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
)
