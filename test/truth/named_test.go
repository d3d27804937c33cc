package truth

import (
	"fmt"
	"testing"
	"time"
)

// calm is a cluster of two zones in which all is well.
func calm() *plan {
	p := &plan{seed: 1, zones: 2, perZone: 3, podRanges: true, lag: 20 * time.Millisecond, strict: 40 * time.Second, end: 6 * time.Minute}
	for i := range 3 {
		p.loads = append(p.loads, workload{
			ns: []string{"x", "y"}[i%2], app: fmt.Sprintf("APP%d", i), port: 8000 + i, replicas: 4, named: true, declares: true,
			waits: i != 1, interval: 30 * time.Second,
		})
	}
	return p
}

// Whatever happens here, nobody who lives is ever out or gone. At the end everybody
// who should be there is.
func TestNoHealthyInstanceIsTakenOut(t *testing.T) {
	t.Parallel()
	const minute = time.Minute
	tests := map[string]func(*plan){
		"the watch is cut for 5 minutes and resumes": happens(fault{kind: "watch cut", lasts: 5 * minute}),
		"the watch is cut for 5 minutes and lists":   happens(fault{kind: "watch cut", lasts: 5 * minute, amount: 1}),
		"the API server is down for 20 minutes":      happens(fault{kind: "API server down", lasts: 20 * minute, amount: 1}),
		"all nodes are Unknown":                      happens(fault{kind: "all kubelets", lasts: 5 * minute}),
		"all nodes of a zone are Unknown":            happens(fault{kind: "zone kubelets", lasts: 100 * time.Second}),
		"a list is from the past": func(p *plan) {
			p.strict, p.relistAge = 100*time.Second, 80*time.Second
			p.faults = []fault{
				{kind: "crash", at: 50 * time.Second},
				{kind: "planned notice", at: 50 * time.Second, lasts: 30 * time.Second},
				{kind: "relist", at: 2 * minute},
			}
		},
		"the clock is an hour ahead":         happens(fault{kind: "clock step"}),
		"the clock is an hour behind":        happens(fault{kind: "clock step", amount: 1}),
		"the clock is ahead and right again": happens(fault{kind: "clock step"}, fault{kind: "clock step", at: 3 * minute, amount: 1}),
		"the process is paused for 60 s":     happens(fault{kind: "pause", lasts: minute}),
		"clients back off after an outage":   happens(fault{kind: "clients cut", lasts: 5 * minute}),
		"clients back off after a short one": happens(fault{kind: "clients cut", lasts: 40 * time.Second}),
		"readiness flaps": happens(fault{kind: "flap", lasts: 2 * minute},
			fault{kind: "flap", lasts: 2 * minute, target: 1}, fault{kind: "flap", lasts: 2 * minute, target: 2}),
		"nodes are cordoned":                        happens(fault{kind: "cordon", lasts: 3 * minute}),
		"a kubelet is cut off and its pods are not": happens(fault{kind: "kubelet cut", lasts: 100 * time.Second}),
		"the registry is away for 4 minutes":        happens(fault{kind: "restart", lasts: 4 * minute}),
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := calm()
			change(p)
			for _, f := range p.faults {
				p.end = max(p.end, f.at+f.lasts+6*minute)
			}
			w := play(p, false)
			if w.failure != "" {
				t.Fatal(w.failure)
			}
			if up := w.upOf(""); up != 12 {
				t.Errorf("%d of 12 are UP in the end", up)
			}
		})
	}
}

// happens is a calm cluster and then something, after a minute and a half.
func happens(faults ...fault) func(*plan) {
	return func(p *plan) {
		for _, f := range faults {
			if f.at == 0 {
				f.at = 90 * time.Second
			}
			p.faults = append(p.faults, f)
		}
	}
}

func TestWhenFortyPercentDieThoseGoAndTheRestStays(t *testing.T) {
	p := calm()
	happens(fault{kind: "massacre"})(p)
	p.end = 92 * time.Second
	w := play(p, false)
	if w.failure != "" {
		t.Fatal(w.failure)
	}
	dead, listed := 0, 0
	for _, c := range w.clients {
		if !c.proc.alive {
			dead++
		}
	}
	for i := range w.op.cluster.Snapshot().All() {
		listed++
		if c := w.speaker(i); !c.proc.alive {
			t.Errorf("%s of %s is dead and listed as %s", i.Key(), c.proc.id, i.Status)
		}
	}
	if dead < 4 || listed != 12-dead {
		t.Errorf("%d of 12 are dead, %d are listed", dead, listed)
	}
}

// What came while the process was paused and its clock was set is told by nodes, whose
// clocks were compared with it before.
func TestAStepOfTheClockInAPauseMakesNoContainerHeard(t *testing.T) {
	p := calm()
	p.strict = 0
	p.faults = []fault{
		{kind: "pause", at: 46500 * time.Millisecond, lasts: 230 * time.Second},
		{kind: "power lost", at: 103 * time.Second, lasts: 10 * time.Second, target: 1},
		{kind: "clock step", at: 206 * time.Second},
	}
	if w := play(p, false); w.failure != "" {
		t.Error(w.failure)
	}
}

// upOf counts the instances of an application that are UP, of all if it is empty.
func (w *world) upOf(app string) int {
	n := 0
	for i := range w.op.cluster.Snapshot().All() {
		if (app == "" || i.App == app) && i.Status.String() == "UP" {
			n++
		}
	}
	return n
}
