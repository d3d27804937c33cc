package cluster

import (
	"time"

	"github.com/kureka/kureka/internal/evidence"
)

const (
	// leaseOld is how much later than the node's renewals usually arrive one may come
	// and still be news of life.
	leaseOld = 10 * time.Second
	// paceLeast is over how long a node must keep pace with our clock before its own
	// is believed to have been set.
	paceLeast = 5 * time.Second
	// paceMargin is how far two renewals may be apart from what our clock says of them.
	paceMargin = 3 * time.Second
	// lateSlack is what a kubelet may be late for a renewal.
	lateSlack = 2 * time.Second
	// usualLease is the duration of a Lease that does not tell its own.
	usualLease = 40 * time.Second
)

// doubt is a renewal that looked old when it came.
type doubt struct{ at, renewed time.Time }

// ObserveLease takes in a change of a node's Lease. renewed is the time that the
// kubelet wrote, zero when the Lease carries none; it is compared with our clock only
// to measure how far the node's clock is off, and how old the renewal is. lasts is
// the Lease's duration. A renewal that is delivered late, as after a partition, says
// nothing about the present and changes nothing.
func (c *Cluster) ObserveLease(now time.Time, name string, renewed time.Time, lasts time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[name]
	if n == nil {
		c.leases = now
		return
	}
	if !c.isNews(now, n, renewed) {
		return
	}
	c.leases = now
	n.lease, n.leased, n.leaseLasts, n.doubt = now, now, lasts, doubt{}
	corrected := false
	if !renewed.IsZero() {
		corrected = n.age(now, renewed).Abs() >= time.Second // which may tell a registration from one before a restart
		n.ClockAhead, n.Compared = renewed.Sub(now), now
	}
	c.reg.SetNodeFresh(name, true)
	c.endSilence(now, n)
	if corrected {
		c.evaluateAll(now, n.pods)
	}
}

// isNews reports whether a renewal was written lately. By its time, corrected by
// what the node's clock was off so far, it may look old because it was held back or
// because a clock was set, here or there. While the view has been fresh without a
// break nothing can have been held back for long, so it was the clock. Otherwise a
// clock that was set shows by keeping pace with ours from then on, which renewals
// that are delivered in a bunch do not.
func (c *Cluster) isNews(now time.Time, n *node, renewed time.Time) bool {
	if renewed.IsZero() || n.leased.IsZero() || n.age(now, renewed) <= leaseOld {
		return true
	}
	if c.unbrokenSince(now, n.leased) {
		return true
	}
	last := n.doubt
	waited := now.Sub(last.at)
	if !last.at.IsZero() && waited < paceLeast {
		return false
	}
	n.doubt = doubt{now, renewed}
	return !last.at.IsZero() && (renewed.Sub(last.renewed)-waited).Abs() <= paceMargin
}

// age is how long ago a renewal was written, by what the node's clock was off so far.
func (n *node) age(now, renewed time.Time) time.Duration {
	return now.Sub(n.Moment(now, renewed))
}

// unbrokenSince reports whether the view has been fresh, and this process running,
// from a moment to now.
func (c *Cluster) unbrokenSince(now, since time.Time) bool {
	return c.fresh && !since.Before(c.freshSince) && now.Sub(c.lastTick) <= tickGap
}

// renewsWithin is how long after its Lease last changed a living node may still be
// quiet: it renews after a quarter of the Lease's duration.
func (n *node) renewsWithin() time.Duration {
	lasts := n.leaseLasts
	if lasts <= 0 {
		lasts = usualLease
	}
	return lasts/4 + lateSlack
}

// lastWord is when the node's silence began, as far as we could have heard it: with
// the last change of its Lease, or, if none was ever seen, when the control plane
// was first seen to have given the node up. It is false while there is no silence
// to speak of: a node never seen with a Lease is not silent by that.
func (c *Cluster) lastWord(n *node) (time.Time, bool) {
	at := n.leased
	if at.IsZero() {
		at = n.unknown
	}
	if n.Missing || at.IsZero() {
		return time.Time{}, false
	}
	if c.freshSince.After(at) {
		at = c.freshSince
	}
	return at, true
}

// span returns when the node's Lease last changed, and until when a living kubelet
// would have changed it again, as far as we could have seen that.
func (c *Cluster) span(n *node) (last, next time.Time) {
	word, _ := c.lastWord(n)
	if n.leased.IsZero() {
		return n.unknown, word
	}
	return n.leased, word.Add(n.renewsWithin())
}

// isOverdue reports whether the node has missed a renewal.
func (c *Cluster) isOverdue(now time.Time, n *node) bool {
	at, ok := c.lastWord(n)
	return ok && (n.leased.IsZero() || now.Sub(at) > n.renewsWithin())
}

// noteUnknown notes since when the control plane has not heard the node.
func (n *node) noteUnknown(now time.Time) {
	switch unknown := n.Condition("Ready").Status == evidence.Unknown; {
	case !unknown:
		n.unknown = time.Time{}
	case n.unknown.IsZero():
		n.unknown = now
	}
}
