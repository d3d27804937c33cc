package cluster

import "net/netip"

// ranges is the set of the nodes' pod address ranges, asked by address in time
// that depends on the number of different lengths only.
type ranges struct {
	count map[netip.Prefix]int
	bits  map[int]int
}

func newRanges() ranges { return ranges{map[netip.Prefix]int{}, map[int]int{}} }

func (r ranges) add(prefixes []netip.Prefix, n int) {
	for _, p := range prefixes {
		if r.count[p] += n; r.count[p] == 0 {
			delete(r.count, p)
		}
		if r.bits[p.Bits()] += n; r.bits[p.Bits()] == 0 {
			delete(r.bits, p.Bits())
		}
	}
}

func (r ranges) contain(a netip.Addr) bool {
	for bits := range r.bits {
		if p, err := a.Prefix(bits); err == nil && r.count[p] > 0 {
			return true
		}
	}
	return false
}

// unowned reports whether an address is a pod's that no pod owns: a pod that the
// watch has not shown yet, or the process of one that is gone. That is known only
// in a fresh view of all pods.
func (c *Cluster) unowned(a netip.Addr) bool {
	if !a.IsValid() || c.fallback.Observe || !c.fresh || !c.opts.AllNamespaces || c.owners[netip.AddrPortFrom(a, 0)] != nil {
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
