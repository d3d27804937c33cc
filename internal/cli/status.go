package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
)

// status is what the command answers.
type status struct {
	Server     string      `json:"server"`
	View       view        `json:"view"`
	Namespaces []namespace `json:"namespaces"`
}

func newStatus(o *options) *cobra.Command {
	var form string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say how well the registry sees the cluster, and where self-preservation holds leases",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := readStatus(cmd.Context(), o)
			if err != nil {
				return err
			}
			if form == formatJSON {
				return printJSON(o.Out, s)
			}
			return s.print(o.Out, o.clock.now())
		},
	}
	addOutput(cmd, &form, formatJSON)
	return cmd
}

func readStatus(ctx context.Context, o *options) (status, error) {
	a, err := o.connect(ctx)
	if err != nil {
		return status{}, err
	}
	defer a.close()
	s := status{Server: a.name}
	if err := a.get(ctx, "/kureka/v1/view", nil, &s.View); err != nil {
		return status{}, err
	}
	var list namespaces
	if err := a.get(ctx, "/kureka/v1/namespaces", nil, &list); err != nil {
		return status{}, err
	}
	s.Namespaces = list.Namespaces
	return s, nil
}

func (s *status) print(out io.Writer, now time.Time) error {
	fmt.Fprintln(out, headline(s))
	fmt.Fprintf(out, "\nserver     %s\ninstances  %d\ncluster    %s\n", s.Server, s.View.Instances, clusterLine(&s.View, now))
	for _, w := range s.View.Watches {
		if w.Problem != "" {
			fmt.Fprintf(out, "problem    %s: %s\n", w.Resource, w.Problem)
		}
	}
	if s.View.SharedApps > 0 {
		fmt.Fprintf(out, "note       %s registered by pods of more than one namespace\n", count(s.View.SharedApps, "application is", "applications are"))
	}
	fmt.Fprintln(out)
	t := newTable("NAMESPACE", "LEASES", "NO CLIENT", "RENEWALS/MIN", "EXPECTED", "SELF-PRESERVATION", "HELD")
	for i := range s.Namespaces {
		n := &s.Namespaces[i]
		t.add(namespaceName(n.Name), n.Leases, n.PodKept, fmt.Sprintf("%.0f", n.RenewalsReceivedPerMinute),
			fmt.Sprintf("%.0f", n.RenewalsExpectedPerMinute), n.SelfPreservation, n.LeasesHeld)
	}
	return t.print(out)
}

// headline is the one sentence for those who read no further.
func headline(s *status) string {
	engaged, held := 0, 0
	for i := range s.Namespaces {
		if s.Namespaces[i].SelfPreservation == selfPreservationEngaged {
			engaged++
			held += s.Namespaces[i].LeasesHeld
		}
	}
	watched := len(s.View.Watches) > 0
	switch {
	case watched && !s.View.Fresh:
		return "The registry serves, but its view of the cluster is not fresh: leases decide, and nothing is inferred from silence."
	case watched && !s.View.PodsReadable:
		return "The registry serves, but may not read pods: no instance is bound to one, and leases alone decide."
	case engaged > 0:
		return fmt.Sprintf("Self-preservation is engaged in %s: too many renewals are missing, so leases do not expire (%d held).", count(engaged, "namespace", "namespaces"), held)
	case !watched:
		return "The registry serves without a cluster: leases alone decide."
	}
	return "All is well: the cluster is seen, and no lease is held."
}

func clusterLine(v *view, now time.Time) string {
	if len(v.Watches) == 0 {
		return "not watched"
	}
	seen := "never seen"
	if v.LastCanary != nil {
		seen = "last seen " + ago(now, *v.LastCanary) + " ago"
	}
	return fmt.Sprintf("%s, %s, %s", count(v.Pods, "pod", "pods"), count(v.Nodes, "node", "nodes"), seen)
}
