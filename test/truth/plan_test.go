package truth

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// plan is everything about a history that is chosen: what there is, and what
// happens to it. All else follows from it.
type plan struct {
	seed           uint64
	zones, perZone int
	podRanges      bool // nodes have ranges of pod addresses of their own
	unprotected    bool // self-preservation is off
	probing        bool // nodes that fall silent are probed
	refusing       bool // pods refuse connections from outside
	lag, relistAge time.Duration
	loads          []workload
	clientless     []workload // those whose pods have no client
	outside        int
	faults         []fault
	end            time.Duration
	strict         time.Duration // from then on nothing excuses that somebody who lives is not UP; 0: never
}

func (f fault) String() string {
	whom := ""
	if f.clientless {
		whom = " of those without a client"
	}
	return fmt.Sprintf("%s%s at %s for %s, target %d, amount %d", f.kind, whom, f.at, f.lasts, f.target, f.amount)
}

// randomPlan makes the plan of a seed.
func randomPlan(seed uint64) *plan {
	d := newDice(seed, "plan")
	shape := pick(d, [][2]int{{1, 1}, {1, 2}, {1, 3}, {2, 3}, {2, 3}, {3, 3}, {1, 5}})
	p := &plan{
		seed: seed, zones: shape[0], perZone: shape[1], podRanges: d.chance(60), unprotected: d.chance(15),
		lag: d.between(5*time.Millisecond, 200*time.Millisecond), end: 7 * time.Minute,
	}
	if d.chance(50) {
		p.relistAge = d.between(0, 90*time.Second)
	}
	if d.chance(30) {
		p.outside = 1 + d.IntN(3)
	}
	for i := range 1 + d.IntN(4) {
		p.loads = append(p.loads, randomLoad(d, i))
	}
	if d.chance(20) { // many clients in one namespace, so that shares mean something
		load := randomLoad(d, 9)
		load.replicas, load.hostNetwork, load.stateful = 20, false, false
		p.loads = append(p.loads, load)
	}
	for i := range p.loads { // by dice of their own, which leave the other histories what they were
		p.loads[i].timeless = newDice(seed, "timeless "+p.loads[i].app).chance(25)
		p.loads[i].fast = newDice(seed, "fast "+p.loads[i].app).chance(25)
	}
	kinds := slices.Sorted(maps.Keys(faults))
	if d.chance(50) { // a few kinds that may meet
		kinds = []string{pick(d, kinds), pick(d, kinds), pick(d, kinds)}
	}
	for range 1 + d.IntN(12) {
		p.faults = append(p.faults, randomFault(d, pick(d, kinds)))
	}
	p.coincide()
	p.keepSome()
	p.withProber()
	slices.SortStableFunc(p.faults, func(a, b fault) int { return int(a.at - b.at) })
	return p
}

// coincide adds a coincidence to some histories, by dice of its own: with more of
// them the other histories stay what they were.
func (p *plan) coincide() {
	d := newDice(p.seed, "coincidence")
	if d.chance(75) {
		return
	}
	f := randomFault(d, pick(d, slices.Sorted(maps.Keys(coincidences))))
	f.at = min(f.at, 2*time.Minute)
	if world := needed[f.kind]; world != nil {
		world(p, f)
	}
	if d.chance(50) { // and hardly anything else
		p.faults = p.faults[:min(len(p.faults), 1)]
	}
	p.faults = append(p.faults, f)
}

func randomLoad(d dice, i int) workload {
	load := workload{
		ns: pick(d, []string{"x", "y"}), app: fmt.Sprintf("APP%d", i), port: 8000 + i, replicas: 1 + d.IntN(5),
		stateful: d.chance(30), hostNetwork: d.chance(20), named: d.chance(60), proxied: d.chance(25), declares: d.chance(80),
		graceful: d.chance(50), refreshes: d.chance(30), waits: d.chance(50), interval: pick(d, []time.Duration{10 * time.Second, 30 * time.Second, 30 * time.Second}),
	}
	if load.stateful {
		load.named, load.proxied, load.hostNetwork = true, false, false
	}
	if load.hostNetwork {
		load.declares = true
	} else {
		load.port = 8080
	}
	return load
}

// String tells what the history is about.
func (p *plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d zones of %d nodes, pod ranges %v, self-preservation %v, prober %v, lag %s, lists %s old, %d outside\n",
		p.zones, p.perZone, p.podRanges, !p.unprotected, p.probing, p.lag, p.relistAge, p.outside)
	for _, l := range slices.Concat(p.loads, p.clientless) {
		fmt.Fprintf(&b, "%+v\n", l)
	}
	for _, f := range p.faults {
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}

func randomFault(d dice, kind string) fault {
	return fault{
		at: d.between(40*time.Second, 300*time.Second), lasts: d.between(5*time.Second, pick(d, []time.Duration{30 * time.Second, 90 * time.Second, 4 * time.Minute})),
		kind: kind, target: d.IntN(60), amount: d.IntN(120),
	}
}
