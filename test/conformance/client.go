package conformance

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// family is the language or the kind of a client.
type family string

const (
	familyJVM        family = "JVM"
	familyJavaScript family = "JavaScript"
	familyPython     family = "Python"
	familyGo         family = "Go"
	familyNET        family = ".NET"
	familyPHP        family = "PHP"
	familyLua        family = "Lua"
	familyElixir     family = "Elixir"
	familyRust       family = "Rust"
	familyTools      family = "tool"
)

// Client is one client in one version and one way of use: a row of
// docs/compatibility.md and a lane.
type Client struct {
	// Name and Version are what the row is called, and what the lane must say of
	// itself in whoami.
	Name    string
	Version string
	// Packaged means that the distribution decides the version: Version is empty, and
	// the page says which one ran.
	Packaged bool
	ran      string // what a packaged one has said of itself
	// Variant tells rows of the same client apart, for example "delta". It may be empty.
	Variant string
	Family  family

	Program *Program
	Kind    string // LANE_CLIENT
	Delta   bool   // LANE_DELTA
	Base    string // path of the base URL, "/eureka/" if empty

	Emulated bool // written from the protocol, because the client cannot be installed
	ReadOnly bool // registers nothing
	Lacks    Lacks
	Does     Does

	// Registers returns what the client registers, given what follows its
	// settings. Nil means just that.
	Registers func(Instance) Instance
	// Returns is Registers for the registration after the registry did not know it.
	// Nil means the same.
	Returns func(Instance) Instance
	// UpByOverride means that it is UP by an override of its own, so that an operator
	// ends one by setting UP.
	UpByOverride bool
	// Sees returns how an instance of the registry looks to this client, and
	// whether it shows at all. Nil means as it is.
	Sees func(Instance) (Instance, bool)

	// Notes say in full sentences what a user of the client should know. Limits of
	// the client, as against the registry, belong here.
	Notes []string
}

// Lacks says what a client has no means for.
type Lacks struct {
	Status   bool // its own status after the start
	Override bool // asking for an override
	Deltas   bool // it never asks for deltas, whatever it is told
	Stop     bool // deregistration
	Renew    bool // heartbeats
	Amazon   bool // decoding an instance with Amazon's data center
	Reads    bool // reading the registry
	Rejoin   bool // registering again once the registry does not know it
}

// Does says what a client can be asked for beyond what every client can.
type Does struct {
	Reconcile bool // its stats have its own hash, and how often it did not match
	Actuator  bool // it sets overrides through an actuator, as a preStop hook does
	Route     bool // it routes calls to what it knows
	Watch     bool // it is Spring Boot Admin
}

// The conditions that scenes are for.
func registers(c *Client) bool    { return !c.ReadOnly }
func reads(c *Client) bool        { return !c.Lacks.Reads }
func readsOdd(c *Client) bool     { return reads(c) && !c.Lacks.Amazon }
func readsDeltas(c *Client) bool  { return reads(c) && c.Delta && !c.Lacks.Deltas }
func setsStatus(c *Client) bool   { return registers(c) && !c.Lacks.Status }
func setsOverride(c *Client) bool { return registers(c) && !c.Lacks.Override }
func renews(c *Client) bool       { return registers(c) && !c.Lacks.Renew }
func rejoins(c *Client) bool      { return registers(c) && !c.Lacks.Rejoin }
func outlives(c *Client) bool     { return !c.Lacks.Rejoin }
func reconciles(c *Client) bool   { return c.Does.Reconcile }
func routes(c *Client) bool       { return c.Does.Route }
func watches(c *Client) bool      { return c.Does.Watch }
func stops(c *Client) bool        { return registers(c) && !c.Lacks.Stop }

// Program is what hosts lanes.
type Program struct {
	Name string
	// Prepare installs what the program needs, with its own files and outside the
	// checkout, and returns its command line. It reports progress.
	Prepare func(ctx context.Context, shop *Workshop, progress io.Writer) (argv []string, err error)
	// Hosts means that the program takes LANES.
	Hosts bool
	// Env is added to the environment.
	Env func(shop *Workshop) []string
}

// Slug names the client in applications, files and tests.
func (c *Client) Slug() string {
	parts := []string{c.Name, c.Version, c.Variant}
	var b strings.Builder
	for _, part := range parts {
		if part == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('-')
		}
		b.WriteString(part)
	}
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		default:
			return '-'
		}
	}, b.String()), "-")
}

// listing is what the registry should list of the client, which may have come back.
func (c *Client) listing(in Instance, returned bool) Instance {
	in = in.clone()
	if c.Registers != nil {
		in = c.Registers(in)
	}
	if returned && c.Returns != nil {
		in = c.Returns(in)
	}
	return in
}

// sees is the registry as the client should hold it.
func (c *Client) sees(registry []Instance) []Instance {
	var seen []Instance
	for _, in := range registry {
		if c.Sees == nil {
			seen = append(seen, in)
			continue
		}
		if in, ok := c.Sees(in.clone()); ok {
			seen = append(seen, in)
		}
	}
	sortInstances(seen)
	return seen
}

// seesElementNames is for clients that read XML and take the names of elements for
// keys. A Eureka server escapes what cannot stand in a name, underscores among it,
// and only Java clients undo that.
func seesElementNames(in Instance) (Instance, bool) {
	in.renameKeys(elementName)
	return in, true
}

// elementName escapes ASCII as a Eureka server does, and leaves letters beyond it.
func elementName(key string) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	var b strings.Builder
	for i, r := range key {
		switch {
		case r == '_':
			b.WriteString("__")
		case r == '$':
			b.WriteString("_-")
		case r > unicode.MaxASCII, strings.ContainsRune(letters, r), i > 0 && strings.ContainsRune("0123456789-.", r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "_.%04x", r)
		}
	}
	return b.String()
}
