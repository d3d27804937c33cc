// Package recorded owns the requests that real clients sent to the registry, as
// test data: for the router and the decoders, and as seeds for fuzzing. They are
// written by `test/conformance/run -capture`, with all traces of the machine
// removed. It must not import anything of this module.
//
// A file holds the requests of one client, in the form of HTTP/1.1 with plain line
// ends. Each follows a line of three number signs, the kind of the request, and the
// status that it was answered with.
package recorded

import (
	"bytes"
	"embed"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
)

//go:embed requests/*.http
var files embed.FS

// Request is one request that a client sent.
type Request struct {
	Client string // the file's name without its ending
	Kind   string // for example "register"
	Status int    // what it was answered with

	Method string
	URI    string // path and query, as sent
	Header http.Header
	Body   []byte
}

const separator = "### "

// All returns the requests of all clients, by client and in the order they were
// sent in.
func All() ([]Request, error) {
	entries, err := files.ReadDir("requests")
	if err != nil {
		return nil, fmt.Errorf("listing the recorded clients: %w", err)
	}
	var all []Request
	for _, entry := range entries {
		text, err := files.ReadFile(path.Join("requests", entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading the recorded requests: %w", err)
		}
		requests, err := Parse(strings.TrimSuffix(entry.Name(), ".http"), text)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", entry.Name(), err)
		}
		all = append(all, requests...)
	}
	return all, nil
}

// Format writes the requests of one client. Parse reads it back.
func Format(requests []Request) []byte {
	var b bytes.Buffer
	for _, r := range requests {
		fmt.Fprintf(&b, "%s%s %d\n%s %s HTTP/1.1\n", separator, r.Kind, r.Status, r.Method, r.URI)
		names := make([]string, 0, len(r.Header))
		for name := range r.Header {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			for _, value := range r.Header[name] {
				fmt.Fprintf(&b, "%s: %s\n", name, value)
			}
		}
		fmt.Fprintf(&b, "\n%s\n", r.Body)
	}
	return b.Bytes()
}

// Parse reads what Format wrote.
func Parse(client string, text []byte) ([]Request, error) {
	var requests []Request
	for i, part := range strings.Split("\n"+strings.TrimSuffix(string(text), "\n"), "\n"+separator) {
		if i == 0 {
			if strings.TrimSpace(part) != "" {
				return nil, fmt.Errorf("it begins with %q", part)
			}
			continue
		}
		r, err := parseOne(part)
		if err != nil {
			return nil, fmt.Errorf("request %d: %w", i, err)
		}
		r.Client = client
		requests = append(requests, r)
	}
	return requests, nil
}

func parseOne(part string) (Request, error) {
	head, body, found := strings.Cut(part, "\n\n")
	lines := strings.Split(head, "\n")
	if !found || len(lines) < 2 {
		return Request{}, fmt.Errorf("it has no end of its header: %q", part)
	}
	kind, status, found := cutLast(lines[0])
	if !found {
		return Request{}, fmt.Errorf("its first line is %q", lines[0])
	}
	code, err := strconv.Atoi(status)
	if err != nil {
		return Request{}, fmt.Errorf("its status: %w", err)
	}
	words := strings.Split(lines[1], " ")
	if len(words) != 3 {
		return Request{}, fmt.Errorf("its request line is %q", lines[1])
	}
	r := Request{Kind: kind, Status: code, Method: words[0], URI: words[1], Header: http.Header{}, Body: []byte(body)}
	for _, line := range lines[2:] {
		name, value, found := strings.Cut(line, ": ")
		if !found {
			return Request{}, fmt.Errorf("a line of its header is %q", line)
		}
		r.Header[name] = append(r.Header[name], value)
	}
	return r, nil
}

func cutLast(line string) (before, last string, found bool) {
	i := strings.LastIndexByte(line, ' ')
	if i < 0 {
		return "", "", false
	}
	return line[:i], line[i+1:], true
}
