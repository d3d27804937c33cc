package eureka

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// parseXML returns the instance in an XML body, whose root element must be
// "instance" in any namespace. Document type declarations are refused and with
// them all entities but the five built in.
func parseXML(body []byte) (node, error) {
	r := xmlReader{dec: xml.NewDecoder(bytes.NewReader(bytes.ToValidUTF8(body, []byte("\uFFFD")))), budget: budget{limit: maxNodes}}
	r.dec.CharsetReader = asciiSuperset
	root, err := r.root()
	if err != nil {
		return node{}, err
	}
	if root == nil || root.Name.Local != "instance" {
		return node{}, &DecodeError{Reason: "the root element is not instance"}
	}
	n, err := r.element(*root, 1, false)
	if err != nil {
		return node{}, err
	}
	if extra, err := r.root(); extra != nil || err != nil {
		return node{}, errMalformedXML(err)
	}
	n.kind = kindObject
	return n, nil
}

// asciiSuperset accepts the labels that clients put on UTF-8.
func asciiSuperset(label string, body io.Reader) (io.Reader, error) {
	switch strings.ToLower(label) {
	case "utf8", "us-ascii", "ascii", "iso-8859-1", "latin1":
		return body, nil
	}
	return nil, &DecodeError{Reason: "the XML encoding is not UTF-8"}
}

// errMalformedXML returns the DecodeError in err, or one for err.
func errMalformedXML(err error) error {
	if known, ok := errors.AsType[*DecodeError](err); ok {
		return known
	}
	return &DecodeError{Reason: "the body is not well-formed XML"}
}

type xmlReader struct {
	dec    *xml.Decoder
	budget budget
}

// root skips what may stand outside the root element and returns the next
// start of an element, nil at the end of the document.
func (r *xmlReader) root() (*xml.StartElement, error) {
	for {
		token, err := r.dec.RawToken()
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			return nil, errMalformedXML(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			return &t, nil
		case xml.Directive:
			return nil, errDirective()
		case xml.CharData:
			if len(bytes.TrimSpace(t)) > 0 {
				return nil, errMalformedXML(nil)
			}
		case xml.EndElement:
			return nil, errMalformedXML(nil)
		}
	}
}

func errDirective() error {
	return &DecodeError{Reason: "document type declarations are not accepted"}
}

// element reads an element after its start. Raw tokens keep namespace prefixes,
// which may be part of a metadata key; nesting is therefore checked here.
func (r *xmlReader) element(start xml.StartElement, depth int, inMetadata bool) (node, error) {
	if err := r.budget.spend(depth); err != nil {
		return node{}, err
	}
	var n node
	var text []byte
	within := inMetadata || start.Name.Local == "metadata"
	for {
		token, err := r.dec.RawToken()
		if err != nil {
			return node{}, errMalformedXML(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			value, err := r.element(t, depth+1, within)
			if err != nil {
				return node{}, err
			}
			n.members = append(n.members, member{key: elementKey(t.Name, within), value: value})
		case xml.CharData:
			text = append(text, t...)
		case xml.Directive:
			return node{}, errDirective()
		case xml.EndElement:
			if t.Name != start.Name {
				return node{}, errMalformedXML(nil)
			}
			return finishElement(n, start, string(text), inMetadata), nil
		}
	}
}

// elementKey returns the member key for an element. Only metadata has keys of
// the user's choice, which are escaped and may hold a colon.
func elementKey(name xml.Name, inMetadata bool) string {
	switch {
	case !inMetadata:
		return name.Local
	case name.Space != "":
		return DecodeXMLName(name.Space + ":" + name.Local)
	default:
		return DecodeXMLName(name.Local)
	}
}

// finishElement decides what an element is: an object if it has children, a
// port if it has the attribute for one, else text. All other attributes are
// type markers and namespaces.
func finishElement(n node, start xml.StartElement, text string, inMetadata bool) node {
	if len(n.members) > 0 {
		n.kind = kindObject
		return n
	}
	n = node{kind: kindText, text: text}
	if inMetadata {
		return n
	}
	for _, attr := range start.Attr {
		if attr.Name.Local == "enabled" {
			flag := node{kind: kindText, text: attr.Value}
			return node{kind: kindObject, members: []member{{"$", n}, {"@enabled", flag}}}
		}
	}
	return n
}
