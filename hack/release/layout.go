package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Media types of the OCI image format.
const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// blobs is where a layout keeps its contents, by digest.
const blobs = "blobs/sha256"

// layout is a folder in the OCI image layout.
type layout struct {
	dir string
	at  time.Time // of everything in it
}

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"` // in bytes
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

type listing struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	Manifests     []descriptor      `json:"manifests"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

type manifest struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	Config        descriptor        `json:"config"`
	Layers        []descriptor      `json:"layers"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

type config struct {
	Created      string `json:"created"`
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
	Config       struct {
		User         string
		ExposedPorts map[string]struct{}
		Entrypoint   []string
		Cmd          []string
		WorkingDir   string
		Labels       map[string]string
	} `json:"config"`
	RootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
	History []history `json:"history"`
}

type history struct {
	Created   string `json:"created"`
	CreatedBy string `json:"created_by"`
}

// blob adds a content.
func (l layout) blob(mediaType string, content []byte) (descriptor, error) {
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	d := descriptor{MediaType: mediaType, Digest: "sha256:" + sum, Size: len(content)}
	return d, l.file(filepath.Join(blobs, sum), content)
}

// put adds a content in JSON.
func (l layout) put(mediaType string, content any) (descriptor, error) {
	text, err := json.Marshal(content)
	if err != nil {
		return descriptor{}, fmt.Errorf("encoding a part of the image: %w", err)
	}
	return l.blob(mediaType, text)
}

// end writes what a reader begins with, which leads to one index.
func (l layout) end(index descriptor) error {
	text, err := json.Marshal(listing{SchemaVersion: 2, MediaType: indexType, Manifests: []descriptor{index}})
	if err != nil {
		return fmt.Errorf("encoding the image's index: %w", err)
	}
	if err := l.file("index.json", text); err != nil {
		return err
	}
	return l.file("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`))
}

func (l layout) file(name string, content []byte) error {
	//nolint:gosec // everybody may read it
	if err := os.WriteFile(filepath.Join(l.dir, name), content, 0o644); err != nil {
		return fmt.Errorf("writing a part of the image: %w", err)
	}
	return nil
}
