package registry

import "maps"

// latestEach is how many of the newest registrations, and of the newest ends, are
// remembered, as by the reference server.
const latestEach = 1000

// The reasons for which an instance leaves.
const (
	EndCancelled = "Cancelled"    // its client, or somebody in its name, asked for it
	EndExpired   = "LeaseExpired" // no heartbeat came
	EndProven    = "PodGone"      // its pod is certainly gone
	EndRemoved   = "Removed"      // its address has another owner, or its pod is not listed any more
)

// Moment is a registration, or the end of an instance.
type Moment struct {
	Key    Key
	AtMS   int64
	Reason string // of an end, "" of a registration
}

// latest remembers the newest moments of one kind.
type latest struct {
	moments []Moment
	next    int              // where the oldest is, once there are enough
	total   map[string]int64 // how many there ever were, by reason
}

func (l *latest) add(m Moment) {
	if l.total == nil {
		l.total = map[string]int64{}
	}
	l.total[m.Reason]++
	if len(l.moments) < latestEach {
		l.moments = append(l.moments, m)
		return
	}
	l.moments[l.next] = m
	l.next = (l.next + 1) % latestEach
}

// newestFirst returns a copy.
func (l *latest) newestFirst() []Moment {
	out := make([]Moment, 0, len(l.moments))
	for i := range l.moments {
		out = append(out, l.moments[(l.next+len(l.moments)-1-i)%len(l.moments)])
	}
	return out
}

// Latest returns the last 1000 registrations and the last 1000 ends of instances
// since this process started, the newest first. A client that registers again
// counts again.
func (e *Engine) Latest() (registered, ended []Moment) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.registered.newestFirst(), e.ended.newestFirst()
}

// EndReasons are the reasons for which instances leave.
func EndReasons() []string { return []string{EndCancelled, EndExpired, EndProven, EndRemoved} }

// Totals returns how many registrations and, by reason, how many ends there were
// since this process started.
func (e *Engine) Totals() (registered int64, ended map[string]int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.registered.total[""], maps.Clone(e.ended.total)
}

// Fenced returns how many pods that are proven dead are kept from coming back.
func (e *Engine) Fenced() int {
	e.fence.mu.RLock()
	defer e.fence.mu.RUnlock()
	return len(e.fence.byUID)
}
