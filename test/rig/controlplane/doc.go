// Package controlplane runs a real Kubernetes control plane for tests and the
// demo: etcd, kube-apiserver and kube-controller-manager as child processes of
// the caller. It owns finding, downloading or building the three binaries,
// certificates, ports and the life of the processes, including outages on
// purpose. It does not run nodes (see test/rig/kubelet) and must not import
// anything of the product.
package controlplane
