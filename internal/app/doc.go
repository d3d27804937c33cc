// Package app puts Kureka together: flags, listeners, what runs, and in which
// order it stops. It is the only package that knows all others and the only one
// that reads the process's clock for them.
package app
