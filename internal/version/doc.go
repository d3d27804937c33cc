// Package version owns the name of the running build, as shown by the command
// line, the dashboard and the metrics. It imports the standard library only, so
// that every layer that is not pure can ask for it.
package version
