// Package eureka owns the Eureka v1 wire: how an instance, an application and
// a whole registry look in JSON and XML, how a registration body is read, the
// reconcile hash and the escaping of XML element names.
//
// Writing is strict, because one unknown key or one number in place of a
// string makes typed clients lose the whole registry. Reading is lenient,
// because clients of every language register with whatever their authors
// found to work.
//
// The package is pure: it knows nothing about leases, verdicts or HTTP, it
// reads no clock and it imports the standard library only, never net/http, os
// or log. All functions are safe for concurrent use.
package eureka
