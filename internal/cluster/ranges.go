package cluster

import (
	"iter"
	"net/netip"
	"time"
)

// ranges is the set of the nodes' pod address ranges, asked by address in time
// that depends on the number of different lengths only.
type ranges struct {
	nodes map[netip.Prefix]map[*node]struct{}
	bits  map[int]map[netip.Prefix]struct{} // the prefixes of each length
}

func newRanges() ranges {
	return ranges{map[netip.Prefix]map[*node]struct{}{}, map[int]map[netip.Prefix]struct{}{}}
}

func (r ranges) add(n *node) {
	for _, p := range n.PodCIDRs {
		add(r.nodes, p, n)
		add(r.bits, p.Bits(), p)
	}
}

func (r ranges) drop(n *node) {
	for _, p := range n.PodCIDRs {
		if drop(r.nodes, p, n); len(r.nodes[p]) == 0 {
			drop(r.bits, p.Bits(), p)
		}
	}
}

// around returns the nodes in whose range the address is, usually one.
func (r ranges) around(a netip.Addr) iter.Seq[*node] {
	return func(yield func(*node) bool) {
		for bits := range r.bits {
			p, err := a.Prefix(bits)
			if err != nil {
				continue
			}
			for n := range r.nodes[p] {
				if !yield(n) {
					return
				}
			}
		}
	}
}

func (r ranges) contain(a netip.Addr) bool {
	for range r.around(a) {
		return true
	}
	return false
}

// noteWord takes in that a request came from an address. One in a node's pod range
// comes from that node whoever sent it: a pod that is not seen yet, or the node
// itself by its bridge or tunnel.
func (c *Cluster) noteWord(now time.Time, src netip.Addr) {
	for n := range c.ranges.around(src) {
		n.word = now
	}
}

// unowned reports whether an address is a pod's that no pod owns, or only one that has
// ended: a pod that the watch has not shown yet, or the process of one that is gone.
// That is known only in a fresh view of all pods.
func (c *Cluster) unowned(a netip.Addr) bool {
	if !a.IsValid() || c.fallback.Observe || !c.fresh || !c.opts.AllNamespaces {
		return false
	}
	if owner := c.owners[netip.AddrPortFrom(a, 0)]; owner != nil && owner.rank() < ended {
		return false
	}
	_, isNode := c.nodeIPs[a]
	return !isNode && c.ranges.contain(a)
}

// isGhost judges a registration by the address it names, and by its source only
// if it names none: bridges and tunnels have addresses in the pod ranges too, and
// carry the requests of nodes and of clients outside the cluster.
func (c *Cluster) isGhost(in *instance) bool {
	if in.ip.IsValid() {
		return c.unowned(in.ip)
	}
	return c.unowned(in.source)
}
