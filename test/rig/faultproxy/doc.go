// Package faultproxy stands between a client and an HTTP server, an API server
// above all, and fails in the ways that networks and servers do: it refuses
// connections, swallows bytes, cuts streams, answers 429 or 410, or answers lists
// from the past. It decides nothing by itself; a test sets its mode.
//
// It ends TLS, because statuses can only be given by one who reads the requests, and
// asks the server as the user it was given. It must not import anything of the
// product.
package faultproxy
