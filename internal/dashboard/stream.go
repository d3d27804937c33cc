package dashboard

import (
	"fmt"
	"net/http"
	"time"
)

// StreamPath is where pages learn that there is something new to ask for.
const StreamPath = PagePrefix + "events"

const (
	// maxStreams bounds the open streams; each is a connection and a goroutine.
	maxStreams = 64
	// lookEvery is how often a stream looks whether the registry has changed, tickEvery
	// how often it says something although it has not.
	lookEvery, tickEvery = time.Second, 10 * time.Second
	// longestStream is when a stream ends. The browser opens the next one, for which it
	// is asked for its password again.
	longestStream = 10 * time.Minute
	// sendWithin is how long a reader may take for one event.
	sendWithin = 5 * time.Second
)

// stream tells a page when to ask for its content again, never the content itself:
// there is one way to make a page, and a reader that is slow misses nothing.
func (p *pages) stream(w http.ResponseWriter, r *http.Request) {
	select {
	case p.streams <- struct{}{}:
		defer func() { <-p.streams }()
	default:
		busy(w, "30")
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	if r.Method == http.MethodHead {
		return
	}
	// Where a deadline cannot be set there is none.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	p.follow(w, r)
}

// follow sends events until the reader, the process or the time of the stream ends.
func (p *pages) follow(w http.ResponseWriter, r *http.Request) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	end := time.NewTimer(longestStream)
	defer end.Stop()
	told := p.Registry.Snapshot().Version
	if !tell(w, "retry: 3000\nevent: tick\ndata: %d\n\n", told) {
		return
	}
	for quiet := lookEvery; ; quiet += lookEvery {
		select {
		case <-r.Context().Done():
			return
		case <-p.Stopping:
			return
		case <-end.C:
			return
		case <-ticker.C:
		}
		event, version := "tick", p.Registry.Snapshot().Version
		switch {
		case version != told:
			event, told = "changed", version
		case quiet < tickEvery:
			continue
		}
		if !tell(w, "event: "+event+"\ndata: %d\n\n", version) {
			return
		}
		quiet = 0
	}
}

// tell reports whether the reader took the event.
func tell(w http.ResponseWriter, format string, version int64) bool {
	c := http.NewResponseController(w)
	_ = c.SetWriteDeadline(time.Now().Add(sendWithin))
	_, err := fmt.Fprintf(w, format, version)
	return err == nil && c.Flush() == nil
}
