package registry

import (
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// FenceRetention is how long a fence stays after the last request it stopped.
	FenceRetention = 10 * time.Minute

	maxFenced = 16_384
)

// fence keeps the proven dead out. A process may outlive its pod object, and
// what it sends must not bring its instance back; but addresses and ids are used
// again by the living, so each is freed as soon as somebody alive has it.
type fence struct {
	n      atomic.Int64 // number of fenced pods, for the heartbeat's fast path
	mu     sync.RWMutex
	byUID  map[string]*fenced
	byAddr map[netip.AddrPort]*fenced
	byKey  map[Key]*fenced
}

type fenced struct {
	uid   string
	addrs []netip.AddrPort
	keys  []Key
	since int64        // mono
	until atomic.Int64 // mono
}

func (f *fence) init() {
	f.byUID = map[string]*fenced{}
	f.byAddr = map[netip.AddrPort]*fenced{}
	f.byKey = map[Key]*fenced{}
}

func (f *fence) active() bool { return f.n.Load() != 0 }

func (f *fence) add(t int64, p Proof, keys []Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if old := f.byUID[p.UID]; old != nil {
		for _, k := range old.keys { // proven again: keep what nobody has taken since
			if f.byKey[k] == old {
				keys = append(keys, k)
			}
		}
		f.drop(old)
	}
	if len(f.byUID) >= maxFenced {
		f.dropOldest()
	}
	x := &fenced{uid: p.UID, addrs: p.Addrs, keys: keys, since: t}
	x.until.Store(t + int64(FenceRetention))
	f.byUID[p.UID] = x
	for _, a := range p.Addrs {
		f.byAddr[a] = x
	}
	for _, k := range keys {
		f.byKey[k] = x
	}
	f.n.Store(int64(len(f.byUID)))
}

func (f *fence) drop(x *fenced) {
	delete(f.byUID, x.uid)
	for _, a := range x.addrs {
		if f.byAddr[a] == x {
			delete(f.byAddr, a)
		}
	}
	for _, k := range x.keys {
		if f.byKey[k] == x {
			delete(f.byKey, k)
		}
	}
	f.n.Store(int64(len(f.byUID)))
}

func (f *fence) dropOldest() {
	var oldest *fenced
	for _, x := range f.byUID {
		if oldest == nil || x.until.Load() < oldest.until.Load() {
			oldest = x
		}
	}
	f.drop(oldest)
}

// sweep forgets the dead that nobody has tried to speak for lately.
func (f *fence) sweep(t int64) {
	if !f.active() {
		return
	}
	f.mu.RLock()
	var over []*fenced
	for _, x := range f.byUID {
		if t > x.until.Load() {
			over = append(over, x)
		}
	}
	f.mu.RUnlock()
	if len(over) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range over {
		if t > x.until.Load() && f.byUID[x.uid] == x {
			f.drop(x)
		}
	}
}

// hit reports whether x stops the request, and if so keeps it for longer.
func (x *fenced) hit(t int64) bool {
	if x == nil {
		return false
	}
	x.until.Store(t + int64(FenceRetention))
	return true
}

// blocksRegistration stops a registration for a fenced address.
func (f *fence) blocksRegistration(t int64, r *Record) bool {
	if !f.active() {
		return false
	}
	addr, err := netip.ParseAddr(r.IPAddr)
	if err != nil {
		return false
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, port := range append(r.Ports(), 0) {
		if f.byAddr[netip.AddrPortFrom(addr.Unmap(), uint16(port))].hit(t) {
			return true
		}
	}
	return false
}

// blocksSource stops whatever comes from a fenced address.
func (f *fence) blocksSource(t int64, c Caller) bool {
	if !c.Addr.IsValid() {
		return false
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.byAddr[netip.AddrPortFrom(c.Addr, 0)].hit(t)
}

// blocksOrphan stops a heartbeat for a fenced instance from a source that is no
// pod: behind a proxy the dead cannot be told from the living by address.
func (f *fence) blocksOrphan(t int64, c Caller, key Key) bool {
	if c.PodUID != "" {
		return false
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.byKey[key].hit(t)
}

// blocks stops a cancel or a status change, also when a successor has the id.
func (f *fence) blocks(t int64, c Caller, key Key) bool {
	return f.active() && (f.blocksSource(t, c) || f.blocksOrphan(t, c, key))
}

func (f *fence) freeKey(key Key) {
	if !f.active() {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.byKey, key)
}

// FreeAddr lifts the fence from an address that a living pod owns now; port 0
// for all but host-network pods. Those requests come from the node's address, so
// the ids are all that the dead were told by, and are freed with the address. So are
// ids that name the address, which its next owner gives itself: behind a proxy its
// heartbeats cannot be told from those of the dead, and its registration may have been
// stopped before it was known to own the address.
func (e *Engine) FreeAddr(a netip.AddrPort) {
	if !e.fence.active() {
		return
	}
	f := &e.fence
	f.mu.Lock()
	defer f.mu.Unlock()
	x := f.byAddr[a]
	delete(f.byAddr, a)
	if x != nil {
		e.revision.Add(1)
	}
	if x == nil {
		return
	}
	for _, k := range x.keys {
		if f.byKey[k] == x && (a.Port() != 0 || strings.Contains(k.ID, a.Addr().String())) {
			delete(f.byKey, k)
		}
	}
}

// FreeUID lifts the fence from a pod that a live read showed to be present after
// all.
func (e *Engine) FreeUID(uid string) {
	e.fence.mu.Lock()
	defer e.fence.mu.Unlock()
	if x := e.fence.byUID[uid]; x != nil {
		e.fence.drop(x)
		e.revision.Add(1)
	}
}

// FencedID reports whether an id is one of a pod that was proven dead, and nobody's
// since.
func (e *Engine) FencedID(key Key) bool {
	if !e.fence.active() {
		return false
	}
	e.fence.mu.RLock()
	defer e.fence.mu.RUnlock()
	return e.fence.byKey[key] != nil
}

// FencedSince returns when the pod was proven dead, false if it is not fenced.
func (e *Engine) FencedSince(uid string) (time.Time, bool) {
	if !e.fence.active() {
		return time.Time{}, false
	}
	e.fence.mu.RLock()
	defer e.fence.mu.RUnlock()
	x := e.fence.byUID[uid]
	if x == nil {
		return time.Time{}, false
	}
	return e.epoch.Add(time.Duration(x.since)), true
}
