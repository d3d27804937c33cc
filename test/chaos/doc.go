// Package chaos runs the tools of hack/chaos as people do, with a real kubectl and
// curl: against pods of a real API server, instances that die, and a registry that
// tells of it.
//
// It asserts what the tools do and say. How long anything takes is for the tools'
// own limits.
package chaos
