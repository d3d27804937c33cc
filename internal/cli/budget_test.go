package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCourses_addUp(t *testing.T) {
	t.Parallel()
	const s = time.Second
	measured := []consumer{{Pod: "shop/web", IntervalSeconds: 10}, {Pod: "shop/gateway", IntervalSeconds: 5}}
	tests := map[string]struct {
		timers timers
		want   []span // of a death, a start and a drain
	}{
		"measured and bound": {
			timers{
				Bound: true, Interval: 30 * s, Lease: 90 * s, Silence: 22 * s, Consumers: measured, Known: 2, Cache: 4 * s,
				Reactions: []time.Duration{3 * s, 1 * s, 2 * s},
			},
			[]span{{1 * s, 2*s + 5*s + 2*s, 33*s + 14*s}, {0, 7 * s, 40*s + 14*s}, {1 * s, 9 * s, 3*s + 14*s}},
		},
		"one consumer is not measured": {
			timers{Bound: true, Interval: 30 * s, Silence: 60 * s, Consumers: append([]consumer{{Address: "192.0.2.1"}}, measured...), Cache: 0},
			[]span{{0, 15 * s, 60*s + 30*s}, {0, 15 * s, 70 * s}, {0, 15 * s, 30 * s}},
		},
		"nobody is bound": {
			timers{Interval: 30 * s, Lease: 90 * s, Consumers: measured, Known: 2},
			[]span{{60 * s, 75*s + 5*s, 100 * s}, {0, 5 * s, 50 * s}, {0, 5 * s, 100 * s}},
		},
		"its node's silence is ignored": {
			timers{Bound: true, IgnoresSilence: true, Interval: 30 * s, Lease: 90 * s, Grace: 60 * s, Silence: 20 * s, Consumers: measured, Known: 2},
			[]span{{0, 5 * s, 160 * s}, {0, 5 * s, 50 * s}, {0, 5 * s, 10 * s}},
		},
		"a node's Lease lasts longer than the policy waits": {
			timers{Bound: true, Interval: 5 * s, Lease: 15 * s, Silence: 10 * s, Consumers: measured, Known: 2},
			[]span{{0, 5 * s, 32 * s}, {0, 5 * s, 50 * s}, {0, 5 * s, 10 * s}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []span
			for _, c := range tc.timers.courses() {
				got = append(got, c.Total)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("totals differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFetch_saysWhatIsAssumed(t *testing.T) {
	t.Parallel()
	slow := timers{Unknown: 1, Consumers: []consumer{{Pod: "shop/batch", IntervalSeconds: 120}}}
	if p := slow.fetch(); p.Worst != 2*time.Minute || p.From != "measured: shop/batch" {
		t.Errorf("with a slow consumer beside an unknown one: %v, %s", p.Worst, p.From)
	}
	none := timers{}
	if p := none.fetch(); p.Worst != usualInterval || !strings.HasPrefix(p.From, "assumed") {
		t.Errorf("without consumers: %v, %s", p.Worst, p.From)
	}
}

func TestEnough_comparesTheDrainWithTheWorstCase(t *testing.T) {
	t.Parallel()
	tests := map[string]timers{
		"have no drain (built in)":              {DrainFrom: "built in"},
		"Nobody knows whether its pods":         {Unread: errNotFound},
		"which is 25s less than the worst case": {Drain: 40 * time.Second},
		"outlasts the worst case of 1m5s":       {Drain: 70 * time.Second},
		"is held until every consumer knows":    {Drain: 90 * time.Second, Held: true},
	}
	for want, tc := range tests {
		if got := tc.enough(65 * time.Second); !strings.Contains(got, want) {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}

func TestAddReport_takesWhatThePodWasGiven(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		report, container string
		drain             time.Duration
		held              bool
		from              string
	}{
		"a sleep": {`{"sleepSeconds":70}`, "", 70 * time.Second, false, "measured"},
		"a hold":  {`{"holdSeconds":90}`, "app", 90 * time.Second, true, "measured"},
		"nothing": {"", "", 0, false, "was given none"},
		"skipped": {`{"skipped":"it is a Job"}`, "", 0, false, "was left out: it is a Job"},
		"garbage": {"{", "", 0, false, "cannot be read"},

		"its own hook":          {`{"sleepSeconds":70,"containers":["proxy"],"kept":["app"]}`, "app", 0, false, "the container app of the pod orders-1 keeps its own preStop hook"},
		"another's own hook":    {`{"sleepSeconds":70,"containers":["app"],"kept":["proxy"]}`, "app", 70 * time.Second, false, "measured"},
		"perhaps its own hook":  {`{"holdSeconds":70,"containers":["app"],"kept":["proxy"]}`, "", 0, false, "perhaps the instance's: proxy"},
		"no hook but the drain": {`{"sleepSeconds":70,"containers":["app","proxy"]}`, "", 70 * time.Second, false, "measured"},
	}
	for name, tc := range tests {
		got := timers{}
		got.addReport(tc.report, "orders-1", tc.container)
		if got.Drain != tc.drain || got.Held != tc.held || !strings.Contains(got.DrainFrom, tc.from) {
			t.Errorf("%s: %v, held %t, %q", name, got.Drain, got.Held, got.DrainFrom)
		}
	}
}

func TestBelieve_leavesItToTheLeaseWhereNothingActs(t *testing.T) {
	t.Parallel()
	bound := binding{Pod: &pod{Namespace: "shop", Name: "orders-1"}}
	tests := map[string]struct {
		bound  bool
		sample explanation
		part   string
		worst  time.Duration
		from   string
	}{
		"enforced":         {true, explanation{Binding: bound, Policy: policy{Mode: "Enforce", Unreachable: "OutOfService"}}, "registry learns of it", 33 * time.Second, "its node falls silent, by the policy"},
		"silence ignored":  {true, explanation{Binding: bound, Policy: policy{Mode: "Enforce", Unreachable: "Ignore", ReadyGraceSeconds: 90}}, "registry learns of it", 180 * time.Second, "which the policy ignores"},
		"observed":         {true, explanation{Binding: bound, Policy: policy{Mode: "Observe", ReadyGraceSeconds: 90}}, "lease runs out", 180 * time.Second, "the policy only observes"},
		"not all in pods":  {false, explanation{Binding: bound, Policy: policy{ReadyGraceSeconds: 60}}, "lease runs out", 150 * time.Second, "not all are bound to pods"},
		"none in any pods": {false, explanation{Policy: policy{ReadyGraceSeconds: 60}}, "lease runs out", 90 * time.Second, "not all are bound to pods"},
	}
	for name, tc := range tests {
		got := timers{Bound: tc.bound, Interval: 30 * time.Second, Lease: 90 * time.Second}
		got.believe(&tc.sample)
		if p := got.death(); p.Name != tc.part || p.Worst != tc.worst || !strings.Contains(p.From, tc.from) {
			t.Errorf("%s: %s, %v, %q", name, p.Name, p.Worst, p.From)
		}
	}
}

func TestPrintBudget_namesTheNamespacesItDoesNotTellOf(t *testing.T) {
	t.Parallel()
	all := []instance{{Namespace: "shop"}, {Namespace: "trial"}, {}, {Namespace: "lab"}, {Namespace: "trial"}}
	var out, err strings.Builder
	o := &options{Environment: Environment{Out: &out, Err: &err}}
	if e := o.printBudget(&timers{App: "ORDERS", Namespace: "shop", Others: othersThan("shop", all)}); e != nil {
		t.Fatal(e)
	}
	if want := "those of the namespace shop; ORDERS has instances in lab, trial, too"; !strings.Contains(err.String(), want) {
		t.Errorf("noted %q, want %q", err.String(), want)
	}
}
