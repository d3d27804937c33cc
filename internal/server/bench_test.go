package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kureka/kureka/internal/eureka"
	"github.com/kureka/kureka/internal/registry"
)

func BenchmarkSegment(b *testing.B) {
	r := newRig(b)
	r.fill(10_000, 10)
	var bo bodies
	n, segs := 0, 0
	for range r.engine.Snapshot().Segments() {
		segs++
	}
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			for seg := range r.engine.Snapshot().Segments() {
				buf := bo.encode(eureka.JSON, seg)
				n += buf.Len()
				bo.recycle(buf)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*segs), "ns/segment")
	})
	b.Run("deflate", func(b *testing.B) {
		size, out := 0, 0
		for b.Loop() {
			for seg := range r.engine.Snapshot().Segments() {
				buf := bo.encode(eureka.JSON, seg)
				p := bo.deflate(buf.Bytes())
				size += p.size
				out += len(p.blocks)
				bo.recycle(buf)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*segs), "ns/segment")
		b.ReportMetric(float64(size)/float64(b.N*segs), "B/segment")
		b.ReportMetric(float64(size)/float64(out), "ratio")
	})
}

func get(tb testing.TB, target string, headers ...string) *http.Request {
	tb.Helper()
	req := httptest.NewRequestWithContext(tb.Context(), http.MethodGet, target, http.NoBody)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return req
}

func BenchmarkFullFetch(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		for name, encoding := range map[string]string{"plain": "identity", "gzip": "gzip"} {
			b.Run(fmt.Sprintf("%d/%s/warm", n, name), func(b *testing.B) { fetch(b, n, encoding, false) })
			b.Run(fmt.Sprintf("%d/%s/after-one-change", n, name), func(b *testing.B) { fetch(b, n, encoding, true) })
		}
	}
}

func fetch(b *testing.B, n int, encoding string, change bool) {
	b.Helper()
	r := newRig(b)
	r.fill(n, 10)
	req := get(b, "/eureka/apps/", "Accept", "application/json", "Accept-Encoding", encoding)
	w := &discard{header: http.Header{}}
	r.handler.ServeHTTP(w, req)
	w.n = 0
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if change {
			i++
			key := registry.Key{App: "APP-0050", ID: "pod-00505:app:8080"}
			r.engine.SetOverride(r.clock.Now(), registry.Caller{}, key, []registry.Status{registry.OutOfService, registry.Up}[i%2])
		}
		r.handler.ServeHTTP(w, req)
	}
	b.SetBytes(int64(w.n / b.N))
}

func BenchmarkDelta(b *testing.B) {
	for _, n := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprintf("%d-entries/after-one-change", n), func(b *testing.B) {
			r := newRig(b)
			r.fill(n, 10)
			req := get(b, "/eureka/apps/delta", "Accept", "application/json", "Accept-Encoding", "gzip")
			w := &discard{header: http.Header{}}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				key := registry.Key{App: "APP-0000", ID: "pod-00005:app:8080"}
				r.engine.SetOverride(r.clock.Now(), registry.Caller{}, key, []registry.Status{registry.OutOfService, registry.Up}[i%2])
				r.handler.ServeHTTP(w, req)
			}
		})
	}
}

func BenchmarkHeartbeat(b *testing.B) {
	r := newRig(b)
	r.fill(10_000, 10)
	req := httptest.NewRequestWithContext(b.Context(), http.MethodPut, "/eureka/apps/APP-0050/pod-00505:app:8080?status=UP&lastDirtyTimestamp=1759999999990", http.NoBody)
	w := &discard{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		r.handler.ServeHTTP(w, req)
	}
	if w.code != http.StatusOK {
		b.Fatalf("heartbeat = %d", w.code)
	}
}

func BenchmarkRegister(b *testing.B) {
	r := newRig(b)
	text := body("DEMO", "demo-1", "UP", 1000)
	w := &discard{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		req := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/eureka/apps/DEMO", strings.NewReader(text))
		r.handler.ServeHTTP(w, req)
	}
	if w.code != http.StatusNoContent {
		b.Fatalf("register = %d", w.code)
	}
}
