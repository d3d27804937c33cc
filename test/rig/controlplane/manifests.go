package controlplane

import (
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Manifests returns the objects of a YAML or JSON file, in their order.
func Manifests(path string) ([]*unstructured.Unstructured, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading manifests: %w", err)
	}
	defer func() { _ = f.Close() }() // nothing was written to it
	objects, err := DecodeManifests(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return objects, nil
}

// DecodeManifests returns the objects of a YAML or JSON text, in their order.
// Empty documents are none.
func DecodeManifests(text io.Reader) (objects []*unstructured.Unstructured, err error) {
	for d := yaml.NewYAMLOrJSONDecoder(text, 4096); ; {
		o := &unstructured.Unstructured{}
		if err := d.Decode(o); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, fmt.Errorf("decoding manifests: %w", err)
		}
		if len(o.Object) > 0 {
			objects = append(objects, o)
		}
	}
}
