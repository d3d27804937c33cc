package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// document is an answer in a form that can be compared: the same for both
// servers, apart for both formats.
type document struct {
	root      string
	version   string
	hash      string
	extra     []string // keys beside the known ones
	apps      []string // names, sorted
	results   []string // of a batch
	instances map[key]fields
	order     []key
}

// fields are an instance's scalars by path. JSON scalars carry their type, so
// that a number and its text differ.
type fields map[string]string

// parse reads an answer in the format it is labelled with.
func parse(contentType string, body []byte, since int64) (*document, error) {
	d := &document{instances: map[key]fields{}}
	var root any
	var err error
	switch {
	case strings.HasPrefix(contentType, mediaJSON):
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.UseNumber()
		err = dec.Decode(&root)
	case strings.HasPrefix(contentType, "application/xml"):
		root, err = parseXML(body)
	default:
		err = fmt.Errorf("labelled %q", contentType)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the document: %w", err)
	}
	if err := d.read(root, since); err != nil {
		return nil, err
	}
	slices.Sort(d.apps)
	return d, nil
}

func (d *document) read(root any, since int64) error {
	top, ok := root.(map[string]any)
	if !ok || len(top) != 1 {
		return errors.New("not one root")
	}
	for name, value := range top {
		d.root = name
		switch name {
		case "applications":
			return d.readAll(value, since)
		case "application":
			return d.readApp(value, since)
		case "instance":
			return d.readInstance(value, "", since)
		case "responseList":
			return d.readResults(value, since)
		}
	}
	return fmt.Errorf("root %q", d.root)
}

// without returns the document without the given instances and the applications
// that only they were of.
func (d *document) without(gone map[key]bool) *document {
	if d == nil || len(gone) == 0 {
		return d
	}
	left := *d
	left.apps, left.order, left.instances = nil, nil, map[key]fields{}
	for _, k := range d.order {
		if gone[k] {
			continue
		}
		left.order, left.instances[k] = append(left.order, k), d.instances[k]
		if !slices.Contains(left.apps, k.app) {
			left.apps = append(left.apps, k.app)
		}
	}
	slices.Sort(left.apps)
	return &left
}

func (d *document) readAll(value any, since int64) error {
	all, _ := value.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		switch name {
		case "versions__delta":
			d.version = scalar(all[name])
		case "apps__hashcode":
			d.hash = scalar(all[name])
		case "application":
			for _, app := range list(all[name]) {
				if err := d.readApp(app, since); err != nil {
					return err
				}
			}
		default:
			d.extra = append(d.extra, name)
		}
	}
	return nil
}

func (d *document) readApp(value any, since int64) error {
	app, ok := value.(map[string]any)
	if !ok {
		return errors.New("an application that is no object")
	}
	name := textOf(app["name"])
	d.apps = append(d.apps, name)
	for _, inst := range list(app["instance"]) {
		if err := d.readInstance(inst, name, since); err != nil {
			return err
		}
	}
	return nil
}

func (d *document) readInstance(value any, app string, since int64) error {
	inst, ok := value.(map[string]any)
	if !ok {
		return errors.New("an instance that is no object")
	}
	if app == "" {
		app = textOf(inst["app"])
	}
	k := key{app, textOf(inst[wireID])}
	if _, twice := d.instances[k]; twice {
		return fmt.Errorf("%v is listed twice", k)
	}
	f := fields{}
	f.add("", inst)
	f.normalise(since)
	d.instances[k] = f
	d.order = append(d.order, k)
	return nil
}

func (f fields) add(path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			f.add(strings.TrimPrefix(path+"."+name, "."), member)
		}
	case []any:
		for i, member := range v {
			f.add(path+"["+strconv.Itoa(i)+"]", member)
		}
	default:
		f[path] = scalar(value)
	}
}

// normalise replaces what the clock decides: times are "set" or not, and a
// timestamp that the server made up is "now".
func (f fields) normalise(since int64) {
	for name, value := range f {
		if !strings.HasSuffix(name, "Timestamp") || strings.HasPrefix(name, wireMetadata) {
			continue
		}
		kind, digits := "", value
		if i := strings.IndexByte(value, ' '); i >= 0 {
			kind, digits = value[:i+1], value[i+1:]
		}
		ms, err := strconv.ParseInt(strings.Trim(digits, `"`), 10, 64)
		switch {
		case err != nil:
		case name == wireDirty && ms < since:
		case ms == 0:
			f[name] = kind + "unset"
		default:
			f[name] = kind + "set"
		}
	}
}

// scalar renders a value with its type.
func scalar(value any) string {
	switch v := value.(type) {
	case string:
		return "text " + v
	case json.Number:
		return "number " + v.String()
	case nil:
		return wireNull
	default:
		return fmt.Sprintf("%T %v", v, v)
	}
}

func textOf(value any) string {
	s, _ := value.(string)
	return s
}

func list(value any) []any {
	switch v := value.(type) {
	case []any:
		return v
	case nil:
		return nil
	default:
		return []any{v}
	}
}

// parseXML turns elements into maps, repeated ones into lists, attributes into
// members whose names begin with "@".
func parseXML(body []byte) (any, error) {
	dec := xml.NewDecoder(bytes.NewReader(body))
	for {
		token, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("reading XML: %w", err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		value, err := element(dec, start)
		if err != nil {
			return nil, err
		}
		if _, err := dec.Token(); !errors.Is(err, io.EOF) {
			return nil, errors.New("text after the document")
		}
		return map[string]any{start.Name.Local: value}, nil
	}
}

func element(dec *xml.Decoder, start xml.StartElement) (any, error) {
	members := map[string]any{}
	var text strings.Builder
	for _, a := range start.Attr {
		members["@"+a.Name.Local] = a.Value
	}
	for {
		token, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("reading XML: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			value, err := element(dec, t)
			if err != nil {
				return nil, err
			}
			if old, twice := members[t.Name.Local]; twice {
				value = append(list(old), value)
			}
			members[t.Name.Local] = value
		case xml.CharData:
			text.Write(t)
		case xml.EndElement:
			content := text.String()
			if len(members) == 0 {
				return content, nil
			}
			if strings.TrimSpace(content) != "" {
				members[texts] = content
			}
			return members, nil
		}
	}
}
