package v1alpha1_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConstraints_areTestedWithoutException(t *testing.T) {
	t.Parallel()
	for kind, rows := range constraints() {
		tested := make([]string, 0, len(rows))
		for _, c := range rows {
			tested = append(tested, c.path+": "+c.kind)
		}
		var declared []string
		walk("", schemas[kind], func(path string, s map[string]any) bool {
			declared = append(declared, checks(path, s)...)
			// The effective policy has the types of the spec, conditions are not ours.
			return path != "status.effective" && path != "status.conditions"
		})
		slices.Sort(tested)
		slices.Sort(declared)
		if diff := cmp.Diff(declared, slices.Compact(tested)); diff != "" {
			t.Errorf("%s: what the schema declares and what is tested differ (-declared +tested):\n%s", kind, diff)
		}
	}
}

// checks lists what the API server checks because of one schema.
func checks(path string, s map[string]any) []string {
	var out []string
	for keyword := range refusals {
		if _, has := s[keyword]; has && keyword != "required" {
			out = append(out, path+": "+keyword)
		}
	}
	if list := s["x-kubernetes-list-type"]; list == "set" || list == "map" {
		out = append(out, path+": unique")
	}
	for _, name := range elements[string](s["required"]) {
		out = append(out, join(path, name)+": required")
	}
	if path == "" {
		path = "metadata.name" // the only thing that the rules of a whole object ask for
	}
	for _, rule := range elements[map[string]any](s["x-kubernetes-validations"]) {
		out = append(out, path+": "+rule["message"].(string))
	}
	return out
}

func TestSchemas_boundEverythingAndDefaultNothing(t *testing.T) {
	t.Parallel()
	for kind, whole := range schemas {
		walk("", whole, func(path string, s map[string]any) bool {
			if path == "apiVersion" || path == "kind" || path == "metadata" || path == "status.conditions[]" {
				return false
			}
			if _, has := s["default"]; has {
				t.Errorf("%s: %s has a default, so it would not stay unset", kind, path)
			}
			for _, keyword := range bounds(path, s) {
				if s[keyword] == nil && s["enum"] == nil {
					t.Errorf("%s: %s has no %s", kind, path, keyword)
				}
			}
			return true
		})
	}
}

// bounds are the keywords that a schema must have unless it has an enum. Counts in
// a status have no largest value, and there is no boolean at all.
func bounds(path string, s map[string]any) []string {
	switch s["type"] {
	case "string":
		return []string{"maxLength"}
	case "integer":
		if strings.HasPrefix(path, "status.") {
			return []string{"minimum"}
		}
		return []string{"minimum", "maximum"}
	case "array":
		return []string{"maxItems"}
	case "boolean":
		return []string{"enum"}
	}
	if s["additionalProperties"] != nil {
		return []string{"maxProperties"}
	}
	return nil
}

// walk visits a schema and, as long as visit agrees, what is below it.
func walk(path string, s map[string]any, visit func(path string, s map[string]any) bool) {
	if !visit(path, s) {
		return
	}
	properties, _ := s["properties"].(map[string]any)
	for name, p := range properties {
		walk(join(path, name), p.(map[string]any), visit)
	}
	if items, ok := s["items"].(map[string]any); ok {
		walk(path+"[]", items, visit)
	}
	if values, ok := s["additionalProperties"].(map[string]any); ok {
		walk(path+".{}", values, visit)
	}
}

func join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

func elements[T any](list any) []T {
	all, _ := list.([]any)
	out := make([]T, 0, len(all))
	for _, e := range all {
		out = append(out, e.(T))
	}
	return out
}
