package server

import (
	"bytes"
	"iter"
	"net/http"
	"strconv"
	"sync"

	"github.com/kureka/kureka/internal/eureka"
	"github.com/kureka/kureka/internal/registry"
)

const (
	// fullVersion stands in full fetches: never -1, which makes Java clients fetch
	// everything for ever after, and small, because some clients count in 16 bits.
	fullVersion = "1"
	// subsetVersion stands where the instances are a selection.
	subsetVersion = "-1"

	// gzipMin is the size in bytes from which packing is worth it.
	gzipMin = 1 << 10
)

// allApps answers the full fetch.
func (s *server) allApps(c *call) {
	f, snap := c.format(), s.opts.Registry.Snapshot()
	head := f.AppendHead(nil, fullVersion, hash(snap.Counts))
	if c.wantsGzip() && snap.Len() > 0 {
		c.document(f, "gzip", s.bodies.fullGzip(f, head, snap.Segments()))
		return
	}
	c.document(f, "", s.bodies.full(f, head, snap.Segments()))
}

// changes answers the delta. Its hash is that of the whole registry after the
// changes, and both come from the same snapshot.
func (s *server) changes(c *call) {
	f := c.format()
	body := s.bodies.delta(f, s.opts.Registry.Snapshot())
	if c.wantsGzip() && len(body.plain) > gzipMin {
		c.whole(f, "gzip", body.packed())
		return
	}
	c.whole(f, "", body.plain)
}

// deltaBody is a snapshot's delta, made once for all who ask.
type deltaBody struct {
	plain  []byte
	packed func() []byte
}

func (b *bodies) delta(f eureka.Format, snap *registry.Snapshot) *deltaBody {
	body, _ := snap.Memo(int(f)).Get(func() any {
		head := f.AppendHead(nil, strconv.FormatInt(snap.Version, 10), hash(snap.Counts))
		buf := b.list(f, head, snap.Changes())
		defer b.recycle(buf)
		plain := bytes.Clone(buf.Bytes())
		return &deltaBody{plain: plain, packed: sync.OnceValue(func() []byte {
			packed := b.gzip(plain)
			defer b.recycle(packed)
			return bytes.Clone(packed.Bytes())
		})}
	}).(*deltaBody)
	return body
}

// oneApp answers with one application. There is no application without
// instances.
func (s *server) oneApp(c *call) {
	f := c.format()
	empty := f.AppendApplicationDocument(nil, c.app, nil)
	end := bytes.LastIndex(empty, []byte(f.AppClose()))
	enc := encoder{format: f}
	buf := s.bodies.buffer()
	defer s.bodies.recycle(buf)
	buf.Write(empty[:end])
	found := false
	for inst := range s.opts.Registry.Snapshot().App(c.app) {
		dst := buf.AvailableBuffer()
		if found {
			dst = append(dst, f.Separator()...)
		}
		buf.Write(enc.appendInstance(dst, inst))
		found = true
	}
	if !found {
		c.empty(http.StatusNotFound)
		return
	}
	buf.Write(empty[end:])
	s.send(c, f, buf)
}

func (s *server) oneInstance(c *call) {
	s.single(c, s.opts.Registry.Snapshot().Get(c.key()))
}

// firstByID answers with the first instance of that id in any application.
func (s *server) firstByID(c *call) {
	for inst := range s.opts.Registry.Snapshot().ByID(c.id) {
		s.single(c, inst)
		return
	}
	c.empty(http.StatusNotFound)
}

// single answers with one instance, never packed: it is small, and who asks for
// one is often a script.
func (s *server) single(c *call, inst *registry.Instance) {
	if inst == nil {
		c.empty(http.StatusNotFound)
		return
	}
	f := c.format()
	enc := encoder{format: f}
	c.whole(f, "", enc.appendDocument(nil, inst))
}

func (s *server) byVIP(c *call) { s.subset(c, s.opts.Registry.Snapshot().VIP(c.id)) }

func (s *server) bySecureVIP(c *call) { s.subset(c, s.opts.Registry.Snapshot().SecureVIP(c.id)) }

// subset answers with a selection; an empty one is a success, or a client that
// follows a single vip would keep what it has for ever.
func (s *server) subset(c *call, instances iter.Seq[*registry.Instance]) {
	f := c.format()
	var counts eureka.StatusCounts
	for inst := range instances {
		counts.Add(eureka.Status(inst.Status.String()), 1)
	}
	buf := s.bodies.list(f, f.AppendHead(nil, subsetVersion, counts.Hash()), instances)
	defer s.bodies.recycle(buf)
	s.send(c, f, buf)
}

// send answers with a body of the pool, packed if that is wanted and worth it.
func (s *server) send(c *call, f eureka.Format, buf *bytes.Buffer) {
	if !c.wantsGzip() || buf.Len() <= gzipMin {
		c.whole(f, "", buf.Bytes())
		return
	}
	packed := s.bodies.gzip(buf.Bytes())
	defer s.bodies.recycle(packed)
	c.whole(f, "gzip", packed.Bytes())
}

func (c *call) whole(f eureka.Format, encoding string, body []byte) {
	c.document(f, encoding, document{pieces: [][]byte{body}, size: len(body)})
}
