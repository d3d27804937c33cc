package registry

import "time"

// nodeState is what the engine knows about a node that carries instances.
type nodeState struct {
	fresh   bool // its Lease keeps arriving
	members map[*entry]struct{}
	scanAt  int64
}

// SetFresh says whether the cluster view is fresh. While it is, leases of pods
// that are Ready get the policy's grace.
func (e *Engine) SetFresh(fresh bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fresh = fresh
}

// SetNodeFresh says whether a node's Lease keeps arriving.
func (e *Engine) SetNodeFresh(node string, fresh bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.nodes[node]
	if s == nil && !fresh {
		return
	}
	if s == nil {
		s = &nodeState{members: map[*entry]struct{}{}}
		e.nodes[node] = s
	}
	s.fresh = fresh
	if !fresh && len(s.members) == 0 {
		delete(e.nodes, node)
	}
}

// SetPodReady says whether the cluster reports a pod Ready. It changes the grace
// of the pod's leases and nothing that is shown.
func (e *Engine) SetPodReady(uid string, ready bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for n := range e.pods[uid] {
		n.binding.PodReady = ready
	}
}

func (e *Engine) joinNode(node string, n *entry) {
	if node == "" || n.kept {
		return
	}
	s := e.nodes[node]
	if s == nil {
		s = &nodeState{members: map[*entry]struct{}{}}
		e.nodes[node] = s
	}
	s.members[n] = struct{}{}
}

func (e *Engine) leaveNode(node string, n *entry) {
	s := e.nodes[node]
	if s == nil {
		return
	}
	delete(s.members, n)
	if len(s.members) == 0 && !s.fresh {
		delete(e.nodes, node)
	}
}

// capacity counts an application's listed instances that are not ending, and
// those of them that are shown UP.
type capacity struct {
	live, up int
	marked   map[*entry]struct{} // shown out of service although their leases are held
}

func (e *Engine) appCount(app string) *capacity {
	c := e.apps[app]
	if c == nil {
		c = &capacity{}
		e.apps[app] = c
	}
	return c
}

func (c *capacity) move(old, next *Instance) {
	c.add(old, -1)
	c.add(next, 1)
}

func (c *capacity) add(i *Instance, n int) {
	if i == nil || i.Verdict.Ending {
		return
	}
	c.live += n
	if i.Status == Up {
		c.up += n
	}
}

// allows reports whether one more UP instance may be taken out: at least one, and
// the given share of the live instances, rounded down, must stay.
func (c *capacity) allows(minInServicePercent int) bool {
	return c.up-1 >= c.floor(minInServicePercent)
}

func (c *capacity) floor(minInServicePercent int) int { return max(1, c.live*minInServicePercent/100) }

// InService returns how many listed instances of an application are shown UP and
// how many are live, that is not ending.
func (e *Engine) InService(app string) (up, live int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c := e.apps[app]; c != nil {
		return c.up, c.live
	}
	return 0, 0
}

// LastSeen returns when the instance's client was last heard, false if there is
// no such record or no client keeps it. Time away does not count: after a restart that
// is as long ago as it was before.
func (e *Engine) LastSeen(key Key) (time.Time, bool) {
	n := e.leased(key)
	if n == nil {
		return time.Time{}, false
	}
	renewed := n.lease.renewed.Load()
	if renewed == n.restored {
		renewed -= n.grace
	}
	return e.epoch.Add(time.Duration(renewed)), true
}
