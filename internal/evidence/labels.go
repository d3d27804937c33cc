package evidence

import (
	"maps"
	"slices"
	"strings"
	"unique"
)

// Labels is an immutable set of labels, equal to every other set with the same
// labels. Sets are shared: the pods of one workload mostly have the same one, so
// that keeping it costs a pointer for each of them. The zero value is empty.
type Labels struct{ text unique.Handle[string] }

// Neither keys nor values of labels can hold these.
const (
	labelEnd = "\n"
	valueSep = "="
)

// NewLabels returns the set of labels in a map.
func NewLabels(m map[string]string) Labels {
	if len(m) == 0 {
		return Labels{}
	}
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(m)) {
		b.WriteString(key)
		b.WriteString(valueSep)
		b.WriteString(m[key])
		b.WriteString(labelEnd)
	}
	return Labels{unique.Make(b.String())}
}

// Lookup returns the value of a label and whether there is one.
func (l Labels) Lookup(label string) (value string, exists bool) {
	if l == (Labels{}) {
		return "", false
	}
	for line := range strings.SplitSeq(l.text.Value(), labelEnd) {
		if rest, ok := strings.CutPrefix(line, label); ok && strings.HasPrefix(rest, valueSep) {
			return rest[len(valueSep):], true
		}
	}
	return "", false
}

// Has reports whether there is such a label.
func (l Labels) Has(label string) bool {
	_, exists := l.Lookup(label)
	return exists
}

// Get returns the value of a label, empty if there is none.
func (l Labels) Get(label string) string {
	value, _ := l.Lookup(label)
	return value
}

// MarshalText implements encoding.TextMarshaler.
func (l Labels) MarshalText() ([]byte, error) {
	if l == (Labels{}) {
		return nil, nil
	}
	return []byte(l.text.Value()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler. It takes what MarshalText gives.
func (l *Labels) UnmarshalText(text []byte) error {
	*l = Labels{}
	if len(text) > 0 {
		l.text = unique.Make(string(text))
	}
	return nil
}
