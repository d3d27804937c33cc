package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

// The forms that --output names besides the table.
const (
	formatWide = "wide"
	formatJSON = "json"
)

// addOutput adds --output, whose value is one of the forms, or empty for the table.
func addOutput(cmd *cobra.Command, into *string, forms ...string) {
	cmd.Flags().VarP(&choice{into, forms}, "output", "o", "form of the output: "+strings.Join(forms, " or "))
	// It refuses only a flag that is not there, or has a function already.
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(forms, cobra.ShellCompDirectiveNoFileComp))
}

// choice is a flag that has one of some values, or none.
type choice struct {
	into *string
	of   []string
}

// String implements pflag.Value.
func (c *choice) String() string {
	if c.into == nil {
		return "" // of the zero value, which tells the default
	}
	return *c.into
}

// Type implements pflag.Value.
func (c *choice) Type() string { return "string" }

// Set implements pflag.Value.
func (c *choice) Set(value string) error {
	if !slices.Contains(c.of, value) {
		return fmt.Errorf("want %s", strings.Join(c.of, " or "))
	}
	*c.into = value
	return nil
}

func printJSON(out io.Writer, v any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// table collects rows and prints them in columns.
type table struct{ rows [][]string }

func newTable(head ...any) *table {
	t := &table{}
	t.add(head...)
	return t
}

func (t *table) add(cells ...any) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = fmt.Sprint(cell)
	}
	t.rows = append(t.rows, row)
}

// print writes the table. Empty cells are dashes, so that a line can be cut into
// columns by programs, too.
func (t *table) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	for _, row := range t.rows {
		for i, cell := range row {
			if cell == "" {
				cell = "-"
			}
			if i > 0 {
				cell = "\t" + cell
			}
			fmt.Fprint(w, cell)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// ago is how long before now something was, as people say it: 42s, 3m20s, 5h10m, 2d4h.
func ago(now, then time.Time) string { return duration(now.Sub(then)) }

// duration writes the two largest units of a duration.
func duration(d time.Duration) string {
	d = max(0, d.Round(time.Second))
	seconds := int(d.Seconds())
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", seconds)
	case d < time.Hour:
		return units(seconds/60, "m", seconds%60, "s")
	case d < 24*time.Hour:
		return units(seconds/3600, "h", seconds/60%60, "m")
	}
	return units(seconds/86400, "d", seconds/3600%24, "h")
}

func units(large int, unit string, small int, smallUnit string) string {
	if small == 0 {
		return fmt.Sprintf("%d%s", large, unit)
	}
	return fmt.Sprintf("%d%s%d%s", large, unit, small, smallUnit)
}

// count writes a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// namespaceName is how a namespace is shown; the empty one is everything outside pods.
func namespaceName(name string) string {
	if name == "" {
		return "(outside pods)"
	}
	return name
}

// sortedKeys are the keys of several maps, each once.
func sortedKeys[V any](all ...map[string]V) []string {
	union := map[string]struct{}{}
	for _, m := range all {
		for key := range m {
			union[key] = struct{}{}
		}
	}
	return slices.Sorted(maps.Keys(union))
}
