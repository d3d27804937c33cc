package registry

import "strings"

// record is what readers see.
func (n *entry) record() *Record {
	if n.shown != nil {
		return n.shown
	}
	return n.rec
}

// dress puts the binding's host name into what is shown. The record itself stays
// what the client sent.
func (n *entry) dress() {
	name := n.binding.HostName
	switch {
	case n.rec == nil || name == "" || name == n.rec.HostName:
		n.shown = nil
		return
	case n.shown != nil && n.shown.HostName == name:
		return
	}
	shown := *n.rec
	shown.HostName = name
	for _, at := range []*string{&shown.HomePageURL, &shown.StatusPageURL, &shown.HealthCheckURL, &shown.SecureHealthURL} {
		*at = withHost(*at, n.rec.HostName, name)
	}
	n.shown = &shown
}

// withHost replaces the host of a URL if it is the old one. Nothing else of the
// text changes.
func withHost(text, old, name string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || old == "" || len(rest) < len(old) || !strings.EqualFold(rest[:len(old)], old) {
		return text
	}
	rest = rest[len(old):]
	if rest != "" && !strings.ContainsRune(":/?#", rune(rest[0])) {
		return text
	}
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	return scheme + "://" + name + rest
}
