package netns

import (
	"fmt"
	"net"
	"syscall"

	"github.com/vishvananda/netlink"
)

// blackHole takes one address out of those that are local: it is routed to the
// loopback device, comes back as somebody else's, and is not forwarded.
func blackHole(addr string) (restore func() error, err error) {
	ip := net.ParseIP(addr).To4()
	if ip == nil {
		return nil, fmt.Errorf("making a black hole: %q is no IPv4 address", addr)
	}
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		return nil, fmt.Errorf("finding the loopback device: %w", err)
	}
	route := &netlink.Route{
		LinkIndex: loopback.Attrs().Index, Table: syscall.RT_TABLE_LOCAL, Scope: netlink.SCOPE_LINK,
		Dst: &net.IPNet{IP: ip, Mask: net.CIDRMask(32, 32)},
	}
	if err := netlink.RouteAdd(route); err != nil {
		return nil, fmt.Errorf("making a black hole of %s: %w", addr, err)
	}
	return func() error {
		if err := netlink.RouteDel(route); err != nil {
			return fmt.Errorf("ending the black hole of %s: %w", addr, err)
		}
		return nil
	}, nil
}
