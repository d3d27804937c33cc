// Package chains plays failures from their cause to what clients see, on a real
// control plane: nodes lose power or fall silent, watches are cut, the API server
// is away or answers from the past, processes pause, clients come back late. Each
// chain is a test on one stage of test/rig/stage and asserts, on every answer of
// the Eureka API, who must go and who must stay, and asks for the reason.
//
// Timers are compressed by policy, by flags of the controllers and by the clients'
// own intervals; the rules are those of the product. No chain asserts how long
// something took. The times in docs/failure-modes.md are those the chains log.
//
// The package talks to the product through its program, its ports and the API
// server, and must not import anything of it.
package chains
