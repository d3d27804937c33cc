package conformance

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kureka/kureka/test/conformance/recorded"
)

// capture writes one request of each shape that a client sent. Emulated clients
// are left out: what they send is ours already.
func (s *stage) capture() error {
	scrub, err := newScrubber()
	if err != nil {
		return err
	}
	for _, l := range s.all {
		if l.client.Emulated {
			continue
		}
		seen := map[string]bool{}
		var requests []recorded.Request
		for _, e := range l.tap.since(0) {
			shape := e.shape()
			if e.Status == 0 || seen[shape] {
				continue
			}
			seen[shape] = true
			requests = append(requests, scrub.request(l, &e))
		}
		path := filepath.Join(s.shop.Source, "recorded", "requests", l.client.Slug()+".http")
		if err := os.WriteFile(path, recorded.Format(requests), 0o600); err != nil {
			return fmt.Errorf("writing the captured requests: %w", err)
		}
	}
	return nil
}

// statusInBody finds the status that a registration, in either format, claims.
var statusInBody = regexp.MustCompile(`(?:"status":\s*"|<status>)(\w+)`)

// shape is the same for requests that have the same parts.
func (e *Exchange) shape() string {
	parsed, err := url.ParseRequestURI(e.URI)
	if err != nil {
		return e.URI
	}
	var keys []string
	for key := range parsed.Query() {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	claimed := ""
	if match := statusInBody.FindSubmatch(e.Body); match != nil {
		claimed = string(match[1])
	}
	path := ""
	if kind := e.Kind(); kind == kindOther {
		path = parsed.Path
	}
	return fmt.Sprint(e.Kind(), path, keys, e.Status, claimed)
}

// scrubber replaces what tells of this machine.
type scrubber struct{ replacer *strings.Replacer }

// The documentation names that stand for what was scrubbed.
const (
	scrubbedHost    = "machine.example"
	scrubbedAddress = "192.0.2.250"
	scrubbedServer  = "registry.example:8761"
)

func newScrubber() (*scrubber, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("asking for the host name: %w", err)
	}
	pairs := []string{host, scrubbedHost}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("asking for the addresses: %w", err)
	}
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLoopback() {
			pairs = append(pairs, ip.IP.String(), scrubbedAddress)
		}
	}
	return &scrubber{strings.NewReplacer(pairs...)}, nil
}

// request drops what belongs to the connection and not to the request, and the
// names of this machine.
func (s *scrubber) request(l *lane, e *Exchange) recorded.Request {
	tap := l.tap.listener.Addr().String()
	clean := func(text string) string { return s.replacer.Replace(strings.ReplaceAll(text, tap, scrubbedServer)) }
	header := http.Header{}
	for name, values := range e.Header {
		for _, value := range values {
			header.Add(name, clean(value))
		}
	}
	body := bytes.Clone(e.Body)
	body = []byte(clean(string(body)))
	if header.Get("Content-Length") != "" {
		header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	return recorded.Request{Kind: e.Kind(), Status: e.Status, Method: e.Method, URI: clean(e.URI), Header: header, Body: body}
}
