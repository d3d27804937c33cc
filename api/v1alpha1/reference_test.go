package v1alpha1_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the reference in docs/custom-resources.md")

const (
	referenceFile  = "../../docs/custom-resources.md"
	referenceBegin = "<!-- The rest is generated: go test ./api/v1alpha1 -run Reference -update -->\n"
)

func TestReference_saysWhatTheSchemasSay(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(referenceFile)
	if err != nil {
		t.Fatal(err)
	}
	byHand, got, found := strings.Cut(string(content), referenceBegin)
	if !found {
		t.Fatalf("%s has no line %q", referenceFile, referenceBegin)
	}
	var want strings.Builder
	for _, kind := range []string{clusterPolicy, namespacePolicy, registration} {
		properties := schemas[kind]["properties"].(map[string]any)
		fmt.Fprintf(&want, "\n## %s\n\n%s\n", kind, sentence(schemas[kind]))
		for _, part := range []string{"spec", "status"} {
			want.WriteString("\n| Field | Values | Meaning |\n|---|---|---|\n")
			describe(&want, part, properties[part].(map[string]any))
		}
	}
	if *update {
		if err := os.WriteFile(referenceFile, []byte(byHand+referenceBegin+want.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want.String(), got); diff != "" {
		t.Errorf("%s is stale, run this test with -update (-want +got):\n%s", referenceFile, diff)
	}
}

// describe writes one row per field, except of the effective policy, which has the
// fields of the cluster's, and of conditions, which are the same everywhere.
func describe(out *strings.Builder, path string, s map[string]any) {
	properties, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		field := properties[name].(map[string]any)
		at := path + "." + name
		items, isList := field["items"].(map[string]any)
		if isList {
			at += "[]"
		}
		fmt.Fprintf(out, "| `%s` | %s | %s |\n", at, values(field), sentence(field))
		switch {
		case at == "status.effective" || at == "status.conditions[]":
		case isList:
			describe(out, at, items)
		default:
			describe(out, at, field)
		}
	}
}

// values says what a field may hold, for the eye.
func values(s map[string]any) string {
	if items, ok := s["items"].(map[string]any); ok && items["type"] == "string" {
		return values(items)
	}
	switch {
	case s["enum"] != nil:
		return strings.Join(elements[string](s["enum"]), ", ")
	case s["minimum"] != nil && s["maximum"] != nil:
		return fmt.Sprintf("%v to %v", s["minimum"], s["maximum"])
	case s["type"] == "integer":
		return "number"
	case s["x-kubernetes-int-or-string"] != nil:
		return "number or text"
	case s["type"] == "string":
		return "text"
	case s["additionalProperties"] != nil:
		return "pairs"
	}
	return ""
}

func sentence(s map[string]any) string {
	text, _ := s["description"].(string)
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}
