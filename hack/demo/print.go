package main

import (
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/kureka/kureka/test/incident"
)

// section is a scene in the final table.
type section struct {
	title string
	facts []incident.Fact
}

func (d *demo) heading(title string) {
	fmt.Printf("\n== %s\n", title)
}

func (d *demo) printTable() {
	d.heading(fmt.Sprintf("What was measured (the whole took %d s)", int(time.Since(d.started).Seconds())))
	w := newTable()
	for _, s := range d.table {
		fmt.Fprintf(w, "%s\t\n", s.title)
		for _, f := range s.facts {
			fmt.Fprintf(w, "    %s\t%s\n", f.What, f.Value)
		}
	}
	flush(w)
}

func (d *demo) printComparison(lines []incident.Comparison) {
	d.heading("Side by side")
	w := newTable()
	fmt.Fprintln(w, "\tkureka\tleases only")
	for _, l := range lines {
		fmt.Fprintf(w, "%s\t%s\t%s\n", l.What, l.Ours, l.LeaseOnly)
	}
	flush(w)
}

func newTable() *tabwriter.Writer {
	return tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)
}

// flush ends a table. Nobody is left to tell when standard output is gone.
func flush(w *tabwriter.Writer) { _ = w.Flush() }
