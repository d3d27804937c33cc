package truth

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/kureka/kureka/internal/registry"
)

// world is everything there is in one history.
type world struct {
	sim
	plan  *plan
	api   apiServer
	nodes map[string]*node
	order []*node
	loads []*workload
	// Those whose processes have no client.
	clientless []*workload
	kept       []*workload // those whose pods somebody registers
	pods       []*pod      // ever made
	clients    map[string]*client
	manager    *manager
	op         *operator
	clock      clock
	free       []netip.Addr // where nodes have no ranges of their own
	serial     map[bool]int // of pods; those without a client have numbers of their own
	named      map[bool]int

	cutWatch, cutClients int // reasons why
	expired              bool
	listAge              time.Duration // of the next list, where the plan's lists are younger
	stepped              bool          // the operator's wall clock was, at any time
	listsFrom            time.Time
	troubles             []trouble
	fetchers             []*fetcher
	tape                 *tape
	failure, kind, trail string
}

// trouble is a time in which nobody could reach the operator, or it could do
// nothing.
type trouble struct {
	from, to time.Duration
	pause    bool
}

// play runs a history and returns what went wrong, nothing if nothing did.
func play(p *plan, record bool) *world {
	w := &world{plan: p, nodes: map[string]*node{}, clients: map[string]*client{}, clock: newClock(), tape: &tape{on: record}, serial: map[bool]int{}, named: map[bool]int{}}
	w.api.w = w
	w.tape.w = w
	w.manager = &manager{
		w: w, seen: map[string]time.Duration{}, unknown: map[string]time.Duration{}, orphaned: map[string]time.Duration{},
		dice: newDice(p.seed, "manager"),
	}
	w.addNodes()
	w.op = w.newOperator()
	w.op.start(0)
	w.manager.start()
	for i := range p.loads {
		load := p.loads[i]
		w.loads = append(w.loads, &load)
	}
	w.addKept()
	for i := range p.outside {
		w.addOutside(i)
	}
	w.fetchers = []*fetcher{newFetcher(w, 0), newFetcher(w, 1)}
	for _, f := range p.faults {
		w.after(f.at, func() { f.happens(w) })
	}
	for w.failure == "" && w.now < p.end {
		w.runUntil(min(p.end, w.now+time.Second))
	}
	return w
}

func (w *world) addNodes() {
	for z := range w.plan.zones {
		for i := range w.plan.perZone {
			k := len(w.order)
			n := &node{
				w: w, name: fmt.Sprintf("n%d", k), zone: fmt.Sprintf("z%d", z), ip: netip.AddrFrom4([4]byte{192, 168, 0, byte(k + 1)}),
				cidr: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 1, byte(k), 0}), 24), dice: newDice(w.plan.seed, fmt.Sprintf("node %d", k)),
			}
			n.doubted, n.lost = -1, -1
			n.clock = time.Duration(n.dice.IntN(41)-20) * time.Second / 10
			for a := 40; a > 1; a-- {
				n.free = append(n.free, netip.AddrFrom4([4]byte{10, 1, byte(k), byte(a)}))
			}
			w.nodes[n.name] = n
			w.order = append(w.order, n)
			n.start(n.dice.between(0, leaseEvery) + time.Duration(i)*time.Millisecond)
		}
	}
	for a := 200; a > 1; a-- {
		w.free = append(w.free, netip.AddrFrom4([4]byte{10, 2, 0, byte(a)}))
	}
}

func (w *world) addOutside(i int) {
	load := &workload{app: "VM", port: 9999, interval: 30 * time.Second, proxied: i%2 == 1}
	ip := netip.AddrFrom4([4]byte{203, 0, 113, byte(i + 1)})
	if i%2 == 1 && !w.plan.podRanges {
		ip = netip.AddrFrom4([4]byte{10, 2, 0, byte(i + 2)}) // another network uses the same addresses
	}
	newOutside(w, load, i, ip)
}

// fail ends the history.
func (w *world) fail(format string, args ...any) {
	if w.failure == "" {
		w.kind = format
		if w.tape.on {
			w.trail = w.op.changes(12)
		}
		w.failure = fmt.Sprintf("at %s: ", w.now) + fmt.Sprintf(format, args...)
	}
}

// wants ends the history because an instance is not as it should be: a status with
// or without its reason, gone, or bound to a pod.
func (w *world) wants(key registry.Key, expected, format string, args ...any) {
	if w.failure == "" {
		w.tape.line(w.now, "expect %s %s", key, expected)
	}
	w.fail("%s "+format, append([]any{key}, args...)...)
}

// speaker is the client whose registration is listed.
func (w *world) speaker(i *registry.Instance) *client {
	for _, m := range i.Metadata {
		if m.Key == "process" {
			return w.clients[m.Value]
		}
	}
	return nil
}

// living is the clients whose process does its work, by process.
func (w *world) living() []*client {
	out := make([]*client, 0, len(w.clients))
	for _, c := range w.clients {
		if c.proc.works() && !c.done {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b *client) int { return cmpStrings(a.proc.id, b.proc.id) })
	return out
}

func cmpStrings(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
