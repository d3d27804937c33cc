package eureka

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
)

// parseJSON returns the instance in a JSON body. It stands under the key
// "instance"; a bare object is accepted too if it looks like an instance.
func parseJSON(body []byte) (node, error) {
	root, err := readJSON(body, maxNodes)
	if err != nil {
		return node{}, err
	}
	wrapped := root.get("instance")
	switch {
	case wrapped.kind == kindObject:
		return wrapped, nil
	case wrapped.kind == kindNull && root.get("app").kind != kindNull:
		return root, nil
	}
	return node{}, &DecodeError{Field: "instance", Reason: "not an object under the root"}
}

// readJSON returns the one value of a document that has at most the given number
// of values.
func readJSON(body []byte, limit int) (node, error) {
	r := jsonReader{dec: json.NewDecoder(bytes.NewReader(body)), budget: budget{limit: limit}}
	r.dec.UseNumber()
	root, err := r.value(1)
	if err != nil {
		return node{}, err
	}
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return node{}, errMalformedJSON()
	}
	return root, nil
}

func errMalformedJSON() error {
	return &DecodeError{Reason: "the body is not well-formed JSON"}
}

type jsonReader struct {
	dec    *json.Decoder
	budget budget
}

// value reads the next value, which stands at the given depth.
func (r *jsonReader) value(depth int) (node, error) {
	if err := r.budget.spend(depth); err != nil {
		return node{}, err
	}
	token, err := r.dec.Token()
	if err != nil {
		return node{}, errMalformedJSON()
	}
	switch t := token.(type) {
	case json.Delim:
		return r.members(t, depth)
	case string:
		return node{kind: kindText, text: t}, nil
	case json.Number:
		return node{kind: kindNumber, text: t.String()}, nil
	case bool:
		return node{kind: kindBool, text: strconv.FormatBool(t)}, nil
	default:
		return node{}, nil
	}
}

// members reads an object or array after its opening bracket.
func (r *jsonReader) members(open json.Delim, depth int) (node, error) {
	n := node{kind: kindArray}
	if open == '{' {
		n.kind = kindObject
	}
	for r.dec.More() {
		var m member
		if n.kind == kindObject {
			key, err := r.dec.Token()
			if err != nil {
				return node{}, errMalformedJSON()
			}
			m.key, _ = key.(string)
		}
		var err error
		if m.value, err = r.value(depth + 1); err != nil {
			return node{}, err
		}
		n.members = append(n.members, m)
	}
	if _, err := r.dec.Token(); err != nil {
		return node{}, errMalformedJSON()
	}
	return n, nil
}
