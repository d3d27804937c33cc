package kubelet

import (
	"fmt"
	"net/netip"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// addresses hands out the pod addresses of a node in turn, as real plugins do, so
// that a freed address is not the next one to be given out.
type addresses struct {
	prefix netip.Prefix

	mu    sync.Mutex
	last  netip.Addr
	owner map[netip.Addr]types.UID // the latest one
}

func newAddresses(cidr string) (*addresses, error) {
	prefix, err := netip.ParsePrefix(cidr)
	if err != nil {
		return nil, fmt.Errorf("parsing the pod CIDR: %w", err)
	}
	prefix = prefix.Masked()
	return &addresses{prefix: prefix, last: prefix.Addr().Next(), owner: map[netip.Addr]types.UID{}}, nil
}

// take gives uid the wanted address, or the next free one if wanted is empty. The
// network's own address and the first one, the gateway's, are never given out.
func (a *addresses) take(uid types.UID, wanted string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if wanted != "" {
		addr, err := netip.ParseAddr(wanted)
		if err != nil {
			return "", fmt.Errorf("parsing the wanted address: %w", err)
		}
		a.owner[addr] = uid
		return wanted, nil
	}
	first := a.prefix.Addr().Next().Next()
	for addr := a.last.Next(); addr != a.last; addr = addr.Next() {
		if !a.prefix.Contains(addr) {
			addr = first
		}
		if _, taken := a.owner[addr]; !taken {
			a.last = addr
			a.owner[addr] = uid
			return addr.String(), nil
		}
		if addr == a.last {
			break
		}
	}
	return "", fmt.Errorf("taking an address: all of %s are in use", a.prefix)
}

// taken returns the addresses that are in use.
func (a *addresses) taken() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := make([]string, 0, len(a.owner))
	for addr := range a.owner {
		out = append(out, addr.String())
	}
	return out
}

// release frees an address unless another pod was given it in the meantime.
func (a *addresses) release(uid types.UID, ip string) {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return // host-network pods and pods without an address
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.owner[addr] == uid {
		delete(a.owner, addr)
	}
}
