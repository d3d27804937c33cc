package truth

import (
	"container/heap"
	"hash/fnv"
	"math/rand/v2"
	"time"
	"unsafe"
)

// sim is virtual time: what is to happen, in the order in which it happens.
type sim struct {
	now   time.Duration // since the history began
	queue events
	seq   int
}

type event struct {
	at  time.Duration
	seq int
	do  func()
}

// after lets something happen in a while.
func (s *sim) after(d time.Duration, do func()) {
	s.seq++
	heap.Push(&s.queue, event{s.now + max(0, d), s.seq, do})
}

// every lets something happen again and again, first in a while. It ends when the
// function says so.
func (s *sim) every(first, period time.Duration, do func() (again bool)) {
	s.after(first, func() {
		if do() {
			s.every(period, period, do)
		}
	})
}

// runUntil plays what happens until a moment. It may be called by what happens,
// to wait.
func (s *sim) runUntil(t time.Duration) {
	for len(s.queue) > 0 && s.queue[0].at <= t {
		e := heap.Pop(&s.queue).(event)
		s.now = max(s.now, e.at)
		e.do()
	}
	s.now = max(s.now, t)
}

type events []event

func (q events) Len() int { return len(q) }
func (q events) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].seq < q[j].seq
}
func (q events) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *events) Push(x any)   { *q = append(*q, x.(event)) }
func (q *events) Pop() any {
	old := *q
	e := old[len(old)-1]
	*q = old[:len(old)-1]
	return e
}

// dice are random numbers of one name: what is drawn for one thing does not depend
// on what is drawn for others, so a history stays alike when a part is left out.
type dice struct{ *rand.Rand }

func newDice(seed uint64, name string) dice {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return dice{rand.New(rand.NewPCG(seed, h.Sum64()))}
}

// chance is true in so many of a hundred cases.
func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

// between draws a duration of whole milliseconds.
func (d dice) between(low, high time.Duration) time.Duration {
	return (low + time.Duration(d.Int64N(int64(high-low)+1))).Truncate(time.Millisecond)
}

func pick[T any](d dice, from []T) T { return from[d.IntN(len(from))] }

// begin is when every history begins, by all clocks.
const begin = 1_700_000_000

// clock is a process's clock: its monotonic part follows virtual time whatever
// happens to the wall.
type clock struct{ base time.Time }

func newClock() clock {
	now := time.Now()
	return clock{now.Add(-time.Duration(now.Nanosecond()))}
}

// read returns what time.Now returns at a moment when the wall clock has been
// stepped by whole seconds. The standard library offers no way to step one part of
// a time only, but the wall's seconds are the bits from 30 up of its first word.
func (c clock) read(now, stepped time.Duration) time.Time {
	t := c.base.Add(now)
	off := begin - c.base.Unix() + int64(stepped/time.Second)
	*(*uint64)(unsafe.Pointer(&t)) += uint64(off) << 30 //nolint:gosec // see above
	return t
}

// wall is a moment by a clock that is off by some duration, as it is written into
// objects.
func wall(now, off time.Duration) time.Time { return time.Unix(begin, 0).Add(now + off) }
