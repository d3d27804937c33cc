// Package netns re-runs a program inside a user and network namespace of its
// own, where it may bind any address of 10.99.0.0/16 and every connection keeps
// the source address it was bound to. That gives the instances of a test or the
// demo addresses of their own without privileges and without touching the
// machine's network. It owns namespaces and loopback addresses, nothing else,
// and must not import anything of the product.
//
// Inside there is no route to the outside: fetch whatever comes from the network
// before entering.
package netns
