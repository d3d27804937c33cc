package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Parameters of questions to the registry.
const (
	paramApp   = "app"
	paramLimit = "limit"
)

const (
	// listLimit is how many instances one answer of the registry holds at most.
	listLimit = "10000"
	// outsidePods is how the registry is asked for what is in no namespace.
	outsidePods = "-"
	watchEvery  = 2 * time.Second
	watchLeast  = 500 * time.Millisecond
)

// selection is what the flags of instances ask for.
type selection struct {
	app, status string
	unbound     bool
	form        string
	watch       bool
	every       time.Duration
}

func newInstances(o *options) *cobra.Command {
	var s selection
	cmd := &cobra.Command{
		Use:   "instances",
		Short: "List instances with their status and what decides it",
		Long:  "List instances with their status and what decides it. --namespace=- lists those outside pods.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if s.watch && s.form != "" {
				return errors.New("--watch prints lines of its own: leave --output out")
			}
			a, err := o.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer a.close()
			if s.watch {
				return o.watchInstances(cmd.Context(), a, s)
			}
			return o.listInstances(cmd.Context(), a, s)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&s.app, "app", "", "only this application")
	flags.StringVar(&s.status, "status", "", "only this status: UP, DOWN, STARTING, OUT_OF_SERVICE or UNKNOWN")
	flags.BoolVar(&s.unbound, "unbound", false, "only those that are bound to no pod")
	flags.BoolVarP(&s.watch, "watch", "w", false, "print all of them, and then every change, until interrupted")
	flags.DurationVar(&s.every, "watch-every", watchEvery, "how often --watch asks; at least 500ms")
	addOutput(cmd, &s.form, formatWide, formatJSON)
	return cmd
}

func (o *options) query(s selection) url.Values {
	q := url.Values{paramLimit: {listLimit}}
	for key, value := range map[string]string{paramApp: s.app, "status": s.status, "namespace": o.namespace()} {
		if value != "" {
			q.Set(key, value)
		}
	}
	if s.unbound {
		q.Set("bound", "false")
	}
	return q
}

func (o *options) listInstances(ctx context.Context, a *api, s selection) error {
	var list instances
	if err := a.get(ctx, "/kureka/v1/instances", o.query(s), &list); err != nil {
		return err
	}
	if s.form == formatJSON {
		return printJSON(o.Out, list)
	}
	t := newTable(instanceHead(s.form == formatWide)...)
	for i := range list.Instances {
		t.add(instanceCells(&list.Instances[i], o.clock.now(), s.form == formatWide)...)
	}
	if err := t.print(o.Out); err != nil {
		return err
	}
	if more := list.Matched - len(list.Instances); more > 0 {
		fmt.Fprintf(o.Err, "note: %d more are not shown; ask for less, for example with --app\n", more)
	}
	return nil
}

func instanceHead(wide bool) []any {
	head := []any{"APP", "INSTANCE", "STATUS", "REASON", "NAMESPACE", "NODE", "HEARD"}
	if wide {
		head = append(head, "ADDRESS", "OVERRIDE", "BOUND", "CHANGED")
	}
	return head
}

func instanceCells(i *instance, now time.Time, wide bool) []any {
	heard := ""
	if i.LastRenewal != nil {
		heard = ago(now, *i.LastRenewal)
	}
	cells := []any{i.App, i.ID, i.Status, i.Reason, cmp.Or(i.Namespace, namespaceName("")), i.Node, heard}
	if wide {
		bound := "no"
		if i.Bound {
			bound = "yes"
		}
		cells = append(cells, i.Address, i.Override, bound, ago(now, i.UpdatedAt))
	}
	return cells
}

// watchInstances prints how the selection changes, until it is interrupted. It compares
// lists, so what comes and goes between two of them is not seen. A part of a list would
// show the rest as gone.
func (o *options) watchInstances(ctx context.Context, a *api, s selection) error {
	ticker := time.NewTicker(max(s.every, watchLeast))
	defer ticker.Stop()
	var before map[string]instance
	for {
		var list instances
		switch err := a.get(ctx, "/kureka/v1/instances", o.query(s), &list); {
		case ctx.Err() != nil:
			return errEnough
		case err != nil:
			return err
		case list.Matched > len(list.Instances):
			return fmt.Errorf("watching %d instances, of which the registry lists %d at a time: ask for less, for example with --app", list.Matched, len(list.Instances))
		}
		after := byName(list.Instances)
		for i := range differences(before, after) {
			if _, err := fmt.Fprintln(o.Out, o.clock.now().UTC().Format(time.TimeOnly)+"  "+i); err != nil {
				return err
			}
		}
		before = after
		select {
		case <-ctx.Done():
			return errEnough
		case <-ticker.C:
		}
	}
}

func byName(list []instance) map[string]instance {
	out := make(map[string]instance, len(list))
	for i := range list {
		out[list[i].App+"/"+list[i].ID] = list[i]
	}
	return out
}

// differences yields a line for everything that is new, gone, or has another status
// or reason, ordered by name.
func differences(before, after map[string]instance) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, name := range sortedKeys(before, after) {
			was, existed := before[name]
			is, exists := after[name]
			var text string
			switch {
			case !exists:
				text = was.Status + " > gone"
			case !existed:
				text = is.Status
			case was.Status != is.Status || was.Reason != is.Reason:
				text = was.Status + " > " + is.Status
			default:
				continue
			}
			if exists && is.Reason != "" {
				text += " (" + is.Reason + ")"
			}
			if !yield(strings.Join([]string{name, text}, "  ")) {
				return
			}
		}
	}
}
