// Package gateway watches the registry from a client's side: a gateway that keeps
// a cache by deltas, as the Java clients do, and calls what it knows; and a
// prober that reads one application as fast as it can. It owns what they saw and
// when, and must not import anything of the product: it is the other side of the
// wire.
package gateway
