package v1alpha1_test

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// constraint is something the API server checks at a path of an object, with
// values it must accept and one it must refuse. In a path, "[]" stands for the
// element of a list and "{}" for the value in a map. A bad value of nil means that
// the field is absent.
type constraint struct {
	path string
	// kind is the keyword of the schema or the message of the rule.
	kind string
	good []any
	bad  any
}

// refusals is what the API server says for a keyword; a rule says its message.
var refusals = map[string]string{
	"minimum": "should be greater than or equal to", "maximum": "should be less than or equal to",
	"minLength": "should be at least", "maxLength": "may not be more than", "pattern": "should match",
	"maxItems": "must have at most", "maxProperties": "must have at most",
	"enum": "Unsupported value", "required": "Required value", "unique": "Duplicate value",
}

func TestAPIServer_acceptsAndRefuses(t *testing.T) {
	for kind, rows := range constraints() {
		t.Run(kind, func(t *testing.T) {
			for _, c := range rows {
				if !strings.HasPrefix(c.path, "status") {
					check(t, c, func(value any) error { return createDry(t, kind, c.path, value) })
				}
			}
			stored := create(t, minimal(kind))
			for _, c := range rows {
				if strings.HasPrefix(c.path, "status") {
					check(t, c, func(value any) error { return updateStatusDry(t, stored, c.path, value) })
				}
			}
		})
	}
}

func check(t *testing.T, c constraint, submit func(value any) error) {
	t.Helper()
	for _, good := range c.good {
		if err := submit(good); err != nil {
			t.Errorf("%s = %.80v is refused: %v", c.path, good, err)
		}
	}
	checkRefusal(t, c, submit(c.bad))
}

// createDry asks whether the minimal object with the value could be created.
func createDry(t *testing.T, kind, path string, value any) error {
	t.Helper()
	o := minimal(kind)
	if strings.HasPrefix(path, "spec.selector") {
		delete(o.Object["spec"].(map[string]any), "serviceName")
		put(o.Object, []string{"spec", "selector", "matchLabels", "app"}, "demo")
	}
	put(o.Object, strings.Split(path, "."), value)
	_, err := apiFor(o).Create(t.Context(), o, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: "Strict"})
	return err
}

// updateStatusDry asks whether the status of a stored object could have the value.
func updateStatusDry(t *testing.T, stored *unstructured.Unstructured, path string, value any) error {
	t.Helper()
	o := stored.DeepCopy()
	if strings.HasPrefix(path, "status.figures.") {
		figures := `{"leases": 0, "expected": 0, "received": 0, "selfPreservation": "Watching", "held": 0}`
		put(o.Object, []string{"status", "figures"}, parse(figures))
	}
	put(o.Object, strings.Split(path, "."), value)
	_, err := apiFor(o).UpdateStatus(t.Context(), o, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: "Strict"})
	return err
}

func checkRefusal(t *testing.T, c constraint, err error) {
	t.Helper()
	if !apierrors.IsInvalid(err) {
		t.Errorf("%s = %.80v: got error %v, want a refusal: %s", c.path, c.bad, err, c.kind)
		return
	}
	want, known := refusals[c.kind]
	if !known {
		want = c.kind
	}
	field := strings.NewReplacer("[]", "[0]", ".{}", ".x").Replace(c.path)
	for _, cause := range err.(apierrors.APIStatus).Status().Details.Causes {
		where := cause.Field == field || c.path == "metadata.name" || c.kind == "unique" && cause.Field == field+"[1]"
		if where && strings.Contains(cause.Message, want) {
			return
		}
	}
	t.Errorf("%s = %.80v: got %v, want %q at %s", c.path, c.bad, err, want, field)
}

// put sets a value, or removes it if it is nil, and makes what is above it.
func put(in map[string]any, path []string, value any) {
	name, isList := strings.CutSuffix(path[0], "[]")
	if name == "{}" {
		name = "x"
	}
	switch {
	case len(path) == 1 && isList:
		in[name] = []any{value}
	case len(path) == 1 && value == nil:
		delete(in, name)
	case len(path) == 1:
		in[name] = value
	case isList:
		only := element(name)
		put(only, path[1:], value)
		in[name] = []any{only}
	default:
		if _, exists := in[name]; !exists {
			in[name] = map[string]any{}
		}
		put(in[name].(map[string]any), path[1:], value)
	}
}

// element is the smallest valid element of a list.
func element(list string) map[string]any {
	switch list {
	case "matchExpressions":
		return map[string]any{"key": "x", "operator": "In", "values": []any{"x"}}
	case "metadataFromLabels":
		return map[string]any{"label": "x", "name": "x"}
	default:
		return map[string]any{"key": "x"}
	}
}

func TestAPIServer_refusesWhatIsNoFieldOrNoWholeNumber(t *testing.T) {
	tests := map[string]constraint{
		"a fraction of a percent": {path: "spec.selfPreservation.renewalThresholdPercent", kind: "must be of type integer", bad: 1.7},
		"a number for a mode":     {path: "spec.mode", kind: "must be of type string", bad: int64(1)},
		"a field of the cluster":  {path: "spec.breaker", kind: "unknown field \"spec.breaker\"", bad: map[string]any{}},
		"a taint of the cluster":  {path: "spec.nodes.additionalTerminationTaints", kind: "unknown field", bad: []any{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if err := createDry(t, namespacePolicy, tc.path, tc.bad); err == nil || !strings.Contains(err.Error(), tc.kind) {
				t.Errorf("got %v, want a refusal: %s", err, tc.kind)
			}
		})
	}
}
