package chart

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// config/default and the chart with these values are the same installation.
func TestKustomization_agreesWithTheChart(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), program(t, "kustomize"), "build", root+"/config/default")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := inOneForm(decode(t, string(out)))
	delete(want, "Namespace /"+systemNamespace) // Helm makes it
	got := inOneForm(render(t, "{image: {tag: latest}, networkPolicy: {enabled: false}}"))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("they differ (-kustomize +chart):\n%s", diff)
	}
}

// inOneForm are the objects by kind, namespace and name, without what may differ:
// labels of Helm's, empty fields, the order of rules, and how arguments are given,
// but not what the program understands.
func inOneForm(o objects) map[string]any {
	o.t.Helper()
	all := map[string]any{}
	for _, obj := range o.all {
		id := obj.GetKind() + " " + obj.GetNamespace() + "/" + obj.GetName()
		switch {
		case strings.HasSuffix(obj.GetKind(), "Role"):
			all[id] = granted(objects{o.t, slices.Concat([]*unstructured.Unstructured{obj}, bindings(o))}, objectName)
			continue
		case obj.GetKind() == "Deployment":
			all["arguments"] = understood(o.t, container(o).Args)
			containers, _, _ := unstructured.NestedSlice(obj.Object, "spec", "template", "spec", "containers")
			delete(containers[0].(map[string]any), "args")
			_ = unstructured.SetNestedSlice(obj.Object, containers, "spec", "template", "spec", "containers")
		}
		unstructured.RemoveNestedField(obj.Object, "metadata", "labels")
		unstructured.RemoveNestedField(obj.Object, "metadata", "annotations")
		all[id] = pruned(obj.Object)
	}
	return all
}

func bindings(o objects) (all []*unstructured.Unstructured) {
	for _, obj := range o.all {
		if strings.HasSuffix(obj.GetKind(), "Binding") {
			all = append(all, obj)
		}
	}
	return all
}

// pruned is a value without empty fields and without the label that tells releases
// apart.
func pruned(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, inner := range v {
			if p := pruned(inner); p != nil && key != "app.kubernetes.io/instance" {
				out[key] = p
			}
		}
		if len(out) == 0 && len(v) > 0 || len(v) == 0 {
			return nil
		}
		return out
	case []any:
		for i := range v {
			v[i] = pruned(v[i])
		}
	}
	return value
}
