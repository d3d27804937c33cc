// Package registry is the engine of Kureka: instances and their leases, status
// overrides, verdicts, self-preservation, the fence against the dead, the change
// log and the immutable snapshots that every read is answered from.
//
// It keeps four things about an instance apart, because they end at different
// moments: the record the client sent, the override an operator set, the verdict
// the cluster reached, and the lease. The status the world sees is computed from
// the first three.
//
// The package is pure. It imports the standard library only, starts no goroutine,
// reads no clock (time is an argument), and neither logs nor measures: callers
// wrap it with both. It must not import net/http, client-go or any other package
// of this module.
//
// All methods of [Engine] may be called concurrently.
package registry
