// Package stage is where the product is played with: a Rig is a control plane
// with operators, each the program under test as a process; a Stage is a namespace
// with nodes of its own, whose pods are instances with processes and addresses; a
// View is what every answer of a registry says about one application.
//
// It owns what plays and what is seen, and no expectation. It talks to the product
// through its program, its ports and the API server, and must not import anything
// of it.
package stage
