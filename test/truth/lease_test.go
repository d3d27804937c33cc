package truth

import (
	"time"

	"github.com/kureka/kureka/internal/registry"
)

// listing is how an instance stood before time passed.
type listing struct {
	c       *client
	silence time.Duration
	out     bool
	ns      string
}

func (op *operator) silentNow() map[registry.Key]listing {
	out := map[registry.Key]listing{}
	for i := range op.cluster.Snapshot().All() {
		l := listing{c: op.w.speaker(i), ns: i.Partition, out: i.Verdict.OutOfService && i.Verdict.Reason != registry.ReasonHeldExpired}
		if l.c != nil {
			l.silence = op.w.now - l.c.heard
			l.out = l.out || l.c.doubted > l.c.heard // or taken out by the time that passes now
		}
		out[i.Key()] = l
	}
	return out
}

// checkWander looks whether time changed what is listed only to change it back.
func (w *world) checkWander(before *registry.Snapshot) {
	for i := range w.op.cluster.Snapshot().All() {
		if old := before.Get(i.Key()); old != nil && old != i && faceOf(old) == faceOf(i) {
			w.fail("%s was changed and is what it was", i.Key())
		}
	}
}

// face is what clients see of an instance.
type face struct {
	rec                      *registry.Record
	status, client, override registry.Status
	verdict                  registry.Verdict
	uid, node, ns            string
	up                       int64
}

func faceOf(i *registry.Instance) face {
	return face{i.Record, i.Status, i.Client, i.Override, i.Verdict, i.PodUID, i.Node, i.Partition, i.ServiceUpMS}
}

// checkEviction looks whether a lease may have been ended.
func (w *world) checkEviction(op *operator, e registry.Evicted, listed *registry.Snapshot, before map[registry.Key]listing) {
	gone := before[e.Key]
	if gone.c == nil {
		w.checkLease(e.Key, listed)
		return
	}
	expected, received := figures(before, e.Partition)
	op.evicted[e.Partition] = append(op.evicted[e.Partition], eviction{w.now, op.leases[e.Partition]})
	switch {
	case gone.silence <= leaseDuration:
		w.fail("%s was evicted %s after it was heard", e.Key, gone.silence)
	case w.credits(op):
		w.fail("%s was evicted soon after the process was paused or heard nobody", e.Key)
	case !w.plan.unprotected && !gone.out && gone.c.proc.works() && received < 0.75*expected:
		w.fail("%s was evicted while %.1f of %.1f renewals a minute come in %q", e.Key, received, expected, e.Partition)
	}
	w.checkHold(op, e, gone)
	n, most := 0, 0
	for _, x := range op.evicted[e.Partition] {
		if w.now-x.at < time.Minute {
			n, most = n+1, max(most, x.of)
		}
	}
	if n > max(1, (most*15+99)/100) {
		w.fail("%d of %d leases of %q were evicted within a minute", n, most, e.Partition)
	}
}

// checkLease looks whether somebody without a client was taken for one who has a lease.
func (w *world) checkLease(key registry.Key, listed *registry.Snapshot) {
	if old := listed.Get(key); old != nil && old.Kept {
		w.fail("%s was evicted, and has no lease", key)
	}
}

// noteHolds remembers when self-preservation certainly held a partition.
func (w *world) noteHolds(op *operator, before map[registry.Key]listing) {
	for _, ns := range []string{"", "x", "y"} {
		if expected, received := figures(before, ns); !w.plan.unprotected && received < 0.75*expected {
			op.held[ns] = w.now
		}
	}
}

// checkHold looks whether a lease was ended right after self-preservation had held
// it, when its client may still pause.
func (w *world) checkHold(op *operator, e registry.Evicted, gone listing) {
	if at, held := op.held[e.Partition]; held && !gone.out && gone.c.proc.works() && w.now-at < 28*time.Second {
		w.fail("%s was evicted %s after self-preservation held it", e.Key, w.now-at)
	}
}

// figures are the renewals per minute that a partition's clients owe and send.
func figures(listed map[registry.Key]listing, ns string) (expected, received float64) {
	for _, l := range listed {
		if l.ns != ns || l.c == nil || l.out {
			continue
		}
		interval := l.c.load.interval
		expected += 60 / interval.Seconds()
		if l.silence <= interval+max(3*time.Second, interval/5) {
			received += 60 / interval.Seconds()
		}
	}
	return expected, received
}

// credits reports whether the process was paused so lately that nothing may expire.
func (w *world) credits(op *operator) bool {
	for _, t := range w.troubles {
		length := t.to - t.from
		if t.from < op.born {
			continue
		}
		if t.pause && t.to < w.now && length > 7*time.Second && w.now < t.to+max(30*time.Second, min(300*time.Second, length)) {
			return true
		}
		if !t.pause && w.deaf(t) && w.now < t.to+min(300*time.Second, length) {
			return true
		}
	}
	return false
}

// deaf reports whether nobody at all was heard for more than two intervals, of
// several that should have been.
func (w *world) deaf(t trouble) bool {
	return t.to-t.from > 70*time.Second && len(w.clients) > 2 && w.now > t.from+70*time.Second
}

// fetcher is a client's cache of the registry: everything once, and from then on
// what has changed.
type fetcher struct {
	w      *world
	of     *operator
	at     time.Duration // of the last fetch
	cached map[registry.Key]shown
}

type shown struct {
	status  registry.Status
	process string
}

func newFetcher(w *world, n int) *fetcher {
	f := &fetcher{w: w}
	w.every(time.Duration(7+n*13)*time.Second, []time.Duration{30 * time.Second, 170 * time.Second}[n], func() bool {
		f.fetch()
		return true
	})
	return f
}

func (f *fetcher) fetch() {
	op := f.w.op
	if !op.running || op.paused() || f.w.cutClients > 0 || !op.gate.Open(op.now()) {
		return
	}
	snap := op.cluster.Snapshot()
	all := map[registry.Key]shown{}
	var counts registry.Counts
	for i := range snap.All() {
		all[i.Key()] = f.show(i)
		counts[i.Status-1]++
	}
	if counts != snap.Counts {
		f.w.fail("the hash says %v, the list %v", snap.Counts, counts)
	}
	late := f.w.now-f.at >= registry.ChangeRetention // the hash tells the client that it has missed something
	f.at = f.w.now
	if f.of != op || late {
		f.of, f.cached = op, all
		return
	}
	f.apply(snap)
	for key, want := range all {
		if f.cached[key] != want {
			f.w.fail("by deltas %s is %v, in the list %v", key, f.cached[key], want)
		}
	}
	if len(f.cached) != len(all) {
		f.w.fail("by deltas there are %d instances, in the list %d", len(f.cached), len(all))
	}
}

// apply takes in what has changed.
func (f *fetcher) apply(snap *registry.Snapshot) {
	for i := range snap.Changes() {
		if i.Action == registry.Deleted {
			delete(f.cached, i.Key())
		} else {
			f.cached[i.Key()] = f.show(i)
		}
	}
}

func (f *fetcher) show(i *registry.Instance) shown {
	s := shown{status: i.Status}
	if c := f.w.speaker(i); c != nil {
		s.process = c.proc.id
	}
	return s
}
