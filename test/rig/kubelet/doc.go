// Package kubelet is a small stand-in for the kubelet: it registers a Node, keeps
// its Lease, runs the pods bound to it through a Runtime and writes the status a
// real kubelet writes, in the same order. Deaths are its purpose: the API object,
// the process and the kubelet itself can fail independently of each other.
//
// On the network it is a port that accepts connections, for those who ask whether
// anybody is there; see Options.Port. Where addresses can be made to vanish, a node
// without power answers nothing.
//
// It owns no processes itself and imports nothing of the product. Images, volumes
// and ordinary init containers do not exist here: the latter count as completed.
package kubelet
