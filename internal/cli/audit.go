package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kureka/kureka/internal/audit"
)

// auditOptions are the flags of the command.
type auditOptions struct {
	*options
	files    []string
	failOn   string
	every    bool
	form     string
	severity audit.Severity // of failOn
}

// auditAnswer is what the command answers.
type auditAnswer struct {
	audit.Report
	// Notes say what could not be looked at.
	Notes []string `json:"notes"`
}

func newAudit(o *options) *cobra.Command {
	a := &auditOptions{options: o}
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Find what in manifests makes clients call instances that are gone",
		Long: `Find what in manifests makes clients call instances that are gone, or keeps Kureka
from helping. Without --filename the workloads of the cluster are looked at, with it
those of files, folders or - for standard input, and nothing else; policies and
namespaces count if they are among the files.

Exit codes: 0 no finding at or above --fail-on, 1 one or more, 2 the input cannot be
read.`,
		Example: `  kubectl kureka audit -n shop
  helm template shop charts/shop | kubectl kureka audit -f - -f policy.yaml
  kubectl kureka audit -f manifests/ --fail-on error -o json`,
		Args: cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) (err error) {
			if a.severity, err = audit.ParseSeverity(a.failOn); err != nil {
				return fmt.Errorf("--fail-on: %w", err)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return a.run(cmd) },
	}
	cmd.Flags().StringSliceVarP(&a.files, "filename", "f", nil, "file or folder with manifests, or - for standard input; may be given several times")
	cmd.Flags().StringVar(&a.failOn, "fail-on", audit.Warning.String(), "severity from which on findings make the exit code 1: info, warning or error")
	cmd.Flags().BoolVar(&a.every, "every-workload", false, "take each workload for a Eureka client, also where no manifest shows one")
	addOutput(cmd, &a.form, formatWide, formatJSON)
	return cmd
}

func (a *auditOptions) run(cmd *cobra.Command) error {
	in := audit.Input{EveryWorkload: a.every}
	var notes []string
	var err error
	if len(a.files) > 0 {
		err = a.readFiles(cmd.InOrStdin(), &in)
	} else {
		notes, err = a.readCluster(cmd.Context(), &in)
	}
	if err != nil {
		return err
	}
	answer := auditAnswer{Report: audit.Check(&in), Notes: append([]string{}, notes...)}
	if note := unseen(in.Unseen); note != "" {
		answer.Notes = append(answer.Notes, note)
	}
	if a.form == formatJSON {
		err = printJSON(a.Out, answer)
	} else {
		err = answer.print(a.Out, a.form == formatWide)
	}
	if err == nil && answer.Reaches(a.severity) {
		err = errFound
	}
	return err
}

// unseen says which pods were not looked at because nothing that is made them; empty
// if there are none.
func unseen(pods map[string]int) string {
	if len(pods) == 0 {
		return ""
	}
	n := 0
	for _, of := range pods {
		n += of
	}
	verb := "pods belong"
	if n == 1 {
		verb = "pod belongs"
	}
	return fmt.Sprintf("%d %s to kinds that are not looked at: %s", n, verb, strings.Join(slices.Sorted(maps.Keys(pods)), ", "))
}

func (a *auditAnswer) print(out io.Writer, wide bool) error {
	if len(a.Findings) > 0 {
		if err := a.printFindings(out, wide); err != nil {
			return err
		}
		a.printAdvice(out)
	}
	fmt.Fprintln(out, a.summary())
	for _, note := range a.Notes {
		fmt.Fprintln(out, "note:", note)
	}
	return nil
}

func (a *auditAnswer) printFindings(out io.Writer, wide bool) error {
	head := []any{"SEVERITY", "RULE", "NAMESPACE", "WORKLOAD", "CONTAINER", "REASON"}
	if wide {
		head = append(head, "SOURCE")
	}
	t := newTable(head...)
	for i := range a.Findings {
		f := &a.Findings[i]
		row := []any{f.Severity, f.Rule, f.Namespace, strings.ToLower(f.Kind) + "/" + f.Name, f.Container, f.Reason}
		if wide {
			row = append(row, f.Source)
		}
		t.add(row...)
	}
	return t.print(out)
}

// printAdvice prints each advice once, under the name of its rule.
func (a *auditAnswer) printAdvice(out io.Writer) {
	fmt.Fprintln(out, "\nAdvice:")
	told := map[string]bool{}
	for i := range a.Findings {
		line := fmt.Sprintf("  %s: %s.", a.Findings[i].Rule, a.Findings[i].Advice)
		if !told[line] {
			fmt.Fprintln(out, line)
		}
		told[line] = true
	}
	fmt.Fprintln(out)
}

func (a *auditAnswer) summary() string {
	looked := fmt.Sprintf("%d of %s with a Eureka client", a.Clients, count(a.Workloads, "workload", "workloads"))
	if a.Clients == 0 {
		return looked + "; --every-workload looks at all of them, also where no manifest shows one."
	}
	return fmt.Sprintf("%s in %s.", count(len(a.Findings), "finding", "findings"), looked)
}
