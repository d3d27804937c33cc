// Package kubelet is a small stand-in for the kubelet: it registers a Node, keeps
// its Lease, runs the pods bound to it through a Runtime and writes the status a
// real kubelet writes, in the same order. Deaths are its purpose: the API object,
// the process and the kubelet itself can fail independently of each other.
//
// It owns no processes itself and imports nothing of the product. Images, volumes
// and ordinary init containers do not exist here: the latter count as completed.
package kubelet
