// Package release tests what people get: that a release comes out the same in any
// folder, that its image says what the Dockerfile says, is one for other tools and runs
// with nothing but its own files, and that the bills of materials tell what the
// programs are made of. It owns nothing that others use.
package release
