package markdown

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Document is a file taken apart.
type Document struct {
	Path     string
	Headings []string
	Blocks   []Block
	Links    []Link
	Spans    []Span
}

// Block is fenced text.
type Block struct {
	Heading string // the last one before it, whatever its level
	Marker  string // of the comment before it, for example "run"
	Text    string
	Line    int // of its fence, from 1
}

// Link is the target of a link, as it is written.
type Link struct {
	Target string
	Line   int
}

// Span is text in code style outside a block.
type Span struct {
	Text string
	Line int
}

var (
	headingForm = regexp.MustCompile(`^#{1,6} +(.+?) *$`)
	markerForm  = regexp.MustCompile(`^<!-- (run|build|file [A-Za-z0-9_./-]+) -->$`)
	linkForm    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	spanForm    = regexp.MustCompile("``? ?([^`]+?) ?`?`")
)

// ReadAll reads every document of a repository that tells of the present: not the
// changelog and not the decision records. Their paths are given from its top.
func ReadAll(root string) ([]*Document, error) {
	var all []*Document
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/adr/*.md", "charts/*/*.md"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, fmt.Errorf("listing the documents: %w", err)
		}
		for _, path := range paths {
			d, err := Read(path)
			if err != nil {
				return nil, err
			}
			if d.Path, err = filepath.Rel(root, path); err != nil {
				return nil, fmt.Errorf("listing the documents: %w", err)
			}
			if d.Path != "CHANGELOG.md" && !strings.HasPrefix(d.Path, "docs/adr/0") {
				all = append(all, d)
			}
		}
	}
	return all, nil
}

// Read takes a file apart. A block that is not closed is an error.
func Read(path string) (*Document, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a document: %w", err)
	}
	d := &Document{Path: path}
	r := reader{d: d}
	for text := range strings.Lines(string(content)) {
		r.line++
		r.take(strings.TrimRight(text, "\n"))
	}
	if r.block != nil {
		return nil, fmt.Errorf("reading %s: the block of line %d does not end", path, r.block.Line)
	}
	return d, nil
}

// reader is the state between two lines.
type reader struct {
	d       *Document
	line    int
	heading string
	marker  string
	indent  string // of the fence of block
	block   *Block // nil outside a block
}

func (r *reader) take(text string) {
	trimmed := strings.TrimLeft(text, " ")
	fence := strings.HasPrefix(trimmed, "```")
	switch {
	case r.block != nil && fence:
		r.d.Blocks = append(r.d.Blocks, *r.block)
		r.block = nil
	case r.block != nil:
		r.block.Text += strings.TrimPrefix(text, r.indent) + "\n"
	case fence:
		r.indent = text[:len(text)-len(trimmed)]
		r.block = &Block{Heading: r.heading, Marker: r.marker, Line: r.line}
		r.marker = ""
	default:
		r.prose(text)
	}
}

func (r *reader) prose(text string) {
	r.marker = ""
	if m := markerForm.FindStringSubmatch(text); m != nil {
		r.marker = m[1]
		return
	}
	if m := headingForm.FindStringSubmatch(text); m != nil {
		r.heading = m[1]
		r.d.Headings = append(r.d.Headings, m[1])
	}
	for _, m := range linkForm.FindAllStringSubmatch(text, -1) {
		r.d.Links = append(r.d.Links, Link{Target: m[1], Line: r.line})
	}
	for _, m := range spanForm.FindAllStringSubmatch(text, -1) {
		r.d.Spans = append(r.d.Spans, Span{Text: m[1], Line: r.line})
	}
}

// Code returns what is set in code style: spans, and the lines of blocks without a
// prompt.
func (d *Document) Code() []Span {
	all := slices.Clone(d.Spans)
	for _, b := range d.Blocks {
		line := b.Line
		for text := range strings.Lines(b.Text) {
			line++
			all = append(all, Span{strings.TrimPrefix(strings.TrimSpace(text), "$ "), line})
		}
	}
	return all
}

// Below returns the blocks with a marker below a heading, in their order.
func (d *Document) Below(heading, marker string) []Block {
	var found []Block
	for _, b := range d.Blocks {
		if b.Heading == heading && b.Marker == marker {
			found = append(found, b)
		}
	}
	return found
}

// Anchors returns the fragments by which links reach the headings.
func (d *Document) Anchors() map[string]bool {
	anchors := make(map[string]bool, len(d.Headings))
	for _, heading := range d.Headings {
		anchor := Anchor(heading)
		for n := 1; anchors[anchor]; n++ {
			anchor = fmt.Sprintf("%s-%d", Anchor(heading), n)
		}
		anchors[anchor] = true
	}
	return anchors
}

// Anchor is what becomes of a heading in a fragment: small letters, digits, hyphens
// and underscores, with a hyphen for each blank.
func Anchor(heading string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == ' ':
			return '-'
		case c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z':
			return c
		case c >= 'A' && c <= 'Z':
			return c - 'A' + 'a'
		}
		return -1
	}, heading)
}
