package main

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// key names an instance as both servers list it.
type key struct{ app, id string }

// step is one request. What it means is kept beside it, so that rules need not
// parse it again.
type step struct {
	kind   kind
	method string
	target string // escaped path and query below the base
	accept string
	header http.Header
	body   string

	key  key    // of the instance concerned, zero for lists
	tags tags   // what is odd about it
	says status // the status it sets or reports, "" if none
	dirty
}

// dirty is the lastDirtyTimestamp a step carries.
type dirty struct {
	ms   int64
	sent bool
}

func (d dirty) text() string { return strconv.FormatInt(d.ms, 10) }

type status string

type kind string

const (
	register   kind = "register"
	heartbeat  kind = "heartbeat"
	cancel     kind = "cancel"
	pin        kind = "pin"   // PUT status
	unpin      kind = "unpin" // DELETE status
	annotate   kind = "annotate"
	readAll    kind = "read all"
	readDelta  kind = "read delta"
	readApp    kind = "read app"
	readOne    kind = "read one"
	readByID   kind = "read by id"
	readVIP    kind = "read vip"
	readSecure kind = "read svip"
)

// writes reports whether the step can change what is listed.
func (s *step) writes() bool {
	switch s.kind {
	case register, heartbeat, cancel, pin, unpin, annotate:
		return true
	default:
		return false
	}
}

// tags name what is odd about a request; rules ask for them.
type tags map[string]bool

// String writes the step as a command that repeats it.
func (s *step) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "curl -s -i -X %s", s.method)
	if s.accept != "" {
		fmt.Fprintf(&b, " -H 'Accept: %s'", s.accept)
	}
	for _, name := range slices.Sorted(maps.Keys(s.header)) {
		fmt.Fprintf(&b, " -H '%s: %s'", name, s.header.Get(name))
	}
	if s.body != "" {
		fmt.Fprintf(&b, " --data-binary '%s'", strings.ReplaceAll(s.body, "'", `'\''`))
	}
	fmt.Fprintf(&b, " \"$BASE%s\"", s.target)
	return b.String()
}

func instancePath(k key, rest string) string {
	return "/apps/" + url.PathEscape(k.app) + "/" + url.PathEscape(k.id) + rest
}
