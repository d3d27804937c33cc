package main

import (
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// generator draws sequences. The same seed gives the same sequences.
type generator struct {
	r *rand.Rand
}

func newGenerator(seed uint64) *generator {
	return &generator{rand.New(rand.NewPCG(seed, 0x6b7572656b61))}
}

// The worlds are small and uneven, so that steps meet.
var (
	appNames = []string{"ORDERS", "Billing"}
	ids      = []string{"a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a:b:80", "a:b:80", "sp ace", "h/x"}
	vips     = []string{"", "orders", "Orders", "orders,billing:8080", "billing:8080"}
	statuses = []status{"UP", "UP", "UP", "DOWN", "STARTING", "OUT_OF_SERVICE", "UNKNOWN"}
	stamps   = []int64{1000, 2000, 2000, 2000, 2000, 2000, 2000, 3000}
	accepts  = []string{mediaJSON, mediaJSON, "application/xml", "", "*/*", "text/html, application/json;q=0.1"}
)

func pick[T any](g *generator, from []T) T { return from[g.r.IntN(len(from))] }

// oneIn is true once in n draws.
func (g *generator) oneIn(n int) bool { return g.r.IntN(n) == 0 }

// sequence draws up to n steps, the first of which is a registration.
func (g *generator) sequence(n int) []step {
	length := 3 + g.r.IntN(n-2)
	steps := make([]step, 0, length)
	steps = append(steps, g.registration())
	for range length - 1 {
		next := g.step()
		if next.kind == register && g.oneIn(6) {
			next = lastRegistration(steps)
		}
		if g.oneIn(6) {
			next, _ = batched(next)
		}
		steps = append(steps, next)
	}
	return steps
}

// lastRegistration is what a client sends again that was told to.
func lastRegistration(steps []step) step {
	for _, s := range slices.Backward(steps) {
		if s.kind == register && !s.tags[inBatch] {
			return s
		}
	}
	return steps[0]
}

func (g *generator) step() step {
	switch n := g.r.IntN(100); {
	case n < 28:
		return g.registration()
	case n < 44:
		return g.heartbeat()
	case n < 52:
		return g.plain(cancel, http.MethodDelete, "")
	case n < 62:
		return g.pinning()
	case n < 69:
		return g.unpinning()
	case n < 75:
		return g.annotation()
	default:
		return g.read()
	}
}

func (g *generator) key() key {
	app := g.r.IntN(3) / 2
	// The reference keeps overrides by id alone, so ids are not shared.
	k := key{appNames[app], string('1'+rune(app)) + pick(g, ids)}
	if g.oneIn(6) {
		k.app = strings.ToLower(k.app)
	}
	return k
}

// plain is a request to one instance.
func (g *generator) plain(what kind, method, rest string) step {
	k := g.key()
	s := step{kind: what, method: method, target: instancePath(k, rest), accept: pick(g, accepts), header: http.Header{}, tags: tags{}}
	s.key = key{strings.ToUpper(k.app), k.id}
	if strings.Contains(k.id, "/") {
		s.tags["slash"] = true
	}
	if g.oneIn(4) { // what some transports send along
		s.header.Set("Content-Type", mediaJSON)
		if method == http.MethodPut {
			s.body = "{}"
		}
	}
	return s
}

func (g *generator) heartbeat() step {
	s := g.plain(heartbeat, http.MethodPut, "")
	query := url.Values{}
	if !g.oneIn(4) {
		s.says = pick(g, statuses)
		query.Set(wireStatus, string(s.says))
	}
	switch {
	case g.oneIn(5):
	case g.oneIn(16):
		query.Set(wireDirty, "soon")
		s.tags["unreadable timestamp"] = true
	default:
		s.dirty = dirty{pick(g, stamps), true}
		query.Set(wireDirty, s.text())
	}
	if g.oneIn(8) {
		query.Set("overriddenstatus", "UP")
	}
	s.withQuery(query)
	return s
}

func (s *step) withQuery(query url.Values) {
	if len(query) > 0 {
		s.target += "?" + query.Encode()
	}
}

func (g *generator) pinning() step {
	s := g.plain(pin, http.MethodPut, "/status")
	s.says = pick(g, statuses)
	value := string(s.says)
	switch g.r.IntN(20) {
	case 0:
		value = strings.ToLower(value)
		s.tags["lower case"] = true
	case 1:
		value, s.says = "SLEEPING", ""
	}
	query := url.Values{"value": {value}}
	if g.oneIn(3) {
		s.dirty = dirty{pick(g, stamps), true}
		query.Set(wireDirty, s.text())
	}
	s.withQuery(query)
	return s
}

func (g *generator) unpinning() step {
	s := g.plain(unpin, http.MethodDelete, "/status")
	query := url.Values{}
	if g.oneIn(2) {
		s.says = pick(g, statuses)
		query.Set("value", string(s.says))
	}
	if g.oneIn(3) {
		s.dirty = dirty{pick(g, stamps), true}
		query.Set(wireDirty, s.text())
	}
	s.withQuery(query)
	return s
}

func (g *generator) annotation() step {
	s := g.plain(annotate, http.MethodPut, "/metadata")
	query := url.Values{}
	for range 1 + g.r.IntN(2) {
		query.Set(pick(g, metadataKeys), pick(g, metadataValues))
	}
	s.withQuery(query)
	return s
}

func (g *generator) read() step {
	s := step{method: http.MethodGet, accept: pick(g, accepts), header: http.Header{}, tags: tags{}}
	if g.oneIn(3) {
		s.header.Set("Accept-Encoding", "gzip")
	}
	if g.oneIn(4) {
		s.header.Set("X-Eureka-Accept", "compact")
	}
	regions := ""
	if g.oneIn(6) {
		regions = "?regions=eu,us"
	}
	slash := pick(g, []string{"", "/"})
	switch g.r.IntN(7) {
	case 0:
		s.kind, s.target = readAll, "/apps"+slash+regions
	case 1:
		s.kind, s.target = readDelta, "/apps/delta"+slash+regions
	case 2:
		s.kind, s.target = readApp, "/apps/"+strings.ToLower(pick(g, appNames))
	case 3:
		one := g.plain(readOne, http.MethodGet, "")
		one.accept, one.body = s.accept, ""
		return one
	case 4:
		one := g.plain(readByID, http.MethodGet, "")
		one.accept, one.body = s.accept, ""
		one.target = "/instances/" + url.PathEscape(one.key.id)
		return one
	case 5:
		s.kind, s.target = readVIP, "/vips/"+pick(g, vipNames)+regions
	default:
		s.kind, s.target = readSecure, "/svips/"+pick(g, vipNames)
	}
	return s
}

// vipNames are asked for: members of lists, their whole text, and unknown ones.
var vipNames = []string{"orders", "Orders", "billing:8080", "orders,billing:8080", "none"}
