package cluster

import (
	"reflect"
	"time"

	"github.com/kureka/kureka/internal/evidence"
)

// ObserveNode takes in the current state of a node.
func (c *Cluster) ObserveNode(now time.Time, seen evidence.Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodeFor(seen.Name)
	seen.ClockAhead = n.ClockAhead // measured here, not reported by the node
	if reflect.DeepEqual(n.Node, seen) {
		return
	}
	for _, a := range n.Addresses {
		if c.nodeIPs[a] == n.Name {
			delete(c.nodeIPs, a)
		}
	}
	for _, a := range seen.Addresses {
		c.nodeIPs[a] = seen.Name
	}
	n.Node, n.seen = seen, true
	c.evaluateNode(now, n)
}

// NodeGone takes in that a node's object is gone, confirmed by a live read.
func (c *Cluster) NodeGone(now time.Time, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[name]
	if n == nil {
		return
	}
	for _, a := range n.Addresses {
		if c.nodeIPs[a] == name {
			delete(c.nodeIPs, a)
		}
	}
	n.Node = evidence.Node{Name: name, Missing: true}
	c.reg.SetNodeFresh(name, false)
	c.evaluateNode(now, n)
	c.dropNodeIfUnknown(n)
}

// KnownNodes returns the names of the nodes that are believed to exist.
func (c *Cluster) KnownNodes() []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var out []string
	for name, n := range c.nodes {
		if !n.Missing && n.reported() {
			out = append(out, name)
		}
	}
	return out
}

// reported says that the node's object was ever seen, and not only its name.
func (n *node) reported() bool { return n.seen }

func (c *Cluster) evaluateNode(now time.Time, n *node) {
	for p := range n.pods {
		c.evaluate(now, p)
	}
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
	if (n.Missing || !n.reported()) && len(n.pods) == 0 {
		delete(c.nodes, n.Name)
	}
}

// ObserveLease takes in a change of a node's Lease. renewed is the time that the
// kubelet wrote, zero when the Lease carries none; it is compared with our clock
// only to measure how far the node's clock is off.
func (c *Cluster) ObserveLease(now time.Time, name string, renewed time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodeFor(name)
	n.lease, c.leases = now, now
	if !renewed.IsZero() {
		n.ClockAhead = renewed.Sub(now)
	}
	c.reg.SetNodeFresh(name, true)
}
