package settings

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Limits of one application file. A ConfigMap holds at most 1 MiB.
const (
	maxBytes     = 1 << 20
	maxDocuments = 100
	maxDepth     = 32
	maxNodes     = 20_000
	maxName      = 1024     // bytes of a key with those above it
	maxLists     = maxBytes // of the elements of all lists; only aliases make more
)

var errTooMuch = fmt.Errorf("it is nested deeper than %d, has more than %d parts, a name longer than %d bytes or lists of more than %d bytes",
	maxDepth, maxNodes, maxName, maxLists)

// parseYAML reads an application file. What is before an error is returned with it.
func parseYAML(text string) ([]document, error) {
	if len(text) > maxBytes {
		return nil, fmt.Errorf("it is larger than %d bytes", maxBytes)
	}
	var documents []document
	w := walker{left: maxNodes, lists: maxLists}
	for decoder := yaml.NewDecoder(strings.NewReader(text)); len(documents) < maxDocuments; {
		var root yaml.Node
		err := decoder.Decode(&root)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return documents, fmt.Errorf("reading it as YAML: %w", err)
		}
		w.document = document{}
		if err := w.walk("", &root, maxDepth); err != nil {
			return documents, err
		}
		documents = append(documents, w.document)
	}
	return documents, nil
}

// walker flattens documents. It counts nodes, because aliases may name one often.
type walker struct {
	document document
	left     int
	lists    int // bytes that are left for the elements of lists
}

func (w *walker) walk(key string, n *yaml.Node, depth int) error {
	if w.left--; w.left < 0 || depth == 0 || len(key) > maxName {
		return errTooMuch
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return w.each(key, n.Content, depth)
	case yaml.AliasNode:
		return w.walk(key, n.Alias, depth-1)
	case yaml.MappingNode:
		return w.mapping(key, n, depth)
	case yaml.SequenceNode:
		return w.sequence(key, n, depth)
	case yaml.ScalarNode:
		if n.Tag != "!!null" {
			w.document.add(key, n.Value)
		}
	}
	return nil
}

func (w *walker) each(key string, nodes []*yaml.Node, depth int) error {
	for _, n := range nodes {
		if err := w.walk(key, n, depth-1); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) mapping(key string, n *yaml.Node, depth int) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i].Value
		switch {
		case name == "<<":
			name = key
		case key != "":
			name = key + "." + name
		}
		if err := w.walk(name, n.Content[i+1], depth-1); err != nil {
			return err
		}
	}
	return nil
}

// sequence keeps each element by its index and all scalars together, as Spring reads
// a list.
func (w *walker) sequence(key string, n *yaml.Node, depth int) error {
	var scalars []string
	for i, element := range n.Content {
		if element.Kind == yaml.ScalarNode {
			scalars = append(scalars, element.Value)
			continue
		}
		if err := w.walk(key+"["+strconv.Itoa(i)+"]", element, depth-1); err != nil {
			return err
		}
	}
	if len(scalars) == 0 {
		return nil
	}
	for _, text := range scalars {
		w.lists -= len(text) + 1
	}
	if w.lists < 0 {
		return errTooMuch
	}
	w.document.add(key, strings.Join(scalars, ","))
	return nil
}
