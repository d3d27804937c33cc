package faultproxy

import (
	"net"
	"sync"
)

// gate holds up all bytes while it is closed. The zero value is open.
type gate struct {
	mu     sync.Mutex
	opened chan struct{} // nil while the gate is open; closed when it opens
}

func (g *gate) set(closed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case closed && g.opened == nil:
		g.opened = make(chan struct{})
	case !closed && g.opened != nil:
		close(g.opened)
		g.opened = nil
	}
}

// wait returns when the gate is open, or an error when the connection is closed.
func (g *gate) wait(gone <-chan struct{}) error {
	g.mu.Lock()
	opened := g.opened
	g.mu.Unlock()
	if opened == nil {
		return nil
	}
	select {
	case <-opened:
		return nil
	case <-gone:
		return net.ErrClosed
	}
}

// listening accepts connections that go through a gate.
type listening struct {
	net.Listener
	gate *gate
}

func (l *listening) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, gate: l.gate, gone: make(chan struct{})}, nil
}

type conn struct {
	net.Conn
	gate  *gate
	gone  chan struct{}
	close sync.Once
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if waitErr := c.gate.wait(c.gone); waitErr != nil {
		return 0, waitErr
	}
	return n, err
}

func (c *conn) Write(b []byte) (int, error) {
	if err := c.gate.wait(c.gone); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

func (c *conn) Close() error {
	c.close.Do(func() { close(c.gone) })
	return c.Conn.Close()
}
