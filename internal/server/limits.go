package server

import (
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// DefaultMaxConnections is the default of Limits.MaxConnections.
const DefaultMaxConnections = 65536

// Limits bound what clients can make the server do. A zero field means its
// default, so the zero value is the default as a whole.
type Limits struct {
	// MaxBodyBytes bounds the body of a registration, before and after
	// decompression. Larger ones are answered 413. Usual bodies have 1 to 2 KiB;
	// the default of 128 KiB leaves room for long metadata.
	MaxBodyBytes int64
	// MaxBatchBytes is MaxBodyBytes for what a peer sends at a time, at most 250
	// changes if it is a reference server. Default 8 MiB.
	MaxBatchBytes int64
	// MaxURLBytes bounds path and query, which carry ids and metadata. Longer
	// ones are answered 414. Default 32 KiB.
	MaxURLBytes int
	// MaxHeaderBytes bounds request line and header fields. Default 64 KiB.
	MaxHeaderBytes int

	// MaxLists bounds the list reads answered at a time. A list read may last as
	// long as its client reads slowly, and shares its body with all others, so the
	// default is high: 8192. Those beyond are answered 503.
	MaxLists int
	// MaxRegistrations bounds the registrations answered at a time. One may last as
	// long as its client takes to send it, so they have slots of their own; with
	// MaxBodyBytes they bound the memory held by bodies being received. One address
	// gets half of them at most, so that one slow sender of many leaves room for
	// others. Those beyond are answered 503. Default 1024.
	MaxRegistrations int
	// MaxBatches bounds the batches of peers answered at a time; with MaxBatchBytes
	// they bound the memory held by batches being received. Those beyond are answered
	// 503, on which a peer waits and tries again. Default 8.
	MaxBatches int
	// MaxOthers bounds all other requests answered at a time, heartbeats among
	// them, which neither slow readers nor slow senders keep out. Default 2048.
	MaxOthers int

	// MaxConnections bounds the open connections, which take some 20 KiB each. Beyond
	// it those that have waited longest for a request are closed. Default
	// DefaultMaxConnections: two for each of 30,000 clients.
	MaxConnections int

	// ReadTimeout bounds the time from the first byte of a request to its last.
	// Clients give up after 8 s, and a registration that stalls for so long is of
	// no use to anybody. Default 8 s.
	ReadTimeout time.Duration
	// WriteTimeout cuts off clients that read their answer too slowly. It is long
	// because a large registry over a thin line takes its time. Default 60 s.
	WriteTimeout time.Duration
	// IdleTimeout bounds how long a connection is kept between requests. It must
	// outlast the clients' 30 s rhythm with room for one that is skipped, or every
	// heartbeat opens a connection. Default 120 s.
	IdleTimeout time.Duration
}

// withDefaults returns the limits with every zero field set.
func (l Limits) withDefaults() Limits {
	defaultTo(&l.MaxBodyBytes, 128<<10)
	defaultTo(&l.MaxBatchBytes, 8<<20)
	defaultTo(&l.MaxURLBytes, 32<<10)
	defaultTo(&l.MaxHeaderBytes, 64<<10)
	defaultTo(&l.MaxLists, 8192)
	defaultTo(&l.MaxRegistrations, 1024)
	defaultTo(&l.MaxBatches, 8)
	defaultTo(&l.MaxOthers, 2048)
	defaultTo(&l.MaxConnections, DefaultMaxConnections)
	defaultTo(&l.ReadTimeout, 8*time.Second)
	defaultTo(&l.WriteTimeout, 60*time.Second)
	defaultTo(&l.IdleTimeout, 120*time.Second)
	return l
}

func defaultTo[T int | int64 | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// NewHTTPServer returns a server for the handler with the limits' sizes, timeouts
// and number of connections. Address, TLS and error log are the caller's to set. The
// limits on bodies, URLs and concurrency are the handler's own. A nil registerer
// keeps the metrics to the server.
func NewHTTPServer(handler http.Handler, limits Limits, metrics prometheus.Registerer) (*http.Server, error) {
	limits = limits.withDefaults()
	conns := newConnections(limits.MaxConnections)
	if metrics != nil {
		if err := conns.register(metrics); err != nil {
			return nil, err
		}
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true) // one Java client opens with it
	return &http.Server{
		Protocols:         &protocols,
		Handler:           handler,
		ReadHeaderTimeout: limits.ReadTimeout,
		ReadTimeout:       limits.ReadTimeout,
		WriteTimeout:      limits.WriteTimeout,
		IdleTimeout:       limits.IdleTimeout,
		MaxHeaderBytes:    limits.MaxHeaderBytes,
		ConnState:         conns.follow,
	}, nil
}

// slots count the requests of one class that are being answered.
type slots struct {
	used atomic.Int64
	max  int64
}

// take reports whether there was a slot. If so, it has to be released.
func (s *slots) take() bool {
	if s.used.Add(1) > s.max {
		s.used.Add(-1)
		return false
	}
	return true
}

func (s *slots) release() { s.used.Add(-1) }

// shares count the requests of one class that are being answered, by the address
// they come from.
type shares struct {
	max int

	mu   sync.Mutex
	used map[netip.Addr]int
}

// take reports whether the address had some left of its share. If so, it has to be
// released. Who comes through a proxy is not told apart and not limited.
func (s *shares) take(from netip.Addr) bool {
	if !from.IsValid() {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used[from] >= s.max {
		return false
	}
	s.used[from]++
	return true
}

func (s *shares) release(from netip.Addr) {
	if !from.IsValid() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used[from]--; s.used[from] == 0 {
		delete(s.used, from)
	}
}
