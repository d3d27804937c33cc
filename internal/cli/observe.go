package cli

import (
	"fmt"
	"net/url"

	"github.com/spf13/cobra"
)

func newObserveReport(o *options) *cobra.Command {
	var since, form string
	cmd := &cobra.Command{
		Use:   "observe-report",
		Short: "Tell what mode Observe would have done, and what became of it",
		Long: `Tell what mode Observe would have done, and what became of it.

A finding is contradicted when a later heartbeat showed that acting would have been
wrong, withdrawn when its cause ended and the instance stayed, and confirmed when the
instance left by itself, stayed silent, or stronger evidence followed.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := o.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer a.close()
			q := url.Values{}
			for key, value := range map[string]string{"since": since, "namespace": o.namespace()} {
				if value != "" {
					q.Set(key, value)
				}
			}
			var r observeReport
			if err := a.get(cmd.Context(), "/kureka/v1/observe", q, &r); err != nil {
				return err
			}
			if form == formatJSON {
				return printJSON(o.Out, r)
			}
			return o.printObserved(&r)
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "how long ago, such as 24h, or a time in RFC 3339; all that is kept if unset")
	addOutput(cmd, &form, formatJSON)
	return cmd
}

func (o *options) printObserved(r *observeReport) error {
	found, wrong := 0, 0
	for i := range r.Reasons {
		found += r.Reasons[i].Found
		wrong += r.Reasons[i].Contradicted
	}
	switch {
	case found == 0:
		_, err := fmt.Fprintln(o.Out, "Nothing was found. Only namespaces whose policy says mode: Observe are reported.")
		return err
	case wrong == 0:
		fmt.Fprintf(o.Out, "%s, and no heartbeat contradicted any of them.\n\n", count(found, "finding", "findings"))
	default:
		fmt.Fprintf(o.Out, "%s, and a later heartbeat contradicted %d of them: see those before you enforce.\n\n", count(found, "finding", "findings"), wrong)
	}
	t := newTable("REASON", "WOULD HAVE", "FOUND", "CONTRADICTED", "WITHDRAWN", "CONFIRMED", "OPEN")
	for i := range r.Reasons {
		x := &r.Reasons[i]
		t.add(x.Reason, effectWording(x.Effect), x.Found, x.Contradicted, x.Withdrawn, x.Confirmed, x.Found-x.Contradicted-x.Withdrawn-x.Confirmed)
	}
	if err := t.print(o.Out); err != nil {
		return err
	}
	fmt.Fprintln(o.Out)
	t = newTable("WHEN", "INSTANCE", "REASON", "WOULD HAVE", "OUTCOME")
	for i := range r.Findings {
		f := &r.Findings[i]
		t.add(f.At.UTC().Format("2006-01-02 15:04:05"), f.App+"/"+f.ID, f.Reason, effectWording(f.Effect), f.Outcome)
	}
	return t.print(o.Out)
}

func effectWording(effect string) string {
	told := map[string]string{"would-remove": "removed it", "would-take-out": "taken it out", "noted": "held it back by the floor"}[effect]
	if told == "" {
		return effect
	}
	return told
}
