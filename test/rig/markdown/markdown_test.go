package markdown

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sample = `# One thing
See [there](a.md#b) and ` + "`make x`" + `.

<!-- run -->
~~~
make x
~~~
## It's *one* thing, again
1. Indented:
   ~~~yaml
   a:
     b: 1
   ~~~
## One thing
<!-- file a/b.txt -->
~~~
text with ` + "`ticks`" + `
~~~
<!-- run -->

~~~
too far from its marker
~~~
`

func TestRead_takesADocumentApart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sample.md")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(sample, "~~~", "```")), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	again := "It's *one* thing, again"
	want := &Document{
		Path: path, Headings: []string{"One thing", again, "One thing"},
		Links: []Link{{"a.md#b", 2}}, Spans: []Span{{"make x", 2}},
		Blocks: []Block{
			{Heading: "One thing", Marker: "run", Text: "make x\n", Line: 5},
			{Heading: again, Text: "a:\n  b: 1\n", Line: 10},
			{Heading: "One thing", Marker: "file a/b.txt", Text: "text with `ticks`\n", Line: 16},
			{Heading: "One thing", Text: "too far from its marker\n", Line: 21},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	anchors := map[string]bool{"one-thing": true, "its-one-thing-again": true, "one-thing-1": true}
	if diff := cmp.Diff(anchors, got.Anchors()); diff != "" {
		t.Errorf("anchors, -want +got:\n%s", diff)
	}
}

func TestRead_refusesABlockWithoutAnEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "open.md")
	if err := os.WriteFile(path, []byte("text\n```\nmake x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil {
		t.Error("it was read")
	}
}
