// Package admit lets pods be changed while they are created: it owns how the API
// server's question is read and answered. What is changed is the business of the
// packages that use it. It must not import internal packages of the registry or the
// cluster.
package admit
