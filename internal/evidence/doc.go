// Package evidence is the vocabulary of what was seen: the state of pods, nodes
// and containers as their watches last reported it, reduced to what the rules
// ask about. It holds no conclusion and no rule.
//
// The package is pure and imports the standard library only. Values are
// immutable once handed over.
package evidence
