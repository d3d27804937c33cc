package kubelet

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWriteVolume_showsTheLatestFilesAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	for _, want := range []map[string]string{{"a": "1", "b": "1"}, {"a": "2", "b": "1"}, {}, {"b": "2", "c": "2"}, {"b": "2", "c": "2"}} {
		files := map[string][]byte{}
		for name, content := range want {
			files[name] = []byte(content)
		}
		if err := WriteVolume(dir, files); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		folders := 0
		for _, e := range entries {
			switch content, err := os.ReadFile(filepath.Join(dir, e.Name())); {
			case e.IsDir():
				folders++
			case e.Name() == currentLink:
			case err != nil:
				t.Error(err)
			default:
				got[e.Name()] = string(content)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || folders != 1 {
			t.Errorf("the files differ (-want +got), in %d folders:\n%s", folders, diff)
		}
	}
}
