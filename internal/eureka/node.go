package eureka

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a parsed document.
const (
	maxDepth = 32
	maxNodes = 16384
)

// node is one value of a parsed document. Both formats become nodes, so that
// leniency is written down once.
type node struct {
	kind    kind
	text    string   // strings, numbers as written, "true" and "false"
	members []member // of objects in document order; of arrays with empty keys
}

type member struct {
	key   string
	value node
}

type kind uint8

// kindNull is also what a missing member is.
const (
	kindNull kind = iota
	kindText
	kindNumber
	kindBool
	kindObject
	kindArray
)

// get returns the last member that has any of the keys, a null node if none.
func (n node) get(keys ...string) node {
	for _, m := range slices.Backward(n.members) {
		if slices.Contains(keys, m.key) {
			return m.value
		}
	}
	return node{}
}

// isBlank reports whether the node is null or text with nothing in it.
func (n node) isBlank() bool {
	return n.kind == kindNull || n.kind == kindText && strings.TrimSpace(n.text) == ""
}

// isTrue reports whether the node is true, or the text "true" in any case.
func (n node) isTrue() bool {
	return strings.EqualFold(strings.TrimSpace(n.text), "true")
}

// integer reads a number or the text of one, cut towards zero and to the
// bounds of int64.
func (n node) integer() (value int64, ok bool) {
	s := strings.TrimSpace(n.text)
	if value, err := strconv.ParseInt(s, 10, 64); err == nil {
		return value, true
	}
	f, err := strconv.ParseFloat(s, 64)
	tooLarge := errors.Is(err, strconv.ErrRange)
	switch {
	case err != nil && !tooLarge, math.IsNaN(f), math.IsInf(f, 0) && !tooLarge:
		return 0, false
	case f >= math.MaxInt64:
		return math.MaxInt64, true
	case f <= math.MinInt64:
		return math.MinInt64, true
	}
	return int64(f), true
}

// seconds reads a length of time in 0..MaxLeaseSecs; 0 stands for everything
// that is no positive number.
func (n node) seconds() int {
	return int(n.upTo(MaxLeaseSecs))
}

// millis reads a time in 0..MaxTimestampMS; 0 stands for everything that is no
// positive number.
func (n node) millis() int64 {
	return n.upTo(MaxTimestampMS)
}

func (n node) upTo(limit int64) int64 {
	value, _ := n.integer()
	return max(0, min(value, limit))
}

// string returns a scalar's text, and the JSON text of anything nested.
func (n node) string() string {
	if n.kind == kindObject || n.kind == kindArray {
		return string(n.appendJSON(nil))
	}
	return n.text
}

func (n node) appendJSON(dst []byte) []byte {
	switch n.kind {
	case kindNull:
		return append(dst, "null"...)
	case kindText:
		return appendStringJSON(dst, n.text)
	case kindNumber, kindBool:
		return append(dst, n.text...)
	default: // nested
	}
	object := n.kind == kindObject
	brackets := "[]"
	if object {
		brackets = "{}"
	}
	dst = append(dst, brackets[0])
	for i, m := range n.members {
		if i > 0 {
			dst = append(dst, ',')
		}
		if object {
			dst = append(appendStringJSON(dst, m.key), ':')
		}
		dst = m.value.appendJSON(dst)
	}
	return append(dst, brackets[1])
}

// lastMembers returns members with only the last value of each key, in the
// order of each key's first appearance.
func lastMembers(members []member) []member {
	place := make(map[string]int, len(members))
	unique := members[:0:0]
	for _, m := range members {
		if i, seen := place[m.key]; seen {
			unique[i] = m
			continue
		}
		place[m.key] = len(unique)
		unique = append(unique, m)
	}
	return unique
}

// budget counts the values of a document against its bounds.
type budget struct {
	nodes, limit int
}

// spend accounts for one value at a depth, the root's being 1.
func (b *budget) spend(depth int) error {
	b.nodes++
	switch {
	case depth > maxDepth:
		return &DecodeError{Reason: "the body is nested too deeply"}
	case b.nodes > b.limit:
		return &DecodeError{Reason: "the body has too many values"}
	}
	return nil
}
