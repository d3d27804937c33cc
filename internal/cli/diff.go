package cli

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func newDiff(o *options) *cobra.Command {
	var app string
	var metadata bool
	cmd := &cobra.Command{
		Use:   "diff URL",
		Short: "Compare what this registry lists with another Eureka server",
		Long: `Compare what this registry lists with another Eureka server: instances that only one
of them has, and those whose status, address, ports or metadata differ. URL is the base
URL that clients are given, such as http://eureka:8761/eureka; it may have a user and
password in it. The exit code is 1 if there are differences.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.diff(cmd.Context(), args[0], strings.ToUpper(app), metadata)
		},
	}
	cmd.Flags().StringVar(&app, "app", "", "only this application")
	cmd.Flags().BoolVar(&metadata, "metadata", true, "compare metadata, too")
	return cmd
}

func (o *options) diff(ctx context.Context, address, app string, metadata bool) error {
	here, err := o.connect(ctx)
	if err != nil {
		return err
	}
	defer here.close()
	there, err := o.other(address)
	if err != nil {
		return err
	}
	ours, err := here.records(ctx, app)
	if err != nil {
		return err
	}
	theirs, err := there.list(ctx)
	if err != nil {
		return err
	}
	maps.DeleteFunc(theirs, func(name string, _ record) bool { return app != "" && !strings.HasPrefix(name, app+"/") })
	differences := compare(ours, theirs, metadata)
	if len(differences) == 0 {
		_, err := fmt.Fprintf(o.Out, "Both list the same %s.\n", count(len(ours), "instance", "instances"))
		return err
	}
	t := newTable("INSTANCE", "WHAT", "HERE", "THERE")
	for _, d := range differences {
		t.add(d.name, d.what, d.here, d.there)
	}
	if err := t.print(o.Out); err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "\n%s; %d instances here, %d there.\n", count(len(differences), "difference", "differences"), len(ours), len(theirs))
	return errFound
}

// records reads the instances of an application, or all if it is empty. A part of them
// would make differences of the rest.
func (a *api) records(ctx context.Context, app string) (map[string]record, error) {
	q := url.Values{paramLimit: {listLimit}}
	if app != "" {
		q.Set(paramApp, app)
	}
	var list instances
	if err := a.get(ctx, "/kureka/v1/instances", q, &list); err != nil {
		return nil, err
	}
	if list.Matched > len(list.Instances) {
		return nil, fmt.Errorf("comparing %d instances, of which the registry lists %d at a time: compare one application after the other with --app", list.Matched, len(list.Instances))
	}
	out := make(map[string]record, len(list.Instances))
	for i := range list.Instances {
		out[list.Instances[i].App+"/"+list.Instances[i].ID] = list.Instances[i].record()
	}
	return out, nil
}

// difference is one thing about which two registries disagree.
type difference struct{ name, what, here, there string }

// compare lists the differences, ordered by name.
func compare(ours, theirs map[string]record, metadata bool) []difference {
	var out []difference
	for _, name := range sortedKeys(ours, theirs) {
		a, here := ours[name]
		b, there := theirs[name]
		switch {
		case !there:
			out = append(out, difference{name, "only here", a.Status, ""})
		case !here:
			out = append(out, difference{name, "only there", "", b.Status})
		default:
			out = append(out, compareRecords(name, &a, &b, metadata)...)
		}
	}
	return out
}

func compareRecords(name string, a, b *record, metadata bool) []difference {
	var out []difference
	for _, field := range []difference{
		{name, "status", a.Status, b.Status},
		{name, "host name", a.HostName, b.HostName},
		{name, "address", a.IPAddr, b.IPAddr},
		{name, "port", a.Port.String(), b.Port.String()},
		{name, "secure port", a.SecurePort.String(), b.SecurePort.String()},
		{name, "vip", a.VIP, b.VIP},
	} {
		if field.here != field.there {
			out = append(out, field)
		}
	}
	if !metadata {
		return out
	}
	for _, key := range slices.Sorted(maps.Keys(union(a.Metadata, b.Metadata))) {
		if a.Metadata[key] != b.Metadata[key] {
			out = append(out, difference{name, "metadata " + key, a.Metadata[key], b.Metadata[key]})
		}
	}
	return out
}

func union(a, b pairs) pairs {
	out := pairs{}
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}
