package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kureka/kureka/api/v1alpha1"
)

const (
	// builtInCache is drain.loadBalancerCacheSeconds where nobody says otherwise.
	builtInCache = 35 * time.Second
	// shownConsumers is how many consumers are shown.
	shownConsumers = 20
	// drainReport is the annotation that says what drain a pod was given.
	drainReport = "kureka.dev/drain-report"
	// actionIgnore is what the policy says where evidence is to have no effect.
	actionIgnore = "Ignore"
)

func newBudget(o *options) *cobra.Command {
	var form string
	cmd := &cobra.Command{
		Use:   "budget APP",
		Short: "Add up every timer between what happens to a pod and the last consumer that knows",
		Long: `Add up every timer between what happens to a pod and the last consumer that knows:
the heartbeat and the lease, the registry's own reaction, the fetch interval of the
slowest consumer, its load balancer's cache, and how long a drain lasts. Each figure
says whether it was measured, set, or is assumed.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := o.timers(cmd.Context(), strings.ToUpper(args[0]))
			if err != nil {
				return err
			}
			if form == formatJSON {
				return printJSON(o.Out, struct {
					App             string   `json:"app"`
					Namespace       string   `json:"namespace,omitempty"`
					OtherNamespaces []string `json:"otherNamespaces,omitempty"`
					Courses         []course `json:"courses"`
				}{t.App, t.Namespace, t.Others, t.courses()})
			}
			return o.printBudget(t)
		},
	}
	addOutput(cmd, &form, formatJSON)
	return cmd
}

func (o *options) printBudget(t *timers) error {
	unmeasured := ""
	if t.Unknown > 0 {
		unmeasured = fmt.Sprintf(", and %s not, each of which may stand for many", count(t.Unknown, "is", "are"))
	}
	fmt.Fprintf(o.Out, "%s has %s. %s measured%s.\n", t.App, count(t.Instances, "instance", "instances"),
		count(t.Known, "consumer of the registry is", "consumers of the registry are"), unmeasured)
	all := t.courses()
	for _, c := range all {
		fmt.Fprintln(o.Out)
		table := newTable(strings.ToUpper(c.Title), "BEST", "TYPICAL", "WORST", "FROM")
		for _, p := range c.Parts {
			table.add(p.Name, brief(p.Best), brief(p.Typical), brief(p.Worst), p.From)
		}
		table.add("total", brief(c.Total.Best), brief(c.Total.Typical), brief(c.Total.Worst), "")
		if err := table.print(o.Out); err != nil {
			return err
		}
	}
	if t.Unread != nil {
		fmt.Fprintln(o.Err, "note:", t.Unread)
	}
	if t.Namespace != "" && len(t.Others) > 0 {
		fmt.Fprintf(o.Err, "note: policy and drain are those of the namespace %s; %s has instances in %s, too\n", t.Namespace, t.App, strings.Join(t.Others, ", "))
	}
	fmt.Fprintf(o.Out, "\n%s\n\n", t.enough(all[len(all)-1].Total.Worst))
	table := newTable("CONSUMER", "FETCHES EVERY", "LAST FETCH")
	for i := range t.Consumers[:min(len(t.Consumers), shownConsumers)] {
		c := &t.Consumers[i]
		every := "30s, assumed"
		if c.IntervalSeconds > 0 {
			every = brief(time.Duration(c.IntervalSeconds*float64(time.Second))) + ", measured"
		}
		table.add(cmp.Or(c.Pod, c.Address+" "+c.UserAgent), every, agoOf(o.clock.now(), c.LastFetch)+" ago")
	}
	return table.print(o.Out)
}

// brief writes a duration with as many digits as it is worth.
func brief(d time.Duration) string {
	switch {
	case d == 0:
		return "0s"
	case d < 100*time.Microsecond:
		return "<0.1ms"
	case d < time.Second:
		return fmt.Sprintf("%.1fms", float64(d.Microseconds())/1000)
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return duration(d)
}

// timers asks the registry, and the API server for what only that knows.
func (o *options) timers(ctx context.Context, app string) (*timers, error) {
	a, err := o.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer a.close()
	t := &timers{App: app, Bound: true}
	sample, err := t.readInstances(ctx, a)
	if err != nil {
		return nil, err
	}
	var f fetching
	if err := a.get(ctx, "/kureka/v1/consumers", nil, &f); err != nil {
		return nil, err
	}
	t.Consumers, t.Known, t.Unknown = f.Consumers, f.Known, f.Unknown
	var past changes
	if err := a.get(ctx, "/kureka/v1/changes", url.Values{paramApp: {app}, paramLimit: {"1000"}}, &past); err != nil {
		return nil, err
	}
	for i := range past.Changes {
		if c := &past.Changes[i]; slices.Contains([]string{"removed", "taken-out"}, c.Effect) {
			t.Reactions = append(t.Reactions, time.Duration(c.TookMS*float64(time.Millisecond)))
		}
	}
	o.addPolicy(ctx, t, sample)
	return t, nil
}

// readInstances reads how the application's clients keep their leases, and explains
// one of them, bound to a pod if there is one.
func (t *timers) readInstances(ctx context.Context, a *api) (sample explanation, err error) {
	var list instances
	if err := a.get(ctx, "/kureka/v1/instances", url.Values{paramApp: {t.App}, paramLimit: {listLimit}}, &list); err != nil {
		return sample, err
	}
	if list.Matched == 0 {
		return sample, fmt.Errorf("no instance of %s is registered", t.App)
	}
	t.Instances = list.Matched
	chosen := list.Instances[0].ID
	for i := range list.Instances {
		one := &list.Instances[i]
		t.Interval = max(t.Interval, time.Duration(one.RenewalIntervalSeconds)*time.Second)
		t.Lease = max(t.Lease, time.Duration(one.LeaseDurationSeconds)*time.Second)
		t.Bound = t.Bound && one.Bound
		if one.Bound {
			chosen, t.Namespace = one.ID, one.Namespace
		}
	}
	t.Others = othersThan(t.Namespace, list.Instances)
	if err := a.get(ctx, instancePath(t.App, chosen), nil, &sample); err != nil {
		return sample, err
	}
	t.believe(&sample)
	return sample, nil
}

// othersThan returns the other namespaces in which there are instances.
func othersThan(namespace string, all []instance) []string {
	var others []string
	for i := range all {
		if n := all[i].Namespace; n != "" && n != namespace {
			others = append(others, n)
		}
	}
	slices.Sort(others)
	return slices.Compact(others)
}

// believe takes what the policy lets the cluster do. In mode Observe nothing acts, and
// only leases end instances.
func (t *timers) believe(sample *explanation) {
	p := &sample.Policy
	t.Silence, t.IgnoresSilence = time.Duration(p.UnreachableAfterSeconds)*time.Second, p.Unreachable == actionIgnore
	if sample.Binding.Pod != nil {
		t.Grace = time.Duration(p.ReadyGraceSeconds) * time.Second
	}
	switch {
	case !t.Bound:
		t.Unbound = "not all are bound to pods"
	case p.Mode == modeObserve:
		t.Bound, t.Unbound = false, "the policy only observes"
	}
}

// addPolicy adds what the policy and a pod say. Where they cannot be read, that is
// said and what is built in is assumed.
func (o *options) addPolicy(ctx context.Context, t *timers, sample explanation) {
	namespace := ""
	if p := sample.Binding.Pod; p != nil {
		namespace = p.Namespace
	}
	t.Cache, t.CacheFrom = builtInCache, "assumed: Spring's default, which is built in as drain.loadBalancerCacheSeconds"
	t.DrainFrom = "built in"
	said, err := o.readPolicies(ctx, namespace)
	if err != nil {
		t.CacheFrom, t.Unread = "assumed: Spring's default, as no policy can be read", err
		return
	}
	if p, source := said.effective(namespace); p != nil && p.Drain != nil {
		t.addDrain(p.Drain, source)
	}
	if sample.Binding.Pod == nil {
		return
	}
	p, err := o.readPod(ctx, namespace, sample.Binding.Pod.Name)
	if err != nil {
		t.Unread = err
		return
	}
	t.addReport(p.Annotations[drainReport], p.Name, sample.Binding.Pod.Container)
}

func (t *timers) addDrain(d *v1alpha1.Drain, source string) {
	if d.LoadBalancerCacheSeconds != nil {
		t.Cache, t.CacheFrom = time.Duration(*d.LoadBalancerCacheSeconds)*time.Second, "assumed by drain.loadBalancerCacheSeconds of the "+source
	}
	t.DrainFrom = "drain.mode is " + string(d.Mode) + " by the " + source
}

// addReport takes what a pod was really given, if the webhook has seen it. That was
// not given to the instance's container if it keeps a hook of its own. Which one that
// is may be unknown, which is empty: then none may keep one.
func (t *timers) addReport(report, pod, container string) {
	var given struct {
		Skipped string   `json:"skipped"`
		Sleep   int      `json:"sleepSeconds"`
		Hold    int      `json:"holdSeconds"`
		Kept    []string `json:"kept"`
	}
	switch err := json.Unmarshal([]byte(report), &given); {
	case report == "":
		t.DrainFrom += ", and the pod " + pod + " was given none"
	case err != nil:
		t.DrainFrom = "the drain-report of the pod " + pod + " cannot be read"
	case given.Skipped != "":
		t.DrainFrom = "the pod " + pod + " was left out: " + given.Skipped
	case container != "" && slices.Contains(given.Kept, container):
		t.DrainFrom = "the container " + container + " of the pod " + pod + " keeps its own preStop hook"
	case container == "" && len(given.Kept) > 0:
		t.DrainFrom = "containers of the pod " + pod + " keep their own preStop hook, and perhaps the instance's: " + strings.Join(given.Kept, ", ")
	default:
		t.Drain, t.Held = time.Duration(given.Sleep+given.Hold)*time.Second, given.Hold > 0
		t.DrainFrom = "measured: the drain-report of the pod " + pod
	}
}
