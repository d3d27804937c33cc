// Package manifest reads what an audit looks at from YAML and JSON, as it is written
// by hand, rendered by Helm or listed by an API server. It owns how documents become
// objects, and the limits on that. It must not open files or talk to anybody.
package manifest
