package registry

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"
)

// ReasonHeldExpired is the verdict shown for a lease that self-preservation holds
// although its process, and not the network, has fallen silent.
const ReasonHeldExpired = "HeldExpired"

// evictionWindow is the time over which evictions of a partition are capped.
const evictionWindow = int64(time.Minute)

// partition is the set of leases that one self-preservation covers: a namespace,
// or everything outside pods.
type partition struct {
	name    string
	policy  Policy
	pinned  bool // has a policy of its own
	beats   atomic.Int64
	members int // instances that clients keep
	kept    int // instances that are kept for their pods

	// Renewals per minute in millionths, so that sums are exact: what the
	// protected leases should send, and what those do that are not late.
	expected, received int64

	engaged   bool
	since     int64 // mono of the last change of engaged
	credit    int64 // mono until which nothing expires here
	overdue   map[*entry]struct{}
	evictions []eviction
	samples   queue[sample]
}

// eviction remembers when a lease was evicted and how many there were before.
type eviction struct {
	at      int64
	members int
}

type sample struct{ at, beats int64 }

// Transition is self-preservation of a partition starting or ending to hold.
type Transition struct {
	Partition string
	Engaged   bool
	// Expected and Received are renewals per minute at that moment.
	Expected, Received float64
}

func (e *Engine) partition(name string) *partition {
	p := e.partitions[name]
	if p == nil {
		p = &partition{name: name, policy: e.opts.Policy, overdue: map[*entry]struct{}{}}
		e.partitions[name] = p
	}
	return p
}

// spent reports whether nothing about the partition is worth remembering.
func (p *partition) spent(t int64) bool {
	return p.members == 0 && p.kept == 0 && !p.pinned && !p.engaged && t >= p.credit && len(p.evictions) == 0
}

// rate is the renewals per minute that a lease should send, in millionths.
func rate(interval time.Duration) int64 {
	return int64((60*time.Second*1_000_000 + interval/2) / interval)
}

// lateAfter is the silence after which a lease no longer counts as renewed: its
// client's interval and a margin for jitter.
func (n *entry) lateAfter() int64 {
	return int64(withJitter(max(n.interval, time.Duration(n.declared.Load()))))
}

// withJitter adds the margin that heartbeats may be late by.
func withJitter(interval time.Duration) time.Duration {
	return interval + max(3*time.Second, interval/5)
}

// recount protects the lease and judges its partition anew.
func (e *Engine) recount(now time.Time, n *entry) {
	p := n.part.Load()
	p.protect(n)
	e.judge(p, e.mono(now))
}

// protect makes the lease part of the expectation if it is kept by a client,
// listed, and not taken out by a verdict.
func (p *partition) protect(n *entry) {
	if !n.counted && !n.kept && !n.binding.Verdict.OutOfService && !n.binding.Unlisted {
		n.counted = true
		p.expected += rate(n.interval)
		if !n.has(flagLate) {
			p.received += rate(n.interval)
		}
	}
	if n.has(flagOverdue) {
		p.overdue[n] = struct{}{}
	}
}

func (e *Engine) uncount(n *entry) {
	if !n.counted {
		return
	}
	n.counted = false
	p := n.part.Load()
	p.expected -= rate(n.interval)
	if !n.has(flagLate) {
		p.received -= rate(n.interval)
	}
}

// judge decides whether self-preservation holds the partition.
func (e *Engine) judge(p *partition, t int64) {
	engaged := p.policy.SelfPreservation && p.received*100 < p.expected*int64(p.policy.RenewalThresholdPercent)
	if engaged == p.engaged {
		return
	}
	if p.engaged {
		p.credit = max(p.credit, t+creditFor(t-p.since))
	}
	p.engaged, p.since = engaged, t
	if len(e.happened) < maxTransitions {
		e.happened = append(e.happened, Transition{p.name, engaged, perMinute(p.expected), perMinute(p.received)})
	}
}

