package controlplane

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeManifests_readsEveryDocument(t *testing.T) {
	document := func(name string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n"
	}
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"none":            {"", []string{}},
		"one":             {document("a"), []string{"a"}},
		"a comment first": {"# what follows\n---\n" + document("a"), []string{"a"}},
		"an empty one":    {document("a") + "---\n---\n" + document("b"), []string{"a", "b"}},
		"JSON":            {`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`, []string{"a"}},
	} {
		objects, err := DecodeManifests(strings.NewReader(tc.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		names := make([]string, 0, len(objects))
		for _, o := range objects {
			names = append(names, o.GetName())
		}
		if diff := cmp.Diff(tc.want, names); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", name, diff)
		}
	}
	if objects, err := DecodeManifests(strings.NewReader(document("a") + "---\n: {")); err == nil {
		t.Errorf("no error, but %d objects", len(objects))
	}
	if _, err := Manifests("testdata/none.yaml"); err == nil {
		t.Error("no error for a file that is not there")
	}
}
