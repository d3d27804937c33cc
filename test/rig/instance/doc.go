// Package instance runs one instance of a service as an operating system process
// of its own: an HTTP listener on an address of its own and a small Eureka client
// with the manners of the stock ones, which talks to the registry from that
// address. The program is the caller's own one, run again with a hidden argument,
// so nothing has to be built first; see RunIfChosen.
//
// Runtime makes these processes the containers of test/rig/kubelet. The package
// must not import anything of the product: it is the other side of the wire.
package instance
