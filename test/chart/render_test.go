package chart

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kureka/kureka/test/rig/controlplane"
)

const (
	release         = "registry" // not the name of any object
	systemNamespace = "kureka-system"
	objectName      = "kureka"
)

// helm runs Helm with an input and returns what it says.
func helm(t *testing.T, input string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(t, "helm"), args...)
	var complaints bytes.Buffer
	cmd.Stdin, cmd.Stderr = strings.NewReader(input), &complaints
	out, err := cmd.Output()
	if err != nil {
		return complaints.String(), err
	}
	return string(out), nil
}

// templated returns the text that the chart renders with values in YAML.
func templated(t *testing.T, values string) (string, error) {
	t.Helper()
	return helm(t, values, "template", release, chartPath, "--namespace", systemNamespace, "--values", "-")
}

// objects are what was rendered.
type objects struct {
	t   *testing.T
	all []*unstructured.Unstructured
}

func render(t *testing.T, values string) objects {
	t.Helper()
	text, err := templated(t, values)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return decode(t, text)
}

func decode(t *testing.T, text string) objects {
	t.Helper()
	all, err := controlplane.DecodeManifests(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return objects{t, all}
}

// named returns the only object of a kind with a name, or nil. A name may hold a
// namespace before a slash; without one any will do.
func (o objects) named(kind, name string) *unstructured.Unstructured {
	o.t.Helper()
	namespace, name, found := strings.Cut(name, "/")
	if !found {
		namespace, name = "", namespace
	}
	var got *unstructured.Unstructured
	for _, obj := range o.all {
		if obj.GetKind() != kind || obj.GetName() != name || found && obj.GetNamespace() != namespace {
			continue
		}
		if got != nil {
			o.t.Fatalf("there are two of %s %s", kind, name)
		}
		got = obj
	}
	return got
}

// of returns the only object of a kind with a name as a type, which must know all
// of its fields.
func of[T any](o objects, kind, name string) *T {
	o.t.Helper()
	obj := o.named(kind, name)
	if obj == nil {
		o.t.Fatalf("there is no %s %s", kind, name)
	}
	return typed[T](o.t, obj)
}

func typed[T any](t *testing.T, obj *unstructured.Unstructured) *T {
	t.Helper()
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	out := new(T)
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(out); err != nil {
		t.Fatalf("%s %s: %v", obj.GetKind(), obj.GetName(), err)
	}
	return out
}
