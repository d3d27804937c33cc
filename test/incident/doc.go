// Package incident replays what the product is for: instances that die in every
// way there is, on a real API server, with real processes, real Eureka clients
// and a gateway that goes on calling what it knows.
//
// A scene is a function that plays on one stage of test/rig/stage and returns
// what was seen: states and their order, which Expectations compare with what they
// should be, and timings, which are only reported. The demo prints the scenes, the
// tests check the expectations.
//
// The package talks to the product through its program, its ports and the API
// server, and must not import anything of it.
package incident
