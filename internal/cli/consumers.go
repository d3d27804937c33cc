package cli

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// usualInterval is how often clients fetch unless they were told otherwise. It is
// assumed where the registry has not measured it.
const usualInterval = 30 * time.Second

// shownDepartures is how many departures are shown.
const shownDepartures = 10

func newConsumers(o *options) *cobra.Command {
	var form string
	cmd := &cobra.Command{
		Use:   "consumers",
		Short: "List who fetches the registry and how far behind each is, and who has learned of what left",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := o.fetching(cmd.Context())
			if err != nil {
				return err
			}
			if form == formatJSON {
				return printJSON(o.Out, f)
			}
			return o.printConsumers(f)
		},
	}
	addOutput(cmd, &form, formatJSON)
	return cmd
}

func (o *options) fetching(ctx context.Context) (*fetching, error) {
	a, err := o.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer a.close()
	f := &fetching{}
	return f, a.get(ctx, "/kureka/v1/consumers", nil, f)
}

func (o *options) printConsumers(f *fetching) error {
	fmt.Fprintf(o.Out, "%s measured, %s not: each of those may stand for many.\n\n", count(f.Known, "consumer is", "consumers are"), count(f.Unknown, "is", "are"))
	now := o.clock.now()
	t := newTable("CONSUMER", "ADDRESS", "AGENT", "EVERY", "LAST FETCH", "CHANGES BEHIND")
	for i := range f.Consumers {
		c := &f.Consumers[i]
		every := "unknown"
		if c.IntervalSeconds > 0 {
			every = fmt.Sprintf("%.0fs", c.IntervalSeconds)
		}
		t.add(cmp.Or(c.Pod, "unknown"), c.Address, c.UserAgent, every, agoOf(now, c.LastFetch), c.VersionsBehind)
	}
	if err := t.print(o.Out); err != nil || len(f.Departures) == 0 {
		return err
	}
	fmt.Fprintln(o.Out, "\nWhat left service lately, and when the last measured consumer had fetched a list without it")
	t = newTable("INSTANCE", "CAUSE", "LEFT", "ALL KNEW AFTER", "MEASURED", "NOT MEASURED")
	for i := range f.Departures[:min(len(f.Departures), shownDepartures)] {
		d := &f.Departures[i]
		took := "not yet"
		if d.KnownAt != nil {
			took = fmt.Sprintf("%.1fs", d.TookSeconds)
		}
		if d.GivenUp {
			took += ", somebody was not waited for"
		}
		t.add(d.App+"/"+d.ID, d.Cause, agoOf(now, d.At)+" ago", took, d.Known, d.Unknown)
	}
	return t.print(o.Out)
}

func agoOf(now time.Time, at *time.Time) string {
	if at == nil {
		return ""
	}
	return ago(now, *at)
}
