package truth

import (
	"flag"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

var (
	seeds = flag.Int("seeds", 0, "how many random histories are played; 0: as many as a quick test has time for")
	quick = flag.Bool("quick", false, "do not shrink a history that fails")
	keep  = flag.String("keep", "", "where to write the scenario of a history that fails, instead of printing it")
	first = flag.Uint64("first-seed", 1, "the seed of the first of them")
)

func TestNobodyWhoLivesIsTakenForDeadInAnyHistory(t *testing.T) {
	n := uint64(*seeds)
	if n == 0 {
		n = quickSeeds
	}
	seed, failure := search(*first, *first+n)
	if failure == "" {
		return
	}
	if *quick {
		t.Fatalf("seed %d: %s", seed, failure)
	}
	p, w := shrink(randomPlan(seed))
	scenario := strings.Join(w.tape.lines, "\n") + "\n"
	if *keep != "" {
		if err := os.WriteFile(*keep, []byte(scenario), 0o600); err != nil {
			t.Error(err)
		}
		scenario = "the scenario is in " + *keep
	}
	t.Fatalf("seed %d: %s\nshrunk: %s\n%s\n%s\n%s", seed, failure, w.failure, p, w.trail, scenario)
}

// search plays histories on all processors until one fails. Of those that fail it
// returns the one with the lowest seed.
func search(from, to uint64) (seed uint64, failure string) {
	var next, worst atomic.Uint64
	next.Store(from)
	worst.Store(to)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for s := next.Add(1) - 1; s < worst.Load(); s = next.Add(1) - 1 {
				w := play(randomPlan(s), false)
				if w.failure == "" {
					continue
				}
				mu.Lock()
				if s < worst.Load() {
					worst.Store(s)
					failure = w.failure
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return worst.Load(), failure
}

// shrink leaves out of a failing plan what it fails without.
func shrink(p *plan) (*plan, *world) {
	best := *p
	w := play(&best, true)
	try := func(change func(*plan)) (smaller bool) {
		next := best
		next.faults, next.loads = append([]fault(nil), best.faults...), append([]workload(nil), best.loads...)
		next.clientless = append([]workload(nil), best.clientless...)
		change(&next)
		if next.isEmpty() {
			return false
		}
		again := play(&next, true)
		if again.kind != w.kind {
			return false
		}
		best, w = next, again
		return true
	}
	for i := range slices.Backward(slices.Clone(best.faults)) {
		try(func(p *plan) { p.faults = append(p.faults[:i:i], p.faults[i+1:]...) })
	}
	try(func(p *plan) { p.outside = 0 })
	try(func(p *plan) { p.relistAge = 0 })
	for try(func(p *plan) { p.zones-- }) {
	}
	for try(func(p *plan) { p.perZone-- }) {
	}
	for i := range best.loads {
		try(func(p *plan) { p.loads[i].keeper = nobody })
	}
	fewer(try, func(p *plan) *[]workload { return &p.clientless }, len(best.clientless), 0)
	fewer(try, func(p *plan) *[]workload { return &p.loads }, len(best.loads), 1)
	return &best, w
}

// isEmpty reports whether there is nothing where something is expected.
func (p *plan) isEmpty() bool {
	none := func(l workload) bool { return l.replicas == 0 }
	return p.zones == 0 || p.perZone == 0 || slices.ContainsFunc(p.loads, none) || slices.ContainsFunc(p.clientless, none)
}

// fewer leaves out those of some workloads, and of their pods, that a plan fails
// without; at least some stay.
func fewer(try func(func(*plan)) bool, of func(*plan) *[]workload, n, least int) {
	for i := n - 1; i >= 0 && n > least; i-- {
		if try(func(p *plan) { *of(p) = slices.Delete(*of(p), i, i+1) }) {
			n--
		}
	}
	for i := range n {
		for try(func(p *plan) { (*of(p))[i].replicas-- }) {
		}
	}
}
