package server

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// DefaultPrefixes returns the base paths that clients of different make and age
// are configured with.
func DefaultPrefixes() []string {
	return []string{"/eureka/v2", "/eureka/v1", "/eureka", "/discovery/v2", "/v2", "/v1", "/"}
}

// resource is what a path names.
type resource uint8

const (
	toNothing resource = iota
	toApps
	toDelta
	toApp
	toInstance
	toStatus
	toMetadata
	toInstanceByID
	toVIP
	toSecureVIP
	toASG
	toBatch
	toServerStatus
	resourceCount
)

// route is a path taken apart. App is upper-case; id is the instance id, or the
// name of the vip, decoded exactly once.
type route struct {
	to      resource
	app, id string
}

// router takes escaped paths apart. It neither cleans nor redirects: instance
// ids may hold anything, whole URLs included, and a redirect loses the client.
type router struct {
	prefixes [][]string // segments, longest first
}

func newRouter(prefixes []string) router {
	if len(prefixes) == 0 {
		prefixes = DefaultPrefixes()
	}
	var rt router
	for _, p := range prefixes {
		rt.prefixes = append(rt.prefixes, strings.FieldsFunc(p, func(r rune) bool { return r == '/' }))
	}
	slices.SortStableFunc(rt.prefixes, func(a, b []string) int { return cmp.Compare(len(b), len(a)) })
	return rt
}

// match returns what the escaped path names.
func (rt router) match(path string) route {
	for _, prefix := range rt.prefixes {
		if rest, ok := cutPrefix(path, prefix); ok {
			if found := matchResource(rest); found.to != toNothing {
				return found
			}
		}
	}
	return route{}
}

// cutPrefix removes the prefix from the path. Some clients are configured with
// a base that ends in a blank, and versions are compared without case.
func cutPrefix(path string, prefix []string) (rest string, ok bool) {
	for _, want := range prefix {
		var segment string
		segment, path = nextSegment(path)
		if !strings.EqualFold(strings.TrimSpace(unescape(segment)), want) {
			return "", false
		}
	}
	return path, true
}

func matchResource(path string) route {
	name, rest := nextSegment(path)
	switch name {
	case "apps":
		return matchApps(rest)
	case "instances":
		return matchNamed(toInstanceByID, rest)
	case "vips":
		return matchNamed(toVIP, rest)
	case "svips":
		return matchNamed(toSecureVIP, rest)
	case "asg":
		return matchNamed(toASG, rest)
	case "peerreplication":
		return matchOnly(toBatch, rest, "batch")
	case "status":
		return matchOnly(toServerStatus, rest, "")
	}
	return route{}
}

// matchNamed takes everything that is left for a name.
func matchNamed(to resource, rest string) route {
	name := trimTail(rest)
	if name == "" {
		return route{}
	}
	return route{to: to, id: unescape(name)}
}

// matchOnly takes nothing but the given name, "" for none.
func matchOnly(to resource, rest, name string) route {
	if trimTail(rest) != name {
		return route{}
	}
	return route{to: to}
}

// matchApps takes apart what follows apps. Everything after the application is
// the instance id, except a last segment status or metadata.
func matchApps(rest string) route {
	name, rest := nextSegment(rest)
	if name == "" {
		return route{to: toApps}
	}
	r := route{to: toApp, app: strings.ToUpper(unescape(name))}
	id := trimTail(rest)
	if id == "" {
		if name == "delta" { // in upper case it is an application
			r.to = toDelta
		}
		return r
	}
	r.to = toInstance
	if i := strings.LastIndexByte(id, '/'); i > 0 {
		switch id[i+1:] {
		case "status":
			r.to, id = toStatus, id[:i]
		case "metadata":
			r.to, id = toMetadata, id[:i]
		}
	}
	r.id = unescape(id)
	return r
}

// nextSegment returns the first segment of the path, skipping the run of
// slashes before it, and what follows it.
func nextSegment(path string) (segment, rest string) {
	path = strings.TrimLeft(path, "/")
	if i := strings.IndexByte(path, '/'); i >= 0 {
		return path[:i], path[i:]
	}
	return path, ""
}

// trimTail removes the slashes before the rest of a path and one after it.
// Inside, and where they are escaped, slashes belong to the name.
func trimTail(rest string) string {
	return strings.TrimSuffix(strings.TrimLeft(rest, "/"), "/")
}

// unescape decodes percent escapes once; what is no escape stands for itself.
func unescape(s string) string {
	if u, err := url.PathUnescape(s); err == nil {
		return u
	}
	return s
}
