package cluster

import (
	"reflect"
	"slices"
	"time"

	"github.com/kureka/kureka/internal/evidence"
)

// ObserveNode takes in the current state of a node as a watch shows it. A word that
// is older than what was seen already, as lists from the past are, changes nothing
// and is answered true, doubted: a live read, told by NodePresent, can settle it.
func (c *Cluster) ObserveNode(now time.Time, observed evidence.Node) (doubted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.nodes[observed.Name]; n != nil && observed.Version != 0 && observed.Version < n.version {
		return true
	}
	c.observeNode(now, observed)
	return false
}

// NodePresent takes in that a live read, sent at a moment, showed a node. What was
// seen after the read was sent is newer than its answer; but the state of a cluster
// that was restored from a backup may be older than what was seen before.
func (c *Cluster) NodePresent(now, sent time.Time, observed evidence.Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.nodes[observed.Name]; n == nil || n.seen.Before(sent) {
		c.observeNode(now, observed)
	}
}

func (c *Cluster) observeNode(now time.Time, observed evidence.Node) {
	defer c.follow(now)
	n := c.nodeFor(observed.Name)
	n.seen, n.version = now, observed.Version
	observed.Version = 0
	// Measured here, not reported by the node.
	observed.ClockAhead, observed.Compared, observed.Booted = n.ClockAhead, n.Compared, n.Booted
	if n.BootID != "" && observed.BootID != "" && n.BootID != observed.BootID {
		observed.Booted = now
	}
	if reflect.DeepEqual(n.Node, observed) {
		return
	}
	c.forgetAddresses(n)
	if n.Zone != observed.Zone {
		for p := range n.pods {
			c.mark(p)
		}
	}
	moved := !slices.Equal(n.PodCIDRs, observed.PodCIDRs)
	n.Node = observed
	c.knowAddresses(n)
	if moved && c.fresh {
		c.rebindUnbound(now) // whose address is in a range that nobody knew
	}
	n.noteUnknown(now)
	if n.leased.IsZero() && n.unknown.IsZero() {
		c.endSilence(now, n)
	}
	c.evaluateAll(now, n.pods)
}

// NodeGone takes in that a live read, sent at a moment, did not find the node's
// object. A node that was observed since has come back. Where it is and how its clock
// goes stays known: its processes may run on. If it was not Ready its
// taints stay: that somebody vouched for its end is not taken back by removing its
// object.
func (c *Cluster) NodeGone(now, sent time.Time, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[name]
	if n == nil || n.seen.After(sent) {
		return
	}
	c.forgetAddresses(n)
	last := n.Node
	n.Node = evidence.Node{
		Name: name, Missing: true, Zone: last.Zone, BootID: last.BootID, Booted: last.Booted,
		ClockAhead: last.ClockAhead, Compared: last.Compared,
	}
	if last.Condition("Ready").Status != evidence.True {
		n.Taints = last.Taints
	}
	n.unknown = time.Time{}
	c.endSilence(now, n)
	c.reg.SetNodeFresh(name, false)
	c.evaluateAll(now, n.pods)
	c.dropNodeIfUnknown(n)
}

func (c *Cluster) knowAddresses(n *node) {
	for _, a := range n.Addresses {
		c.nodeIPs[a] = n.Name
	}
	c.ranges.add(n)
}

func (c *Cluster) forgetAddresses(n *node) {
	for _, a := range n.Addresses {
		if c.nodeIPs[a] == n.Name {
			delete(c.nodeIPs, a)
		}
	}
	c.ranges.drop(n)
}

// KnownNodes returns the names of the nodes that are believed to exist.
func (c *Cluster) KnownNodes() []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var out []string
	for name, n := range c.nodes {
		if !n.Missing && !n.seen.IsZero() {
			out = append(out, name)
		}
	}
	return out
}

// nodeFor returns the node of a name, made on first mention: pods may be seen
// before their node.
func (c *Cluster) nodeFor(name string) *node {
	n := c.nodes[name]
	if n == nil {
		n = &node{Node: evidence.Node{Name: name}, pods: map[*pod]struct{}{}}
		c.nodes[name] = n
	}
	return n
}

// dropNodeIfUnknown forgets a node without an object once no pod speaks of it.
func (c *Cluster) dropNodeIfUnknown(n *node) {
	if (n.Missing || n.seen.IsZero()) && len(n.pods) == 0 {
		delete(c.nodes, n.Name)
		c.reg.SetNodeFresh(n.Name, false)
	}
}
