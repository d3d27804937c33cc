package cli

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// timers is what the budget of an application is made of. Durations that nobody has
// measured are zero.
type timers struct {
	App       string
	Instances int
	// Namespace is whose policy and drain are told, and Others are the other
	// namespaces that have instances of it.
	Namespace string
	Others    []string
	// Interval and Lease are the slowest of its instances, as their clients asked.
	Interval, Lease time.Duration
	// Grace is added to a lease while its pod is called ready, as that of a silent node
	// is for some time.
	Grace time.Duration
	// Bound says that the cluster is believed: all of them are bound to pods, and the
	// policy acts. Unbound says why it is not.
	Bound   bool
	Unbound string
	// Silence is how long a node must be silent, by the policy, unless that ignores it.
	Silence        time.Duration
	IgnoresSilence bool
	// Reactions are how long it took from the arrival of news about the application's
	// instances until the registry showed what followed.
	Reactions []time.Duration
	// Consumers are all who fetch the registry: each of them may call the application.
	Consumers      []consumer
	Known, Unknown int
	// Cache is the load balancer's, and CacheFrom who says so.
	Cache     time.Duration
	CacheFrom string
	// Drain is how long the end of its pods is delayed, at most if Held, and DrainFrom
	// who says so. Unread is what kept the drain, or the cache, from being read.
	Drain     time.Duration
	Held      bool
	DrainFrom string
	Unread    error
}

// span is how long something takes.
type span struct {
	Best    time.Duration `json:"bestNanoseconds"`
	Typical time.Duration `json:"typicalNanoseconds"`
	Worst   time.Duration `json:"worstNanoseconds"`
}

func (s span) plus(o span) span {
	return span{s.Best + o.Best, s.Typical + o.Typical, s.Worst + o.Worst}
}

// within is a moment that falls anywhere in a period.
func within(period time.Duration) span { return span{0, period / 2, period} }

// part is one timer on the way, and whether its figures are measured or assumed.
type part struct {
	Name string `json:"name"`
	span
	From string `json:"from"`
}

// course is what happens between a cause and the last consumer that knows.
type course struct {
	Title string `json:"title"`
	Parts []part `json:"parts"`
	Total span   `json:"total"`
}

// courses adds the timers up for the three things that happen to pods.
func (t *timers) courses() []course {
	all := []course{
		{Title: "A pod dies", Parts: []part{t.death()}},
		{Title: "A pod starts", Parts: []part{t.start()}},
		{Title: "A pod is drained", Parts: []part{t.ending()}},
	}
	for i := range all {
		c := &all[i]
		c.Parts = append(c.Parts,
			part{"registry's response cache", span{}, "Kureka has none"},
			t.fetch(),
			part{"load balancer's cache", within(t.Cache), t.CacheFrom},
		)
		for _, p := range c.Parts {
			c.Total = c.Total.plus(p.span)
		}
	}
	return all
}

// lateRegistration is how long Netflix's client waits before it registers, where
// nothing makes it register at once. No server sees that.
const lateRegistration = 40 * time.Second

// nodeLease is what a node's Lease lasts as kubelets are built. A node is silent after
// half of it and some slack at the earliest, whatever the policy says.
const (
	nodeLease      = 40 * time.Second
	nodeLeaseSlack = 2 * time.Second
)

// death is from the end of a process to the registry showing it.
func (t *timers) death() part {
	clients := fmt.Sprintf("its clients: lease %s, heartbeat every %s", duration(t.Lease), duration(t.Interval))
	if t.Grace > 0 {
		clients += fmt.Sprintf(", and %s more while its pod is called ready", duration(t.Grace))
	}
	expiry := t.Lease + t.Grace
	if !t.Bound {
		return part{
			"lease runs out",
			span{max(0, t.Lease-t.Interval), max(0, t.Lease-t.Interval/2), expiry},
			clients + "; " + t.Unbound + ". Self-preservation may hold it longer",
		}
	}
	usual, from := t.reaction()
	if t.IgnoresSilence {
		usual.Worst = max(usual.Worst, expiry)
		return part{"registry learns of it", usual, from + "; worst: its node falls silent, which the policy ignores, and its lease runs out. " + clients}
	}
	// The second witness is a heartbeat that does not come.
	silent := max(t.Silence, nodeLease/2+nodeLeaseSlack, t.Interval+lateAfter)
	usual.Worst = max(usual.Worst, silent)
	return part{
		"registry learns of it", usual,
		from + fmt.Sprintf("; worst: its node falls silent, by the policy %s and %s at least, heartbeat every %s", duration(t.Silence), duration(nodeLease/2+nodeLeaseSlack), duration(t.Interval)),
	}
}

// start is from a process that is ready to the registry listing it.
func (t *timers) start() part {
	return part{"client registers", span{0, 0, lateRegistration}, fmt.Sprintf("assumed: at once, as Spring does; worst: %s, as Netflix's client does", duration(lateRegistration))}
}

// ending is from the deletion of a pod to the registry showing it out of service.
func (t *timers) ending() part {
	usual, from := t.reaction()
	if t.Bound {
		return part{"registry takes it out", usual, from}
	}
	return part{"client cancels", span{0, 0, t.Lease}, "assumed: at once; worst: its lease runs out; " + t.Unbound}
}

// reaction is what the registry measured of itself.
func (t *timers) reaction() (span, string) {
	if len(t.Reactions) == 0 {
		return span{}, "assumed: at once, nothing was measured yet"
	}
	sorted := slices.Sorted(slices.Values(t.Reactions))
	return span{sorted[0], sorted[len(sorted)/2], sorted[len(sorted)-1]}, "measured: " + count(len(sorted), "change", "changes") + ", from the news of the API server on"
}

// fetch is the slowest consumer's.
func (t *timers) fetch() part {
	slowest, who, assumed := time.Duration(0), "", t.Unknown > 0 || len(t.Consumers) == 0
	for i := range t.Consumers {
		c := &t.Consumers[i]
		if c.IntervalSeconds == 0 {
			assumed = true
			continue
		}
		if every := time.Duration(c.IntervalSeconds * float64(time.Second)); every > slowest {
			slowest, who = every, cmp.Or(c.Pod, c.Address, "behind a proxy")
		}
	}
	if assumed && slowest < usualInterval {
		return part{"slowest consumer fetches", within(usualInterval), "assumed: not every consumer is known to be one process and measured"}
	}
	return part{"slowest consumer fetches", within(slowest), "measured: " + who}
}

// enough says whether the drain outlasts the worst case, and what follows.
func (t *timers) enough(worst time.Duration) string {
	switch {
	case t.Drain == 0 && t.Unread != nil:
		return fmt.Sprintf("Nobody knows whether its pods have a drain; the worst case is %s.", duration(worst))
	case t.Drain == 0:
		return fmt.Sprintf("Its pods have no drain (%s): who stops serving at SIGTERM fails its callers for up to %s.", t.DrainFrom, duration(worst))
	case t.Held:
		return fmt.Sprintf("The end of its pods is held until every consumer knows, at most %s (%s); the worst case is %s.", duration(t.Drain), t.DrainFrom, duration(worst))
	case t.Drain < worst:
		return fmt.Sprintf("Its pods serve on for %s (%s), which is %s less than the worst case.", duration(t.Drain), t.DrainFrom, duration(worst-t.Drain))
	}
	return fmt.Sprintf("Its pods serve on for %s (%s), which outlasts the worst case of %s.", duration(t.Drain), t.DrainFrom, duration(worst))
}
