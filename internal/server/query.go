package server

import (
	"net/url"
	"strings"

	"github.com/kureka/kureka/internal/registry"
)

// param returns the first value of a query parameter, "" if there is none. It
// takes the query apart without building a map, since every heartbeat has one.
func param(query, name string) string {
	for query != "" {
		var key, value string
		key, value, query = nextParam(query)
		if key == name {
			return value
		}
	}
	return ""
}

// pairs returns the query as metadata: the first value of every parameter, in
// order. Names that cannot be written back are left out.
func pairs(query string) []registry.Pair {
	var found []registry.Pair
	seen := map[string]bool{"": true, "@class": true}
	for query != "" {
		var key, value string
		key, value, query = nextParam(query)
		if seen[key] {
			continue
		}
		seen[key] = true
		found = append(found, registry.Pair{Key: key, Value: value})
	}
	return found
}

// nextParam returns the first parameter of a non-empty query and what follows.
func nextParam(query string) (key, value, rest string) {
	query, rest, _ = strings.Cut(query, "&")
	key, value, _ = strings.Cut(query, "=")
	return unescapeParam(key), unescapeParam(value), rest
}

// unescapeParam decodes once, "+" included; what is no escape stands for itself.
func unescapeParam(s string) string {
	if u, err := url.QueryUnescape(s); err == nil {
		return u
	}
	return s
}
