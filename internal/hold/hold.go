package hold

import (
	"context"
	"time"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/registry"
)

const (
	// lookEvery is how exact the end of a hold is.
	lookEvery = 250 * time.Millisecond
	// noticeWithin is how long the deletion of a pod may take to be seen here after a
	// kubelet has seen it, while the watches deliver.
	noticeWithin = 2 * time.Second
	// margin is for a client to take in what it was sent.
	margin = time.Second
)

// Outcome is why a request is held no longer.
type Outcome string

// The outcomes, as metrics name them.
const (
	Learned   Outcome = "learned"    // everybody knows
	Limit     Outcome = "limit"      // the pod has no more time for it
	Ended     Outcome = "ended"      // the pod has gone
	NotEnding Outcome = "not_ending" // only a container of it is restarted
	Unknown   Outcome = "unknown"    // nobody knows the pod
	HungUp    Outcome = "hung_up"    // nobody waits for the answer
	Stopping  Outcome = "stopping"   // Kureka itself ends
	Busy      Outcome = "busy"       // too many are held already
)

// Outcomes returns all of them.
func Outcomes() []Outcome {
	return []Outcome{Learned, Limit, Ended, NotEnding, Unknown, HungUp, Stopping, Busy}
}

// request is a preStop request that is held.
type request struct {
	*Handler
	token string
	begun time.Time
	// limit is for how long it is held at most, own how much of its grace period the
	// pod needs for itself after that.
	limit, own time.Duration

	ending bool // its pod was seen ending
	out    map[string]*absence
}

// absence is that a pod has nothing in service: when and in which version of the
// registry that was first seen, and since when everybody knows, zero before.
type absence struct {
	seen    time.Time
	version int64
	learned time.Time
}

// wait returns when there is a reason to.
func (q *request) wait(ctx context.Context) Outcome {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		if out := q.look(q.opts.Clock()); out != "" {
			return out
		}
		select {
		case <-ctx.Done():
			return HungUp
		case <-q.opts.Stopping:
			return Stopping
		case <-ticker.C:
		}
	}
}

// look returns why the request is not to be held any longer, empty if it is.
func (q *request) look(now time.Time) Outcome {
	all := q.opts.Pods.Endings(q.token)
	out := Learned
	ending := 0
	for i := range all {
		e := &all[i]
		if e.Since.IsZero() {
			continue
		}
		ending++
		switch {
		case q.isLearned(now, e):
		case !now.Before(q.deadline(e)):
			out = Limit
		default:
			q.ending = true
			return ""
		}
	}
	switch {
	case ending > 0:
		return out
	case q.ending:
		return Ended
	case now.Sub(q.begun) >= q.limit:
		return Limit
	case now.Sub(q.begun) < noticeWithin || !q.opts.Pods.HeardSince(q.begun):
		return "" // nobody knows whether it ends
	case len(all) > 0:
		return NotEnding
	}
	return Unknown
}

// isLearned reports whether nobody calls the pod any more.
func (q *request) isLearned(now time.Time, e *cluster.Ending) bool {
	name := e.Namespace + "/" + e.Name
	listed := q.opts.Registry.Snapshot()
	if isInService(listed, e.Instances) {
		delete(q.out, name)
		return false
	}
	a := q.out[name]
	if a == nil {
		a = &absence{seen: now, version: listed.Version}
		q.out[name] = a
	}
	if a.learned.IsZero() {
		since, ok := q.opts.Consumers.Learned(now, e.Instances, a.seen, a.version)
		if !ok {
			return false
		}
		a.learned = since
	}
	return now.Sub(a.learned) >= q.opts.CacheLifetime(e.Namespace)+margin
}

func isInService(listed *registry.Snapshot, keys []registry.Key) bool {
	for _, key := range keys {
		if in := listed.Get(key); in != nil && in.Status == registry.Up {
			return true
		}
	}
	return false
}

// deadline is when the pod has to have the rest of its grace period to itself. If
// that was shortened, it has at least half.
func (q *request) deadline(e *cluster.Ending) time.Time {
	limit := q.begun.Add(q.limit)
	if end := e.Since.Add(e.Grace - min(q.own, e.Grace/2)); end.Before(limit) {
		return end
	}
	return limit
}
