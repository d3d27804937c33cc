package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/kureka/kureka/internal/audit"
)

// Limits of one input. What is over them is refused, not cut.
const (
	// MaxBytes is how large all of an input may be.
	MaxBytes = 64 << 20
	// maxDocumentBytes is how large one document may be; an object in etcd has at most
	// 1.5 MiB. Lists that an API server wrote may be longer.
	maxDocumentBytes = 4 << 20
	// maxDocuments is how many documents an input may have.
	maxDocuments = 20_000
)

// Error says which document of an input cannot be used.
type Error struct {
	Source   string // the name of the file
	Document int    // from 1 on
	Line     int    // where the document begins, from 1 on
	Err      error
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s, document %d (line %d): %v", e.Source, e.Document, e.Line, e.Err)
}

// Unwrap returns why.
func (e *Error) Unwrap() error { return e.Err }

// Read adds the objects of an input, the name of which is for people, to what is
// looked at. Objects that name no namespace are in the given one. Documents that are
// empty, and kinds that nobody looks at, are passed over. The error is an *Error for
// the first document that cannot be used, or says that a limit is exceeded; everything
// before it is added.
func Read(source string, text []byte, namespace string, into *audit.Input) error {
	if len(text) > MaxBytes {
		return fmt.Errorf("%s: it is larger than %d MiB", source, MaxBytes>>20)
	}
	r := reader{source: source, namespace: namespace, into: into}
	line := 1
	for number := 1; len(text) > 0; number++ {
		if number > maxDocuments {
			return fmt.Errorf("%s: it has more than %d documents", source, maxDocuments)
		}
		document, rest := cutDocument(text)
		if err := r.document(document, number); err != nil {
			return &Error{Source: source, Document: number, Line: line, Err: err}
		}
		line += bytes.Count(text[:len(text)-len(rest)], []byte{'\n'})
		text = rest
	}
	return nil
}

// ReadList adds the objects of a list in JSON, as an API server writes it.
func ReadList(source string, text []byte, into *audit.Input) error {
	if len(text) > MaxBytes {
		return fmt.Errorf("%s: it is larger than %d MiB", source, MaxBytes>>20)
	}
	r := reader{source: source, into: into, live: true}
	if err := r.object(text); err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	return nil
}

// cutDocument cuts before the next line that separates documents. What is after the
// separator on its line belongs to the next document.
func cutDocument(text []byte) (document, rest []byte) {
	for at := 0; at < len(text); {
		end := bytes.IndexByte(text[at:], '\n')
		if end < 0 {
			end = len(text)
		} else {
			end += at + 1
		}
		if separates(text[at:end]) {
			return text[:at], text[at+3:]
		}
		at = end
	}
	return text, nil
}

func separates(line []byte) bool {
	after, ok := bytes.CutPrefix(line, []byte("---"))
	return ok && (len(after) == 0 || bytes.IndexByte([]byte(" \t\r\n"), after[0]) >= 0)
}

// reader adds documents of one input.
type reader struct {
	source, namespace string
	number            int  // of the document
	live              bool // it comes from an API server
	into              *audit.Input
}

var errNoKind = errors.New("it has no kind, so it is no object of Kubernetes")

func (r *reader) document(text []byte, number int) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	if len(text) > maxDocumentBytes {
		return fmt.Errorf("it is larger than %d MiB", maxDocumentBytes>>20)
	}
	object, err := yaml.YAMLToJSON(text)
	if err != nil {
		return fmt.Errorf("reading it as YAML: %w", err)
	}
	if string(object) == "null" { // nothing but comments
		return nil
	}
	r.number = number
	return r.object(object)
}

func (r *reader) object(text []byte) error {
	var head struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Items      []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return fmt.Errorf("reading what it is: %w", err)
	}
	if head.Kind == "" {
		return errNoKind
	}
	if list, ok := listOf(head.Kind); ok && head.Items != nil {
		return r.items(list, head.APIVersion, head.Items)
	}
	return r.add(head.Kind, head.APIVersion, text)
}
