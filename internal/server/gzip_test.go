package server

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"net/http"
	"testing"

	"pgregory.net/rapid"

	"github.com/kureka/kureka/internal/eureka"
	"github.com/kureka/kureka/internal/registry"
)

func TestCRC_joinsLikeAConcatenation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOf(rapid.Byte()).Draw(t, "a")
		b := rapid.SliceOf(rapid.Byte()).Draw(t, "b")
		got := crcJoin(crc32.ChecksumIEEE(a), crc32.ChecksumIEEE(b), crcShift(len(b)))
		if want := crc32.ChecksumIEEE(append(a, b...)); got != want {
			t.Fatalf("joined CRC %08x, want %08x", got, want)
		}
	})
}

func TestMember_storesTextsOfAnyLength(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, storedMax, storedMax + 1, 3*storedMax + 7} {
		text := bytes.Repeat([]byte("k"), n)
		var m member
		m.begin()
		m.stored(text)
		m.end(text)
		if got := gunzip(t, join(m.document)); !bytes.Equal(got, append(text, text...)) {
			t.Errorf("%d bytes stored twice come back as %d", n, len(got))
		}
	}
}

// Every size of application and segment must give the same text either way.
func TestFullFetch_gzipHoldsThePlainBody(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		r := newRig(t)
		value := rapid.StringN(0, 40, 200)
		apps := rapid.IntRange(1, 20).Draw(rt, "apps")
		for i := range rapid.IntRange(0, 120).Draw(rt, "instances") {
			rec := record(fmt.Sprintf("APP-%d", rapid.IntRange(1, apps).Draw(rt, "app")), fmt.Sprintf("id-%d", i))
			for range rapid.IntRange(0, 8).Draw(rt, "pairs") {
				rec.Metadata = append(rec.Metadata, registry.Pair{Key: value.Draw(rt, "key"), Value: value.Draw(rt, "value")})
			}
			r.engine.Register(r.clock.Now(), registry.Caller{}, rec, registry.Binding{})
		}
		f := rapid.SampledFrom([]eureka.Format{eureka.JSON, eureka.XML}).Draw(rt, "format")
		plain := r.do(http.MethodGet, "/eureka/apps", "", "Accept", f.ContentType()).Body.Bytes()
		packed := r.do(http.MethodGet, "/eureka/apps", "", "Accept", f.ContentType(), "Accept-Encoding", "gzip")
		text := packed.Body.Bytes()
		if packed.Header().Get("Content-Encoding") == "gzip" {
			text = gunzip(t, text)
		}
		if !bytes.Equal(text, plain) {
			rt.Fatalf("the packed body differs from the plain one")
		}
		if want := naive(f, r.engine.Snapshot()); !bytes.Equal(plain, want) {
			rt.Fatalf("the body put together differs from the one written through:\n%s\nwant\n%s", plain, want)
		}
	})
}

func TestFullFetch_encodesOneSegmentAfterOneChange(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill(2000, 7)
	read := func() {
		r.do(http.MethodGet, "/eureka/apps", "", "Accept", "application/json", "Accept-Encoding", "gzip")
	}
	bodiesOf := func() map[*segmentBody]bool {
		all := map[*segmentBody]bool{}
		for seg := range r.engine.Snapshot().Segments() {
			all[r.server.bodies.segment(eureka.JSON, seg)] = true
		}
		return all
	}
	read()
	before := bodiesOf()
	r.want(http.StatusOK, http.MethodPut, "/eureka/apps/APP-0100/pod-00700:app:8080?status=UP")
	if diff := added(before, bodiesOf()); diff != 0 {
		t.Errorf("a heartbeat made %d segments anew, want 0", diff)
	}
	r.want(http.StatusOK, http.MethodPut, "/eureka/apps/APP-0100/pod-00700:app:8080/status?value=OUT_OF_SERVICE")
	if diff := added(before, bodiesOf()); diff != 1 {
		t.Errorf("a change made %d segments anew, want 1", diff)
	}
}

func added(before, after map[*segmentBody]bool) int {
	n := 0
	for seg := range after {
		if !before[seg] {
			n++
		}
	}
	return n
}

// naive writes the document in one go, from groups of whole applications.
func naive(f eureka.Format, snap *registry.Snapshot) []byte {
	doc := f.AppendHead(nil, "1", hash(snap.Counts))
	first := true
	for app := range appsOf(snap.All()) {
		if !first {
			doc = append(doc, f.Separator()...)
		}
		first = false
		doc = f.AppendAppOpen(doc, app)
		n := 0
		for inst := range snap.App(app) {
			if n++; n > 1 {
				doc = append(doc, f.Separator()...)
			}
			enc := encoder{format: f}
			doc = enc.appendInstance(doc, inst)
		}
		doc = append(doc, f.AppClose()...)
	}
	return append(doc, f.Tail()...)
}

func appsOf(all iter.Seq[*registry.Instance]) iter.Seq[string] {
	return func(yield func(string) bool) {
		last := ""
		for inst := range all {
			if inst.App != last && !yield(inst.App) {
				return
			}
			last = inst.App
		}
	}
}

func join(d document) []byte {
	text := bytes.Join(d.pieces, nil)
	if len(text) != d.size {
		panic(fmt.Sprintf("size %d of %d bytes", d.size, len(text)))
	}
	return text
}

func gunzip(tb testing.TB, packed []byte) []byte {
	tb.Helper()
	text, err := unzip(packed)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// unzip reads one member and demands that there is no other.
func unzip(packed []byte) ([]byte, error) {
	all := bytes.NewReader(packed)
	r, err := gzip.NewReader(all)
	if err != nil {
		return nil, fmt.Errorf("opening the member: %w", err)
	}
	r.Multistream(false)
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("reading the member: %w", err)
	}
	if all.Len() > 0 {
		return nil, fmt.Errorf("%d bytes follow the member", all.Len())
	}
	return text, nil
}
