// Package verdict holds the rules: what was seen and what time it is go in, a
// verdict with its reason comes out. Every rule is a named check in one ordered
// list, the strongest class first; the first that fires decides, and [Explain]
// runs all of them.
//
// A verdict is a function of the current state, never of the order of events, so
// a missed, late or repeated event cannot leave a wrong one behind. What is
// unknown is never treated as dead.
//
// The package is pure. It imports the standard library and package evidence
// only.
package verdict
