package v1alpha1_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/test/rig/controlplane"
)

func TestSamples_areAccepted(t *testing.T) {
	files, err := filepath.Glob("../../config/samples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, file := range files {
		objects, err := controlplane.Manifests(file)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, o := range objects {
			if o.GetAPIVersion() != v1alpha1.GroupVersion().String() {
				continue
			}
			if o.GetNamespace() != "" {
				ensureNamespace(t, o.GetNamespace())
			}
			stored := create(t, o)
			if diff := cmp.Diff(o.Object["spec"], stored.Object["spec"]); diff != "" {
				t.Errorf("%s: what is stored differs (-file +stored):\n%s", file, diff)
			}
			seen[o.GetKind()]++
		}
	}
	if diff := cmp.Diff(map[string]int{clusterPolicy: 1, namespacePolicy: 1, registration: 2}, seen); diff != "" {
		t.Errorf("samples differ (-want +got):\n%s", diff)
	}
}

func TestTypes_keepEveryFieldOfTheSchema(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for kind := range complete() {
		t.Run(kind, func(t *testing.T) {
			stored := createComplete(t, kind)
			for _, part := range []string{"spec", "status"} {
				for _, path := range absent(schemas[kind]["properties"].(map[string]any)[part].(map[string]any), stored.Object[part], part) {
					t.Errorf("%s: the example lacks it", path)
				}
			}
			typed, err := scheme.New(v1alpha1.GroupVersion().WithKind(kind))
			if err != nil {
				t.Fatal(err)
			}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(stored.Object, typed, true); err != nil {
				t.Fatal(err)
			}
			back, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed.DeepCopyObject())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(stored.Object, back); diff != "" {
				t.Errorf("the way through the types changes it (-before +after):\n%s", diff)
			}
		})
	}
}

// absent lists the fields of a schema that a value does not have.
func absent(s map[string]any, value any, path string) []string {
	if list, ok := value.([]any); ok {
		if len(list) == 0 {
			return []string{path}
		}
		return absent(s["items"].(map[string]any), list[0], path+"[]")
	}
	var out []string
	properties, _ := s["properties"].(map[string]any)
	for name, p := range properties {
		nested, has := value.(map[string]any)[name]
		switch {
		case has:
			out = append(out, absent(p.(map[string]any), nested, path+"."+name)...)
		case path+"."+name != "status.conditions[].observedGeneration" && path+"."+name != "spec.serviceName":
			out = append(out, path+"."+name)
		}
	}
	return out
}

func TestTypes_leaveUnsetWhatIsUnset(t *testing.T) {
	for _, kind := range []string{clusterPolicy, namespacePolicy} {
		o := minimal(kind)
		stored := create(t, o)
		if spec, has := stored.Object["spec"]; has {
			t.Errorf("%s: an object without a spec is stored with %v", kind, spec)
		}
	}
	typed := &v1alpha1.RegistryPolicy{}
	typed.Spec.SelfPreservation = &v1alpha1.SelfPreservation{MaxHoldSeconds: new(int32)}
	got, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"spec": map[string]any{"selfPreservation": map[string]any{"maxHoldSeconds": int64(0)}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the types add something (-want +got):\n%s", diff)
	}
}

func TestResources_haveScopeShortNameAndCategory(t *testing.T) {
	client, err := discovery.NewDiscoveryClientForConfig(plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	served, err := client.ServerResourcesForGroupVersion(v1alpha1.GroupVersion().String())
	if err != nil {
		t.Fatal(err)
	}
	type names struct {
		Namespaced bool
		ShortNames []string
		Categories []string
	}
	got := map[string]names{}
	for _, r := range served.APIResources {
		got[r.Name] = names{r.Namespaced, r.ShortNames, r.Categories}
	}
	want := map[string]names{
		"clusterregistrypolicies":        {false, []string{"crpol"}, []string{"kureka"}},
		"clusterregistrypolicies/status": {},
		"registrypolicies":               {true, []string{"rpol"}, []string{"kureka"}},
		"registrypolicies/status":        {Namespaced: true},
		"eurekaregistrations":            {true, []string{"ereg"}, []string{"kureka"}},
		"eurekaregistrations/status":     {Namespaced: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("resources differ (-want +got):\n%s", diff)
	}
}

func TestResources_printWhatOneLooksFor(t *testing.T) {
	for kind, want := range map[string]map[string]any{
		clusterPolicy: {
			"Mode": "Observe", "Self-preservation": "Enabled", "Accepted": "True",
			"Threshold (wide)": 85.0, "Min in service (wide)": 50.0, "Denied (wide)": `["Mode","Drain"]`, "Class (wide)": "blue",
		},
		namespacePolicy: {
			"Mode": "Observe", "Self-preservation": "Engaged", "Leases": 12.0, "Received": 16.0, "Expected": 24.0, "Accepted": "True",
			"Held (wide)": 4.0, "Threshold (wide)": 85.0, "Reason (wide)": "Accepted", "Class (wide)": "blue",
		},
		registration: {
			"App": "demo", "Pods": 2.0, "Registered": 1.0, "Ready": nil,
			"Reason (wide)": nil, "Service (wide)": nil, "Port (wide)": "8080", "Vip (wide)": "demo", "Class (wide)": "blue",
		},
	} {
		t.Run(kind, func(t *testing.T) {
			stored := createComplete(t, kind)
			got := printed(t, resources()[kind], stored.GetNamespace())
			delete(got, "Name")
			delete(got, "Age")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("columns differ (-want +got):\n%s", diff)
			}
		})
	}
}

// printed returns the cells of the only object of a resource by column.
func printed(t *testing.T, resource, namespace string) map[string]any {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	request := client.RESTClient().Get().SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	path := "/apis/" + v1alpha1.GroupVersion().String()
	if namespace != "" {
		path += "/namespaces/" + namespace
	}
	body, err := request.AbsPath(path, resource).Do(t.Context()).Raw()
	if err != nil {
		t.Fatal(err)
	}
	var table metav1.Table
	if err := json.Unmarshal(body, &table); err != nil {
		t.Fatal(err)
	}
	if len(table.Rows) != 1 {
		t.Fatalf("got %d rows, want 1", len(table.Rows))
	}
	cells := map[string]any{}
	for i, column := range table.ColumnDefinitions {
		name := column.Name
		if column.Priority > 0 {
			name += " (wide)"
		}
		cells[name] = table.Rows[0].Cells[i]
	}
	return cells
}

func TestPodSelector_choosesAsItReads(t *testing.T) {
	t.Parallel()
	s := &v1alpha1.PodSelector{
		MatchLabels: map[string]v1alpha1.LabelValue{"app": "demo"},
		MatchExpressions: []v1alpha1.PodSelectorRequirement{
			{Key: "track", Operator: metav1.LabelSelectorOpNotIn, Values: []v1alpha1.LabelValue{"canary", "test"}},
			{Key: "zone", Operator: metav1.LabelSelectorOpExists},
		},
	}
	selector, err := metav1.LabelSelectorAsSelector(s.LabelSelector())
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		labels labels.Set
		want   bool
	}{
		"all terms hold":       {labels.Set{"app": "demo", "zone": "a"}, true},
		"another label":        {labels.Set{"app": "other", "zone": "a"}, false},
		"an excluded value":    {labels.Set{"app": "demo", "zone": "a", "track": "test"}, false},
		"a label is not there": {labels.Set{"app": "demo"}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := selector.Matches(tc.labels); got != tc.want {
				t.Errorf("got %t, want %t", got, tc.want)
			}
		})
	}
}
