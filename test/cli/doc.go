// Package cli plays scenes of the incident, and some more, on a real API server and
// asks a real Kureka about them with the command line, as somebody does at night.
//
// A test says what the first sentence and the advice must be; `go test -v` prints the
// whole answers, and docs/cli.md shows some.
package cli
