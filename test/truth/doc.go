// Package truth tests the whole way from Kubernetes objects and client requests to
// the list against a model that knows only machines, processes, links and objects:
// who lives, who can be reached, what was written. It drives thousands of seeded
// histories in virtual time and checks that no living, reachable instance is out or
// gone while what is written about it is ambiguous, that the provably dead are gone
// in bound, and that the last instance of an application stays.
//
// What the registry concludes is not the model's business: it must import neither
// verdict nor evidence, but for the words of the prober. It feeds objects through
// controllers/feed and requests through the methods that the server calls.
package truth
