package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// imageUser is who the program of the image runs as: nobody in particular, and not root.
const imageUser = "65532:65532"

// rootFiles are all files of the image. There are no certificates: the only server
// that the program calls is the API server, and the authority of that is mounted
// with the service account's token or named in a kubeconfig.
func rootFiles() []string { return []string{registryProgram, licenceFile, noticesFile} }

// configOf is how the image is run. The Dockerfile says the same.
func (r release) configOf(target platform, diffID string) config {
	var c config
	c.Created, c.Architecture, c.OS = r.time.Format(time.RFC3339), target.Architecture, target.OS
	c.Config.User = imageUser
	c.Config.ExposedPorts = map[string]struct{}{"8080/tcp": {}, "8081/tcp": {}, "8761/tcp": {}}
	c.Config.Entrypoint, c.Config.Cmd = []string{"/" + registryProgram}, []string{"manager"}
	c.Config.WorkingDir = "/"
	c.Config.Labels = r.labels()
	c.RootFS.Type, c.RootFS.DiffIDs = "layers", []string{diffID}
	c.History = []history{{Created: c.Created, CreatedBy: "make release"}}
	return c
}

// labels are those of the image, and the annotations of its manifests.
func (r release) labels() map[string]string {
	const prefix = "org.opencontainers.image."
	return map[string]string{
		prefix + "title":       registryProgram,
		prefix + "description": "A Eureka-compatible service registry that watches the cluster and knows which instances are dead",
		prefix + "version":     r.version,
		prefix + "revision":    r.commit,
		prefix + "source":      "https://github.com/kureka/kureka",
		prefix + "licenses":    "Apache-2.0",
	}
}

// image writes the image as a folder in the OCI image layout and as a tar of that. It
// holds an index of one image for each platform of the registry's program.
func (r release) image(programs []program) error {
	l := layout{dir: filepath.Join(r.out, "kureka_"+r.version+"_image"), at: r.time}
	if err := l.begin(); err != nil {
		return err
	}
	var manifests []descriptor
	for _, p := range programs {
		if p.name != registryProgram {
			continue
		}
		manifest, err := r.platformImage(l, p)
		if err != nil {
			return fmt.Errorf("writing the image for %s: %w", p.platform, err)
		}
		manifests = append(manifests, manifest)
	}
	index, err := l.put(indexType, listing{SchemaVersion: 2, MediaType: indexType, Manifests: manifests, Annotations: r.labels()})
	if err != nil {
		return err
	}
	index.Annotations = map[string]string{
		"org.opencontainers.image.ref.name": r.version,
		"io.containerd.image.name":          r.name,
	}
	if err := l.end(index); err != nil {
		return err
	}
	return writeTo(l.dir+".tar", l.pack)
}

// platformImage adds the image for one platform.
func (r release) platformImage(l layout, p program) (descriptor, error) {
	files := make([]packed, 0, len(rootFiles()))
	for _, name := range rootFiles() {
		files = append(files, packed{name: name, path: filepath.Join(r.out, name), mode: 0o644})
	}
	files[0].path, files[0].mode = p.path, 0o755
	layer, diffID, err := l.layer(files)
	if err != nil {
		return descriptor{}, err
	}
	conf, err := l.put(configType, r.configOf(p.platform, diffID))
	if err != nil {
		return descriptor{}, err
	}
	d, err := l.put(manifestType, manifest{SchemaVersion: 2, MediaType: manifestType, Config: conf, Layers: []descriptor{layer}, Annotations: r.labels()})
	d.Platform = &p.platform
	return d, err
}

// layer adds a layer and returns the digest of its content, besides.
func (l layout) layer(files []packed) (d descriptor, diffID string, err error) {
	var compressed bytes.Buffer
	plain := sha256.New()
	zip := gzip.NewWriter(&compressed)
	if err := pack(io.MultiWriter(zip, plain), files, l.at); err != nil {
		return d, "", err
	}
	if err := zip.Close(); err != nil {
		return d, "", fmt.Errorf("compressing a layer: %w", err)
	}
	d, err = l.blob(layerType, compressed.Bytes())
	return d, fmt.Sprintf("sha256:%x", plain.Sum(nil)), err
}

// pack writes the folder as a tar.
func (l layout) pack(out io.Writer) error {
	var files []packed
	err := filepath.WalkDir(l.dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			name, _ := filepath.Rel(l.dir, path) // it is below
			files = append(files, packed{name: filepath.ToSlash(name), path: path, mode: 0o644})
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("listing the image: %w", err)
	}
	slices.Reverse(files) // oci-layout and index.json first, which some readers want
	return pack(out, files, l.at)
}

// begin makes an empty layout.
func (l layout) begin() error {
	err := os.RemoveAll(l.dir)
	if err == nil {
		err = os.MkdirAll(filepath.Join(l.dir, blobs), 0o755) //nolint:gosec // everybody may read it
	}
	if err != nil {
		return fmt.Errorf("making the image's folder: %w", err)
	}
	return nil
}
