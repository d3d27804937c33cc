package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// descriptor is a reference to a content of the image.
type descriptor struct {
	Digest      string
	Size        int
	Platform    struct{ OS, Architecture string }
	Annotations map[string]string
}

// config is how the image is run.
type config struct {
	Created, OS, Architecture string
	Config                    struct {
		User, WorkingDir string
		Entrypoint, Cmd  []string
		ExposedPorts     map[string]struct{}
		Labels           map[string]string
	}
	RootFS struct {
		DiffIDs []string `json:"diff_ids"`
	}
}

// image is that for one platform, with its only layer unpacked.
type image struct {
	config config
	files  map[string]file
}

type file struct {
	*tar.Header
	content []byte
}

// images reads the image for each platform, checking every digest on the way.
func images(t *testing.T) map[string]image {
	t.Helper()
	dir := filepath.Join(release(t), "kureka_"+version+"_image")
	var start, index struct{ Manifests []descriptor }
	decode(t, read(t, dir, "index.json"), &start)
	if len(start.Manifests) != 1 {
		t.Fatalf("the layout begins with %d images, want an index", len(start.Manifests))
	}
	decode(t, blob(t, dir, start.Manifests[0]), &index)
	all := map[string]image{}
	for _, d := range index.Manifests {
		var manifest struct {
			Config descriptor
			Layers []descriptor
		}
		decode(t, blob(t, dir, d), &manifest)
		var i image
		decode(t, blob(t, dir, manifest.Config), &i.config)
		if len(manifest.Layers) != 1 || len(i.config.RootFS.DiffIDs) != 1 {
			t.Fatalf("%v: %d layers, %d of them in the config, want one", d.Platform, len(manifest.Layers), len(i.config.RootFS.DiffIDs))
		}
		i.files = unpack(t, blob(t, dir, manifest.Layers[0]), i.config.RootFS.DiffIDs[0])
		all[d.Platform.OS+"/"+d.Platform.Architecture] = i
	}
	return all
}

func blob(t *testing.T, dir string, d descriptor) []byte {
	t.Helper()
	content := read(t, dir, "blobs", strings.ReplaceAll(d.Digest, ":", "/"))
	if sum := fmt.Sprintf("sha256:%x", sha256.Sum256(content)); sum != d.Digest || len(content) != d.Size {
		t.Fatalf("%s holds %s, %d bytes, want %d", d.Digest, sum, len(content), d.Size)
	}
	return content
}

// unpack returns the files of a layer.
func unpack(t *testing.T, layer []byte, diffID string) map[string]file {
	t.Helper()
	plain := unzip(t, layer)
	if sum := fmt.Sprintf("sha256:%x", sha256.Sum256(plain)); sum != diffID {
		t.Fatalf("the layer is %s, the config says %s", sum, diffID)
	}
	files := untar(t, plain)
	for name, f := range files {
		if f.Typeflag != tar.TypeReg || f.Uid != 0 || f.Gid != 0 || f.Mode&0o022 != 0 {
			t.Errorf("%s: type %c of %d:%d, mode %o; want a file of root's that nobody else may write", name, f.Typeflag, f.Uid, f.Gid, f.Mode)
		}
	}
	return files
}

func unzip(t *testing.T, content []byte) []byte {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

func untar(t *testing.T, content []byte) map[string]file {
	t.Helper()
	files := map[string]file{}
	for archive := tar.NewReader(bytes.NewReader(content)); ; {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		files[head.Name] = file{Header: head, content: text}
	}
}

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v: %.300s", err, text)
	}
}

func TestTheImage_holdsTheProgramAndItsLicences(t *testing.T) {
	for platform, i := range images(t) {
		names := make([]string, 0, len(i.files))
		for name := range i.files {
			names = append(names, name)
		}
		slices.Sort(names)
		if diff := cmp.Diff([]string{"LICENSE", "THIRD_PARTY_NOTICES", "kureka"}, names); diff != "" {
			t.Errorf("%s (-want +got):\n%s", platform, diff)
		}
		program := read(t, release(t), "kureka_"+version+"_"+strings.ReplaceAll(platform, "/", "_"))
		if !bytes.Equal(i.files["kureka"].content, program) || i.files["kureka"].Mode != 0o755 {
			t.Errorf("%s: its program is another one", platform)
		}
	}
}

func TestTheImage_isRunAsTheDockerfileSays(t *testing.T) {
	want := dockerfile(t, string(read(t, top, "Dockerfile")))
	all := images(t)
	for _, architecture := range architectures() {
		got := all["linux/"+architecture].config
		if got.OS != "linux" || got.Architecture != architecture || got.Created != created {
			t.Errorf("%s: for %s/%s, created %s, want %s", architecture, got.OS, got.Architecture, got.Created, created)
		}
		if diff := cmp.Diff(want.Config, got.Config); diff != "" {
			t.Errorf("%s (-Dockerfile +image):\n%s", architecture, diff)
		}
	}
	if len(all) != len(architectures()) {
		t.Errorf("it is for %d architectures, want %v", len(all), architectures())
	}
}

// label is a label as a Dockerfile gives it.
var label = regexp.MustCompile(`(\S+)="([^"]*)"`)

// dockerfile reads the last stage of a Dockerfile.
func dockerfile(t *testing.T, text string) (c config) {
	t.Helper()
	_, stage, _ := strings.Cut(text, "\nFROM scratch\n")
	stage = strings.NewReplacer("\\\n", "", "$VERSION", version, "$COMMIT", commit).Replace(stage)
	c.Config.ExposedPorts, c.Config.Labels = map[string]struct{}{}, map[string]string{}
	for line := range strings.Lines(stage) {
		instruction, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch instruction {
		case "USER":
			c.Config.User = rest
		case "WORKDIR":
			c.Config.WorkingDir = rest
		case "EXPOSE":
			for port := range strings.FieldsSeq(rest) {
				c.Config.ExposedPorts[port+"/tcp"] = struct{}{}
			}
		case "ENTRYPOINT":
			decode(t, []byte(rest), &c.Config.Entrypoint)
		case "CMD":
			decode(t, []byte(rest), &c.Config.Cmd)
		case "LABEL":
			for _, pair := range label.FindAllStringSubmatch(rest, -1) {
				c.Config.Labels[pair[1]] = pair[2]
			}
		case "ARG", "#", "":
		default:
			if line != "COPY --from=build /rootfs /\n" {
				t.Errorf("the Dockerfile says what the image is not compared for: %s", line)
			}
		}
	}
	return c
}

func TestTheTarOfTheImage_holdsTheSame(t *testing.T) {
	dir := release(t)
	want := hashes(t, filepath.Join(dir, "kureka_"+version+"_image"))
	got := map[string]string{}
	for name, f := range untar(t, read(t, dir, "kureka_"+version+"_image.tar")) {
		got[name] = fmt.Sprintf("%x", sha256.Sum256(f.content))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-folder +tar):\n%s", diff)
	}
}
