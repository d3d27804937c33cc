package release

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestARelease_isTheSameFromAnyFolderAndBuilder(t *testing.T) {
	one := release(t)
	other, err := buildIn("in/another/folder", "GOFLAGS=-trimpath=false", "GOTOOLCHAIN=local", "TZ=Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	sums := hashes(t, one)
	if diff := cmp.Diff(sums, hashes(t, other)); diff != "" {
		t.Errorf("they differ (-one +other):\n%s", diff)
	}
	names := strings.Fields("LICENSE SHA256SUMS THIRD_PARTY_NOTICES kureka-1.2.3-test.1.tgz" +
		" kureka_v1.2.3-test.1_image.tar kureka_v1.2.3-test.1_image/index.json kureka_v1.2.3-test.1_image/oci-layout")
	for _, architecture := range architectures() {
		name := "kureka_v1.2.3-test.1_linux_" + architecture
		names = append(names, name, name+".cdx.json", "kubectl-"+name)
	}
	for _, name := range names {
		if sums[name] == "" {
			t.Errorf("no %s among %v", name, slices.Sorted(maps.Keys(sums)))
		}
	}
}

// hashes returns what each file below a folder holds.
func hashes(t *testing.T, dir string) map[string]string {
	t.Helper()
	sums := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			sums[path] = fmt.Sprintf("%x", sha256.Sum256(read(t, dir, path)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

func TestTheChecksums_areThoseOfAllFiles(t *testing.T) {
	dir := release(t)
	want := map[string]string{}
	for line := range strings.Lines(string(read(t, dir, "SHA256SUMS"))) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		want[name] = sum
	}
	got := hashes(t, dir)
	maps.DeleteFunc(got, func(name, _ string) bool { return name == "SHA256SUMS" || strings.Contains(name, "/") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the files (-named +there):\n%s", diff)
	}
}

func TestABillOfMaterials_namesEverythingBuiltInWithItsLicence(t *testing.T) {
	dir := release(t)
	for _, architecture := range architectures() {
		path := filepath.Join(dir, "kureka_"+version+"_linux_"+architecture)
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := append(make([]string, 0, 1+len(info.Deps)), "std@"+info.GoVersion)
		for _, d := range info.Deps {
			want = append(want, d.Path+"@"+d.Version)
		}
		b := billOf(t, path)
		got := make([]string, 0, len(b.Components))
		for _, c := range b.Components {
			got = append(got, c.Name+"@"+c.Version)
			if len(c.Licenses) == 0 {
				t.Errorf("%s: %s has no licence", architecture, c.Name)
			}
			if !bytes.Contains(read(t, dir, "THIRD_PARTY_NOTICES"), []byte(c.Name+" "+c.Version+" (")) {
				t.Errorf("%s: %s is not in the notices", architecture, c.Name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: the parts (-want +got):\n%s", architecture, diff)
		}
		hash := b.Metadata.Component.Hashes
		if len(hash) != 1 || hash[0].Content != fmt.Sprintf("%x", sha256.Sum256(read(t, path))) {
			t.Errorf("%s: it is of another program: %v", architecture, hash)
		}
	}
}

func TestTheChart_isOfTheVersionAndRunsItsImage(t *testing.T) {
	files := untar(t, unzip(t, read(t, release(t), "kureka-1.2.3-test.1.tgz")))
	chart := string(files["kureka/Chart.yaml"].content)
	for _, want := range []string{"\nversion: 1.2.3-test.1\n", "appVersion: " + version + "\n"} {
		if !strings.Contains("\n"+chart, want) {
			t.Errorf("no %q in:\n%s", want, chart)
		}
	}
}

// bill is what is looked at of a bill of materials.
type bill struct {
	Metadata   struct{ Component entry }
	Components []entry
}

type entry struct {
	Name, Version string
	Hashes        []struct{ Content string }
	Licenses      []struct{ License struct{ ID string } }
}

func billOf(t *testing.T, program string) (b bill) {
	t.Helper()
	if err := json.Unmarshal(read(t, program+".cdx.json"), &b); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestARelease_isNotBuiltUnderAnotherKindOfName(t *testing.T) {
	dir := filepath.Join(release(t), top)
	for _, name := range []string{"1.2.3", "v1.2", "v1.2.3-", "v01.2.3", "v1.2.3 ", "latest", "v1.2.3+a"} {
		var said bytes.Buffer
		cmd := builder(dir, "-version", name, "-commit", commit, "all")
		cmd.Stderr = &said
		if err := cmd.Run(); err == nil || !strings.Contains(said.String(), "want one like v1.2.3") {
			t.Errorf("version %q: error %v: %s", name, err, said.String())
		}
	}
}
