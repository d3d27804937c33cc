package cluster

import "time"

// Counts are figures of the view that somebody reads now and then: they are counted
// when they are asked for.
type Counts struct {
	// Unbound are the registrations that belong to no pod, by the reason why.
	Unbound map[string]int
	// HeldByFloor are instances that stay in service although something is against
	// them, because too few of their application would be left.
	HeldByFloor int
	// Frozen are the silent nodes of which nothing is concluded, because so many are
	// silent that the network is the likelier cause.
	Frozen int
	// SharedApps are the applications that pods of several namespaces register.
	SharedApps int
	// Age is for how long the watches have not proved that they deliver, zero if they
	// never did.
	Age time.Duration
}

// Counts returns the figures.
func (c *Cluster) Counts(now time.Time) Counts {
	c.mu.RLock()
	defer c.mu.RUnlock()
	out := Counts{Unbound: map[string]int{}, SharedApps: c.sharedApps()}
	for _, in := range c.insts {
		if in.pod == nil {
			out.Unbound[in.unbound]++
		}
		if in.held {
			out.HeldByFloor++
		}
	}
	for _, n := range c.nodes {
		if n.silence.Frozen {
			out.Frozen++
		}
	}
	if last := earlier(c.canary, c.leases); !last.IsZero() {
		out.Age = now.Sub(last)
	}
	return out
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// UnboundReasons are the reasons why a registration may belong to no pod.
func UnboundReasons() []string {
	return []string{
		UnboundNoOwner, UnboundForeign, UnboundOneFact, UnboundSharedID, UnboundPodNotSeen, UnboundObserved, UnboundYounger, UnboundReplicated,
	}
}
