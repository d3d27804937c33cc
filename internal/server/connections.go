package server

import (
	"container/list"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// connections bound the connections of a server. The one too many takes the place
// of the one that has waited longest for a request: its client, if it still has one,
// opens another for its next question. Where all are being answered it is closed
// itself, so that nobody loses an answer.
type connections struct {
	max     int
	dropped prometheus.Counter

	mu sync.Mutex
	// open are the connections with their place among those that wait for a request,
	// nil while one is being answered.
	open    map[net.Conn]*list.Element
	waiting list.List // of net.Conn, the longest first
}

func newConnections(limit int) *connections {
	return &connections{
		max: limit, open: map[net.Conn]*list.Element{},
		dropped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "kureka_http_connections_dropped_total",
			Help: "Connections to the Eureka API closed because there were too many, those first that had waited longest for a request.",
		}),
	}
}

func (c *connections) register(to prometheus.Registerer) error {
	count := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "kureka_http_connections",
		Help: "Connections to the Eureka API that are open.",
	}, func() float64 { return float64(c.count()) })
	for _, m := range []prometheus.Collector{c.dropped, count} {
		if err := to.Register(m); err != nil {
			return fmt.Errorf("registering a metric of the connections: %w", err)
		}
	}
	return nil
}

func (c *connections) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// follow is told by the server of every connection and what becomes of it.
func (c *connections) follow(conn net.Conn, state http.ConnState) {
	tooMany := c.note(conn, state)
	if tooMany == nil {
		return
	}
	c.dropped.Inc()
	if encrypted, ok := tooMany.(*tls.Conn); ok {
		tooMany = encrypted.NetConn() // to say goodbye could take seconds, while nobody is accepted
	}
	_ = tooMany.Close() // nobody is told of it
}

// note keeps account and returns the connection that has to go, nil if none.
func (c *connections) note(conn net.Conn, state http.ConnState) net.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.open[conn]; !known && state != http.StateNew {
		return nil // it had to go
	}
	c.leave(conn)
	switch state {
	case http.StateNew, http.StateIdle:
		c.open[conn] = c.waiting.PushBack(conn)
	case http.StateActive:
		c.open[conn] = nil
	case http.StateHijacked, http.StateClosed:
	}
	if len(c.open) <= c.max {
		return nil
	}
	longest, _ := c.waiting.Front().Value.(net.Conn) // there is one: the new one waits, too
	c.leave(longest)
	return longest
}

func (c *connections) leave(conn net.Conn) {
	if place := c.open[conn]; place != nil {
		c.waiting.Remove(place)
	}
	delete(c.open, conn)
}