// maxTransitions bounds what is kept between two ticks.
const maxTransitions = 4096

func perMinute(millionths int64) float64 { return float64(millionths) / 1e6 }

const (
	// shortCredit is how long nothing expires after a disturbance that was too short
	// for clients to back off.
	shortCredit = int64(30 * time.Second)
	// A client that gets no answer is given up after its interval, here 30 s, and
	// pauses twice as long as before, at most ten intervals. So it is back at most
	// three intervals later than after as long again as the registry was away, and
	// never later than eleven after it.
	lostBeats, longestPause = int64(90 * time.Second), int64(330 * time.Second)
)

// creditFor is how long nothing expires after a disturbance of length l, in which
// clients could not reach the registry.
func creditFor(l int64) int64 {
	if l < shortCredit {
		return shortCredit
	}
	l = min(l, longestPause) // a damaged clock may say centuries
	return min(l+lostBeats, longestPause)
}

// age forgets the evictions that have left the window of the cap.
func (p *partition) age(t int64) {
	p.evictions = slices.DeleteFunc(p.evictions, func(x eviction) bool { return t-x.at >= evictionWindow })
}

// mayEvict reports whether the cap leaves room for one more eviction.
func (p *partition) mayEvict() bool {
	n := p.members
	if len(p.evictions) > 0 {
		n = p.evictions[0].members
	}
	limit := max(1, (n*p.policy.MaxEvictionPercent+99)/100)
	return len(p.evictions) < limit
}

// PartitionStats are the figures of one partition for people and metrics.
type PartitionStats struct {
	Name   string
	Leases int
	// Kept is the number of instances that are kept for pods without a client.
	Kept int
	// Expected and Received are renewals per minute; self-preservation is engaged
	// while Received is below ThresholdPercent of Expected.
	Expected, Received float64
	ThresholdPercent   int
	Engaged            bool
	// Disabled says that the policy has switched self-preservation off.
	Disabled bool
	// LastMinute counts the renewals of a sliding minute, sampled at every tick.
	LastMinute int64
	// Held is the number of expired leases that self-preservation keeps.
	Held int
}

// Threshold is below how many renewals per minute self-preservation engages, or would
// if it were not disabled.
func (s PartitionStats) Threshold() float64 { return s.Expected * float64(s.ThresholdPercent) / 100 }

// Partitions returns the figures of every partition, by name.
func (e *Engine) Partitions() []PartitionStats {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make([]PartitionStats, 0, len(e.partitions))
	for _, p := range e.partitions {
		out = append(out, p.stats())
	}
	slices.SortFunc(out, func(a, b PartitionStats) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Partition returns the figures of one partition, false if it has no leases and
// nothing is remembered of it.
func (e *Engine) Partition(name string) (PartitionStats, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.partitions[name]
	if p == nil {
		return PartitionStats{}, false
	}
	return p.stats(), true
}

func (p *partition) stats() PartitionStats {
	s := PartitionStats{
		Name: p.name, Leases: p.members, Kept: p.kept, Engaged: p.engaged, Disabled: !p.policy.SelfPreservation, ThresholdPercent: p.policy.RenewalThresholdPercent,
		Expected: perMinute(p.expected), Received: perMinute(p.received), LastMinute: p.lastMinute(),
	}
	for n := range p.overdue {
		if n.expiredAt != 0 {
			s.Held++
		}
	}
	return s
}

func (p *partition) lastMinute() int64 {
	if p.samples.len() == 0 {
		return p.beats.Load()
	}
	return p.beats.Load() - p.samples.peek().beats
}

// sampleBeats keeps one sample at or before the start of the sliding minute.
func (p *partition) sampleBeats(t int64) {
	p.samples.push(sample{t, p.beats.Load()})
	for p.samples.len() > 1 && t-p.samples.items[p.samples.head+1].at >= int64(time.Minute) {
		p.samples.pop()
	}
}
