// Package server owns the Eureka HTTP API: routes, negotiation, limits and
// response bodies. It asks a [Registry] and decides nothing itself.
//
// Reads are answered from one immutable snapshot, so list, hash and delta agree
// and a read that starts after a write has returned includes it. Nothing is
// cached by time: the encoded and deflated form of a segment is kept with the
// segment, so a change costs the work for one segment, and heartbeats, which
// change no segment, cost none.
//
// Clients of every language dictate the manners. An answer is never a redirect,
// a 406 or a 415, and it has no body unless it is a document or says why a
// registration was refused: a client that meets an unexpected body on a 404 does
// not register again.
//
// The package may import registry and eureka, logr and the Prometheus client. It
// must not import cluster or any other package of this module, and it reads no
// clock but the one it is given.
package server
