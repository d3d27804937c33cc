package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	connectTimeout = time.Second
	callTimeout    = 2 * time.Second
	// maxInFlight bounds the calls that wait for an answer; more are not made.
	maxInFlight = 200
)

// Calls counts calls by what became of them.
type Calls struct {
	OK int
	// Dead calls found nobody: the address refused or did not answer the connection.
	Dead int
	// Wrong calls were answered by another application.
	Wrong int
	// Broken calls were accepted and then not answered.
	Broken int
	// None is the number of calls that could not be made because no instance was
	// known, or too many calls were under way.
	None int
	// LastDead and LastWrong are when the last such call began.
	LastDead, LastWrong time.Time
}

// Total is the number of calls made.
func (c Calls) Total() int { return c.OK + c.Failed() }

// Failed is the number of calls that did not reach the right application.
func (c Calls) Failed() int { return c.Dead + c.Wrong + c.Broken }

// calls counts for the application and for each of its instances.
type calls struct {
	mu    sync.Mutex
	total Calls
	each  map[string]*Calls
}

func newCalls() calls { return calls{each: map[string]*Calls{}} }

// Calls returns what became of all calls so far.
func (g *Gateway) Calls() Calls {
	g.calls.mu.Lock()
	defer g.calls.mu.Unlock()
	return g.calls.total
}

// CallsTo returns what became of the calls to one instance.
func (g *Gateway) CallsTo(id string) Calls {
	g.calls.mu.Lock()
	defer g.calls.mu.Unlock()
	if c := g.calls.each[id]; c != nil {
		return *c
	}
	return Calls{}
}

type outcome int

const (
	answered outcome = iota
	dead
	wrong
	broken
	none
)

// count counts a call that began at start; id is empty if it was not made.
func (c *calls) count(id string, what outcome, start time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total.add(what, start)
	if id == "" {
		return
	}
	if c.each[id] == nil {
		c.each[id] = &Calls{}
	}
	c.each[id].add(what, start)
}

func (c *Calls) add(what outcome, start time.Time) {
	switch what {
	case answered:
		c.OK++
	case dead:
		c.Dead++
		c.LastDead = later(c.LastDead, start)
	case wrong:
		c.Wrong++
		c.LastWrong = later(c.LastWrong, start)
	case broken:
		c.Broken++
	case none:
		c.None++
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// drive makes calls at the wanted rate, to one instance after the other.
func (g *Gateway) drive(ctx context.Context) {
	ticker := time.NewTicker(time.Second / time.Duration(g.options.Rate))
	defer ticker.Stop()
	free := make(chan struct{}, maxInFlight)
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := time.Now()
		up := g.Up()
		if len(up) == 0 {
			g.calls.count("", none, now)
			continue
		}
		select {
		case free <- struct{}{}:
		default:
			g.calls.count("", none, now)
			continue
		}
		target := up[n%len(up)]
		g.running.Go(func() {
			defer func() { <-free }()
			what := g.call(ctx, target)
			if ctx.Err() == nil {
				g.calls.count(target.ID, what, now)
			}
		})
	}
}

func (g *Gateway) call(ctx context.Context, target Instance) outcome {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+target.Address.String()+"/", nil)
	if err != nil {
		return broken
	}
	res, err := g.services.Do(req)
	if err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
			return dead
		}
		return broken
	}
	defer res.Body.Close()
	var who struct{ App string }
	if err := json.NewDecoder(io.LimitReader(res.Body, maxBody)).Decode(&who); err != nil {
		return broken
	}
	if !strings.EqualFold(who.App, g.options.App) {
		return wrong
	}
	return answered
}
