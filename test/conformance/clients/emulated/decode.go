package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
)

// decodeError is an answer that the client's decoder refuses.
type decodeError struct{ error }

func (e decodeError) Unwrap() error { return e.error }

// document is a decoded answer.
type document struct {
	hash      string
	instances []identified
}

type identified struct {
	app, id string
	instance
}

// reads is how a client reads, and how strictly.
type reads struct {
	full, delta string // paths
	byApp       string // path of one application, for clients that read by application
	header      map[string]string

	required []string // keys that every instance has, with dots for what is inside
	texts    []string // keys that hold JSON strings when they are there
	numbers  []string // keys that hold JSON numbers when they are there
	noNulls  bool     // a null anywhere ends the decoding
	enums    bool     // names outside the closed sets end the decoding
	onlyUp   bool     // shows what is UP when overriddenStatus comes first
	numeric  bool     // drops applications with an address that is no IP literal
}

// The keys that more than one client asks for.
const (
	keyID            = "instanceId"
	keyApp           = "app"
	keyHost          = "hostName"
	keyIP            = "ipAddr"
	keyStatus        = "status"
	keyOverridden    = "overriddenStatus"
	keyPort          = "port.$"
	keyPortEnabled   = "port.@enabled"
	keySecurePort    = "securePort.$"
	keySecureEnabled = "securePort.@enabled"
	keyCountry       = "countryId"
	keyMetadata      = "metadata"
)

// The closed sets that typed clients know.
var (
	statuses    = []string{"UP", "DOWN", "STARTING", "OUT_OF_SERVICE", "UNKNOWN"}
	actions     = []string{"ADDED", "MODIFIED", "DELETED"}
	dataCenters = []string{"Netflix", "Amazon", "MyOwn"}
)

// decode reads a document of the kind that root names.
func (r *reads) decode(body []byte, root string) (*document, error) {
	var doc map[string]any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&doc); err != nil {
		return nil, decodeError{fmt.Errorf("the answer is no JSON: %w", err)}
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, decodeError{errors.New("something follows the answer")}
	}
	if r.noNulls && hasNull(doc) {
		return nil, decodeError{errors.New("the answer has a null")}
	}
	top, ok := doc[root].(map[string]any)
	if !ok || len(doc) != 1 {
		return nil, decodeError{fmt.Errorf("the answer is not %q and nothing else", root)}
	}
	read, err := r.decodeTop(top, root)
	if err != nil {
		return nil, decodeError{err}
	}
	return read, nil
}

func (r *reads) decodeTop(top map[string]any, root string) (*document, error) {
	read := &document{}
	apps := []any{top}
	if root == "applications" {
		var ok bool
		if apps, ok = top["application"].([]any); !ok {
			return nil, errors.New("application is no array")
		}
		if read.hash, ok = top["apps__hashcode"].(string); !ok {
			return nil, errors.New("apps__hashcode is no string")
		}
		if _, ok := top["versions__delta"].(string); !ok {
			return nil, errors.New("versions__delta is no string")
		}
	}
	for _, app := range apps {
		instances, err := r.decodeApp(app)
		if err != nil {
			return nil, err
		}
		read.instances = append(read.instances, instances...)
	}
	return read, nil
}

func (r *reads) decodeApp(value any) ([]identified, error) {
	app, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("an application is no object")
	}
	name, ok := app["name"].(string)
	if !ok || name != strings.ToUpper(name) {
		return nil, fmt.Errorf("the application's name %v is not in upper case", app["name"])
	}
	list, ok := app["instance"].([]any)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("%s has no array of instances", name)
	}
	all := make([]identified, 0, len(list))
	for _, value := range list {
		fields, ok := value.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("an instance of %s is no object", name)
		}
		in, err := r.decodeInstance(fields)
		if err != nil {
			return nil, fmt.Errorf("an instance of %s: %w", name, err)
		}
		if in.app != name {
			return nil, fmt.Errorf("an instance of %s says that its app is %q", name, in.app)
		}
		all = append(all, in)
	}
	if r.numeric && slices.ContainsFunc(all, func(in identified) bool { _, err := netip.ParseAddr(in.IPAddr); return err != nil }) {
		return nil, nil
	}
	return all, nil
}

func (r *reads) decodeInstance(fields map[string]any) (identified, error) {
	if err := r.check(fields); err != nil {
		return identified{}, err
	}
	text := func(path string) string { s, _ := lookup(fields, path).(string); return s }
	number := func(path string) int {
		n, ok := lookup(fields, path).(json.Number)
		if !ok {
			return 0
		}
		i, err := n.Int64()
		if err != nil {
			return 0
		}
		return int(i)
	}
	in := identified{app: text(keyApp), id: text(keyID), instance: instance{
		Status: text(keyStatus), IPAddr: text(keyIP), HostName: text(keyHost), Port: number(keyPort),
		SecurePort: number(keySecurePort), VIP: text("vipAddress"), Metadata: map[string]string{}, action: text("actionType"),
	}}
	if r.onlyUp {
		if over := text(keyOverridden); over != "UNKNOWN" {
			in.Status = over
		}
	}
	metadata, ok := fields[keyMetadata].(map[string]any)
	if !ok {
		return in, errors.New("metadata is no object")
	}
	for key, value := range metadata {
		s, ok := value.(string)
		if !ok {
			return in, fmt.Errorf("metadata %s is no string", key)
		}
		if key != "@class" {
			in.Metadata[key] = s
		}
	}
	return in, nil
}

// check applies the client's own strictness.
func (r *reads) check(fields map[string]any) error {
	for _, key := range r.required {
		if lookup(fields, key) == nil {
			return fmt.Errorf("it has no %s", key)
		}
	}
	for _, key := range r.texts {
		if _, ok := lookup(fields, key).(string); !ok && lookup(fields, key) != nil {
			return fmt.Errorf("%s is no string", key)
		}
	}
	for _, key := range r.numbers {
		if _, ok := lookup(fields, key).(json.Number); !ok && lookup(fields, key) != nil {
			return fmt.Errorf("%s is no number", key)
		}
	}
	if r.enums {
		return checkEnums(fields)
	}
	return nil
}

func checkEnums(fields map[string]any) error {
	for key, set := range map[string][]string{
		keyStatus: statuses, keyOverridden: statuses, "actionType": actions, "dataCenterInfo.name": dataCenters,
	} {
		if value := lookup(fields, key); value != nil && !slices.ContainsFunc(set, func(s string) bool { return s == value }) {
			return fmt.Errorf("%s is %v", key, value)
		}
	}
	return nil
}

// shows reports whether the client shows an instance at all.
func (r *reads) shows(in instance) bool { return !r.onlyUp || in.Status == "UP" }

// lookup follows a path of keys; nil if there is nothing.
func lookup(fields map[string]any, path string) any {
	var value any = fields
	for key := range strings.SplitSeq(path, ".") {
		object, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = object[key]
	}
	return value
}

func hasNull(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case []any:
		return slices.ContainsFunc(v, hasNull)
	case map[string]any:
		for _, member := range v {
			if hasNull(member) {
				return true
			}
		}
	}
	return false
}
