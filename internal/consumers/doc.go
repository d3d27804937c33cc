// Package consumers knows who fetches the registry: how often, up to which version,
// and when the last of them has learned that an instance left service. Drains are as
// long as that takes, and the time in which a dead address may still be called is
// measured by it.
//
// A consumer is a source address with a user agent. Only one that sends from the
// address of a single pod is known to be one process; behind a proxy or an address
// translation many look like one, so those are counted, never relied on.
//
// The package is pure: it may import registry and the standard library, must not
// import net/http or server, and reads no clock but the one it is given. A [Tracker]
// may be used concurrently.
package consumers
