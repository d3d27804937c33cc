package v1alpha1_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// between is a number with a smallest and a largest value.
func between(path string, smallest, largest int64) []constraint {
	return []constraint{
		{path, "minimum", []any{smallest}, smallest - 1},
		{path, "maximum", []any{largest}, largest + 1},
	}
}

func notNegative(path string) []constraint {
	return []constraint{{path, "minimum", []any{int64(0)}, int64(-1)}}
}

// oneOf is an enumeration.
func oneOf(path string, values ...any) []constraint {
	return []constraint{{path, "enum", values, "Other"}}
}

// text is a string with a largest length and a pattern; those with a smallest
// length refuse the empty string.
func text(path, good, bad string, largest int, longPrefix string) []constraint {
	longest := longPrefix + long(largest-len(longPrefix))
	return []constraint{
		{path, "maxLength", []any{longest}, longest + "a"},
		{path, "pattern", []any{good}, bad},
	}
}

func notEmpty(path, good string) []constraint {
	return []constraint{{path, "minLength", []any{good}, ""}}
}

func required(path string, good any) []constraint {
	return []constraint{{path, "required", []any{good}, nil}}
}

// rule is a rule of the schema with its message; the values are JSON.
func rule(path, message, good, bad string) []constraint {
	return []constraint{{path, message, []any{parse(good)}, parse(bad)}}
}

// few is a list or map with a largest size.
func few(path, keyword string, largest int, collection func(n int) any) []constraint {
	return []constraint{{path, keyword, []any{collection(largest)}, collection(largest + 1)}}
}

// list makes a list of n elements from a format for one element in JSON.
func list(format string) func(int) any {
	return func(n int) any {
		elements := make([]any, 0, n)
		for i := range n {
			elements = append(elements, parse(fmt.Sprintf(format, i)))
		}
		return elements
	}
}

// pairs makes a map of n pairs.
func pairs(n int) any {
	out := map[string]any{}
	for i := range n {
		out[fmt.Sprintf("x%d", i)] = "x"
	}
	return out
}

func long(n int) string { return strings.Repeat("a", n) }

// parse reads JSON with whole numbers as int64, as the API machinery has them.
func parse(text string) any {
	o := &unstructured.Unstructured{}
	wrapped := fmt.Sprintf(`{"apiVersion":"v1","kind":"Value","value":%s}`, text)
	if err := o.UnmarshalJSON([]byte(wrapped)); err != nil || !json.Valid([]byte(text)) {
		panic(fmt.Sprintf("parsing %s: %v", text, err))
	}
	return o.Object["value"]
}
