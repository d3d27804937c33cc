package server

import (
	"bytes"
	"iter"
	"runtime"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kureka/kureka/internal/eureka"
	"github.com/kureka/kureka/internal/registry"
)

// Memos hold one value per format, whose number is the slot.
const _ = uint(registry.MemoSlots - eureka.Formats)

// bodies builds response bodies. Encoding an instance costs about a microsecond
// and deflating it several times that, so what is kept is the deflated segment;
// instances are encoded anew whenever their segment changes.
type bodies struct {
	segments  *prometheus.CounterVec
	buffers   sync.Pool // of *bytes.Buffer
	deflaters sync.Pool // of *flate.Writer
	zippers   sync.Pool // of *gzip.Writer
}

// documents are the lists that a snapshot is read as in one format, each made
// once for all who ask.
type documents struct {
	full, fullGzip   func() document
	delta, deltaGzip func() document
}

// fullVersion stands for the version in full fetches: never -1, which makes Java
// clients fetch everything for ever after, and small, because some clients count
// in 16 bits.
const fullVersion = "1"

// of returns the snapshot's documents. The hash of a delta is that of the whole
// registry after the changes.
func (b *bodies) of(f eureka.Format, snap *registry.Snapshot) *documents {
	docs, _ := snap.Memo(int(f)).Get(func() any {
		head := func(version string) []byte { return f.AppendHead(nil, version, hash(snap.Counts)) }
		version := strconv.FormatInt(snap.Version, 10)
		return &documents{
			full:      sync.OnceValue(func() document { return b.plain(f, head(fullVersion), snap.Segments()) }),
			fullGzip:  sync.OnceValue(func() document { return b.packed(f, head(fullVersion), snap.Segments()) }),
			delta:     sync.OnceValue(func() document { return b.plain(f, head(version), snap.ChangeSegments()) }),
			deltaGzip: sync.OnceValue(func() document { return b.packed(f, head(version), snap.ChangeSegments()) }),
		}
	}).(*documents)
	return docs
}

// document is a body as a list of pieces, which it shares with other documents.
// A large registry is never joined in memory.
type document struct {
	pieces [][]byte
	size   int
}

func (d *document) add(piece []byte) {
	d.pieces = append(d.pieces, piece)
	d.size += len(piece)
}

func single(piece []byte) document {
	var d document
	d.add(piece)
	return d
}

// segmentBody is one segment as it stands in a document, from the start of its
// first instance to the end of its last. Both forms are made when first asked
// for and live as long as the segment.
type segmentBody struct {
	plain  func() []byte
	packed func() packedSegment
}

func (b *bodies) segment(f eureka.Format, seg *registry.Segment) *segmentBody {
	body, _ := seg.Memo(int(f)).Get(func() any {
		return &segmentBody{
			plain: sync.OnceValue(func() []byte {
				buf := b.encode(f, seg)
				defer b.recycle(buf)
				b.segments.WithLabelValues(f.String(), identityEncoding).Inc()
				return bytes.Clone(buf.Bytes())
			}),
			packed: sync.OnceValue(func() packedSegment {
				buf := b.encode(f, seg)
				defer b.recycle(buf)
				b.segments.WithLabelValues(f.String(), gzipEncoding).Inc()
				return b.deflate(buf.Bytes())
			}),
		}
	}).(*segmentBody)
	return body
}

// encode returns the segment in a buffer of the pool.
func (b *bodies) encode(f eureka.Format, seg *registry.Segment) *bytes.Buffer {
	buf := b.buffer()
	enc := encoder{format: f}
	app := seg.At(0).App
	for i := range seg.Len() {
		inst := seg.At(i)
		dst := buf.AvailableBuffer()
		if i > 0 {
			dst = appendBetween(dst, f, app, inst.App)
		}
		buf.Write(enc.appendInstance(dst, inst))
		app = inst.App
	}
	return buf
}

// plain returns the segments as a document.
func (b *bodies) plain(f eureka.Format, head []byte, segments iter.Seq[*registry.Segment]) document {
	var d document
	d.add(b.walk(f, head, segments, func(before []byte, seg *segmentBody) {
		d.add(before)
		d.add(seg.plain())
	}))
	return d
}

// packed is plain in one gzip member. Segments were deflated on their own; what
// stands between them depends on their neighbours and goes in as stored blocks.
func (b *bodies) packed(f eureka.Format, head []byte, segments iter.Seq[*registry.Segment]) document {
	b.packAhead(f, segments)
	var m member
	m.begin()
	m.end(b.walk(f, head, segments, func(before []byte, seg *segmentBody) {
		m.stored(before)
		m.deflated(seg.packed())
	}))
	return m.document
}

// packAhead packs the segments on all cores: after a start, when none is packed yet,
// everybody waits for the first list.
func (b *bodies) packAhead(f eureka.Format, segments iter.Seq[*registry.Segment]) {
	work := make(chan *segmentBody)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seg := range work {
				seg.packed()
			}
		})
	}
	for seg := range segments {
		work <- b.segment(f, seg)
	}
	close(work)
	workers.Wait()
}

// walk calls visit for every segment with the text before it, and returns the
// text after the last one. Head is the text before everything.
func (b *bodies) walk(f eureka.Format, head []byte, segments iter.Seq[*registry.Segment], visit func([]byte, *segmentBody)) []byte {
	text, app := head, ""
	for seg := range segments {
		visit(appendBetween(text, f, app, seg.At(0).App), b.segment(f, seg))
		text, app = nil, seg.At(seg.Len()-1).App
	}
	return appendEnd(text, f, app)
}

// list returns a few instances as an applications document in a buffer of the
// pool. They must be grouped by application.
func (b *bodies) list(f eureka.Format, head []byte, instances iter.Seq[*registry.Instance]) *bytes.Buffer {
	buf := b.buffer()
	buf.Write(head)
	enc := encoder{format: f}
	app := ""
	for inst := range instances {
		buf.Write(enc.appendInstance(appendBetween(buf.AvailableBuffer(), f, app, inst.App), inst))
		app = inst.App
	}
	buf.Write(appendEnd(buf.AvailableBuffer(), f, app))
	return buf
}

// appendBetween appends what stands between an instance of one application and
// one of the next. The first of a document has "" before it.
func appendBetween(dst []byte, f eureka.Format, app, next string) []byte {
	if app == next {
		return append(dst, f.Separator()...)
	}
	if app != "" {
		dst = append(append(dst, f.AppClose()...), f.Separator()...)
	}
	return f.AppendAppOpen(dst, next)
}

// appendEnd appends what stands after the last instance.
func appendEnd(dst []byte, f eureka.Format, app string) []byte {
	if app != "" {
		dst = append(dst, f.AppClose()...)
	}
	return append(dst, f.Tail()...)
}

const (
	bufferSize    = 64 << 10 // of a new buffer: about a segment
	bufferMaxKept = 1 << 20  // larger ones are not kept
)

func (b *bodies) buffer() *bytes.Buffer {
	if buf, ok := b.buffers.Get().(*bytes.Buffer); ok {
		return buf
	}
	return bytes.NewBuffer(make([]byte, 0, bufferSize))
}

func (b *bodies) recycle(buf *bytes.Buffer) {
	if buf.Cap() <= bufferMaxKept {
		buf.Reset()
		b.buffers.Put(buf)
	}
}
