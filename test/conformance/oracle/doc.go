// Command oracle plays the same requests to Kureka and to the reference server,
// compares the answers and what both then list, and explains every difference by
// a named rule or fails with the shortest sequence that shows it. It owns the
// generator of sequences, the comparison and the rules; docs/wire-compat.md says
// why each rule is there.
package main
