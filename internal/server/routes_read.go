package server

import (
	"bytes"
	"iter"
	"net/http"

	"github.com/kureka/kureka/internal/eureka"
	"github.com/kureka/kureka/internal/registry"
)

// subsetVersion stands for the version where the instances are a selection.
const subsetVersion = "-1"

// gzipMin is the size in bytes from which packing a body by itself is worth it.
const gzipMin = 1 << 10

// snapshot returns the registry that a list is read from.
func (s *server) snapshot(c *call) *registry.Snapshot {
	snap := s.opts.Registry.Snapshot()
	c.version = snap.Version
	return snap
}

// allApps answers the full fetch.
func (s *server) allApps(c *call) {
	f, snap := c.listFormat(), s.snapshot(c)
	docs := s.bodies.of(f, snap)
	if c.wantsGzip() && snap.Len() > 0 {
		c.document(f, gzipEncoding, docs.fullGzip())
		return
	}
	c.document(f, identityEncoding, docs.full())
}

// changes answers the delta.
func (s *server) changes(c *call) {
	f, snap := c.listFormat(), s.snapshot(c)
	docs := s.bodies.of(f, snap)
	if c.wantsGzip() && snap.ChangeCount() > 0 {
		c.document(f, gzipEncoding, docs.deltaGzip())
		return
	}
	c.document(f, identityEncoding, docs.delta())
}

// oneApp answers with one application. There is no application without
// instances.
func (s *server) oneApp(c *call) {
	f := c.listFormat()
	empty := f.AppendApplicationDocument(nil, c.app, nil)
	end := bytes.LastIndex(empty, []byte(f.AppClose()))
	enc := encoder{format: f}
	buf := s.bodies.buffer()
	defer s.bodies.recycle(buf)
	buf.Write(empty[:end])
	found := false
	for inst := range s.snapshot(c).App(c.app) {
		dst := buf.AvailableBuffer()
		if found {
			dst = append(dst, f.Separator()...)
		}
		buf.Write(enc.appendInstance(dst, inst))
		found = true
	}
	if !found {
		c.sent = true // which says that the application has nobody
		c.empty(http.StatusNotFound)
		return
	}
	buf.Write(empty[end:])
	s.send(c, f, buf)
}

func (s *server) oneInstance(c *call) {
	s.one(c, s.opts.Registry.Snapshot().Get(s.key(c)))
}

// firstByID answers with the first instance of that id in any application.
func (s *server) firstByID(c *call) {
	for inst := range s.opts.Registry.Snapshot().ByID(c.id) {
		s.one(c, inst)
		return
	}
	c.empty(http.StatusNotFound)
}

// one answers with one instance, never packed: it is small, and who asks for
// one is often a script.
func (s *server) one(c *call, inst *registry.Instance) {
	if inst == nil {
		c.empty(http.StatusNotFound)
		return
	}
	f := c.format()
	enc := encoder{format: f}
	c.whole(f, identityEncoding, enc.appendDocument(nil, inst))
}

func (s *server) byVIP(c *call) { s.subset(c, s.snapshot(c).VIP(c.id)) }

func (s *server) bySecureVIP(c *call) { s.subset(c, s.snapshot(c).SecureVIP(c.id)) }

// subset answers with a selection; an empty one is a success, or a client that
// follows a single vip would keep what it has for ever.
func (s *server) subset(c *call, instances iter.Seq[*registry.Instance]) {
	f := c.listFormat()
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
		c.whole(f, identityEncoding, buf.Bytes())
		return
	}
	packed := s.bodies.gzip(buf.Bytes())
	defer s.bodies.recycle(packed)
	c.whole(f, gzipEncoding, packed.Bytes())
}

func (c *call) whole(f eureka.Format, encoding string, body []byte) {
	c.document(f, encoding, single(body))
}
