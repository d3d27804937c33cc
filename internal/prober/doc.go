// Package prober asks whether anybody answers at an address, by opening a TCP
// connection and closing it again. It owns the sockets and their bounds: how many
// attempts are under way, how many begin in a second, and how long one may take.
// What is asked, and what follows from the answers, is decided elsewhere; addresses
// are never looked up, and nothing is sent.
//
// It may import evidence. It must not import cluster or anything that knows the
// rules.
package prober
