package cli

import (
	"net/http"
	"sync/atomic"
	"time"
)

// clock is that of the registry, whose times the answers are full of, as far as this
// machine's differs from it. It may be used by several goroutines; until the first
// answer it is this machine's.
type clock struct {
	local func() time.Time
	ahead atomic.Int64 // nanoseconds
}

func (c *clock) now() time.Time { return c.local().Add(time.Duration(c.ahead.Load())) }

// hear takes the time from an answer. That has no fractions of a second: if this
// machine's time may be the same, it is taken for the same.
func (c *clock) hear(h http.Header) {
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return // there is none, or nobody can read it
	}
	ahead := date.Sub(c.local())
	if ahead > -time.Second && ahead <= 0 {
		ahead = 0
	}
	c.ahead.Store(int64(ahead))
}
