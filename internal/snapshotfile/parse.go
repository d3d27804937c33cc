package snapshotfile

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/registry"
)

// batchLines is how many lines are decoded in one go.
const batchLines = 512

// asWritten are the rules by which encoding/json wrote the lines; the library decodes
// them in two thirds of its time, of which a start has little. Whether a line is
// whole is found out while it is decoded, not before: one that is not counts for
// nothing either way.
var asWritten = json.JoinOptions(jsonv1.DefaultOptionsV1(), jsonv1.ReportErrorsWithLegacySemantics(false))

// batch is a run of lines that one goroutine decodes.
type batch struct {
	text  [][]byte
	lines []line
	err   error // of the first line that is not in lines
	done  chan struct{}
}

// readLines reads what writeLines wrote. Decoding takes most of the time of a start,
// so all cores do it.
func readLines(packed io.Reader) (*cluster.Checkpoint, error) {
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		return nil, fmt.Errorf("unpacking: %w", err)
	}
	work, inOrder := make(chan *batch), make(chan *batch, 2*runtime.GOMAXPROCS(0))
	var scanErr error
	go func() {
		defer close(inOrder)
		defer close(work)
		scanErr = split(unpacked, func(b *batch) {
			inOrder <- b
			work <- b
		})
	}()
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for b := range work {
				b.decode()
			}
		})
	}
	p := newParser()
	for b := range inOrder { // to the end in any case, so that nobody is left waiting
		<-b.done
		if err == nil {
			err = p.takeAll(b)
		}
	}
	workers.Wait()
	if scanErr != nil {
		return nil, fmt.Errorf("unpacking: %w", scanErr)
	}
	if err == nil {
		err = p.whole()
	}
	return p.cp, err
}

// split cuts the stream into batches.
func split(unpacked io.Reader, put func(*batch)) error {
	scan := bufio.NewScanner(io.LimitReader(unpacked, maxBytes))
	scan.Buffer(make([]byte, 1<<16), maxLine)
	var buf []byte
	b := &batch{done: make(chan struct{})}
	for scan.Scan() {
		start := len(buf)
		buf = append(buf, scan.Bytes()...)
		b.text = append(b.text, buf[start:len(buf):len(buf)]) // stays valid when buf grows into another array
		if len(b.text) == batchLines {
			put(b)
			b, buf = &batch{done: make(chan struct{})}, make([]byte, 0, len(buf))
		}
	}
	put(b)
	return scan.Err()
}

func (b *batch) decode() {
	defer close(b.done)
	b.lines = make([]line, len(b.text))
	for i, text := range b.text {
		if err := json.Unmarshal(text, &b.lines[i], asWritten); err != nil {
			b.lines, b.err = b.lines[:i], err
			return
		}
	}
}

// parser puts lines together again.
type parser struct {
	cp           *cluster.Checkpoint
	lines        int
	headed, done bool
}

func newParser() *parser {
	return &parser{cp: &cluster.Checkpoint{
		Registry: &registry.Checkpoint{},
		Policies: cluster.SavedPolicies{Fallback: cluster.DefaultPolicy(), Namespaces: map[string]cluster.SavedPolicy{}},
	}}
}

func (p *parser) takeAll(b *batch) error {
	for i := range b.lines {
		if err := p.take(&b.lines[i]); err != nil {
			return fmt.Errorf("reading line %d: %w", p.lines+1, err)
		}
	}
	if b.err != nil {
		return fmt.Errorf("reading line %d: %w", p.lines+1, b.err)
	}
	return nil
}

func (p *parser) take(l *line) error {
	if p.done {
		return errors.New("something comes after the end")
	}
	if l.End != nil {
		if p.done = true; l.End.Lines != p.lines {
			return fmt.Errorf("%d lines were written, %d are there", l.End.Lines, p.lines)
		}
		return nil
	}
	p.lines++
	p.keep(l)
	return nil
}

func (p *parser) keep(l *line) {
	cp, r := p.cp, p.cp.Registry
	if h := l.Head; h != nil {
		p.headed = true
		r.SavedMS, r.Version, r.Clock, r.Credits = h.SavedMS, h.Version, h.Clock, h.Credits
	}
	switch n := l.Policy; {
	case n == nil:
	case n.Namespace == "":
		cp.Policies.Fallback = n.Policy
	default:
		cp.Policies.Namespaces[n.Namespace] = n.Policy
	}
	appendTo(&cp.Nodes, l.Node)
	appendTo(&cp.Pods, l.Pod)
	appendTo(&r.Instances, l.Instance)
	appendTo(&cp.Instances, l.Binding)
	appendTo(&r.Deletions, l.Deletion)
	appendTo(&r.Overrides, l.Override)
	appendTo(&r.Tombstones, l.Tombstone)
	appendTo(&r.Fences, l.Fence)
	appendTo(&cp.Orphans, l.Orphan)
	appendTo(&cp.Firsts, l.First)
}

// appendTo appends a value, if there is one. Room is doubled each time: the runtime
// adds a quarter to long lists, which would copy everything four times over.
func appendTo[T any](all *[]T, v *T) {
	if v == nil {
		return
	}
	if len(*all) == cap(*all) {
		*all = slices.Grow(*all, len(*all)+1)
	}
	*all = append(*all, *v)
}

// whole reports what a stream without an end lacks.
func (p *parser) whole() error {
	switch {
	case !p.done:
		return errors.New("the last line is missing")
	case !p.headed:
		return errors.New("the first line is missing")
	}
	return nil
}
