package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
)

// inquiry is everything that the registry says about one instance.
type inquiry struct {
	App, ID string
	now     time.Time
	// Known is nil for an instance that is not registered; then Past and Left are what
	// is remembered of it.
	Known *explanation
	Past  []change
	Left  *ended
	// Namespace is how the leases of its namespace stand, nil if nobody knows.
	Namespace *namespace
	// Others are ids of the same application, for somebody who has mistaken one.
	Others []string
}

func newWhy(o *options) *cobra.Command {
	var form string
	cmd := &cobra.Command{
		Use:   "why APP ID",
		Short: "Say why an instance is listed as it is, or not at all, and what to do about it",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			q, err := o.inquire(cmd.Context(), strings.ToUpper(args[0]), args[1])
			if err != nil {
				return err
			}
			if form == formatJSON {
				return printJSON(o.Out, q.answer())
			}
			return tell(q).print(o.Out, q.now)
		},
	}
	addOutput(cmd, &form, formatJSON)
	return cmd
}

// answer is what is known, as the registry has said it.
func (q *inquiry) answer() any {
	if q.Known != nil {
		return q.Known
	}
	return struct {
		App     string   `json:"app"`
		ID      string   `json:"id"`
		Left    *ended   `json:"left,omitempty"`
		Changes []change `json:"changes"`
	}{q.App, q.ID, q.Left, q.Past}
}

func (o *options) inquire(ctx context.Context, app, id string) (*inquiry, error) {
	a, err := o.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer a.close()
	var e explanation
	err = a.get(ctx, instancePath(app, id), nil, &e)
	q := &inquiry{App: app, ID: id, now: o.clock.now()}
	if errors.Is(err, errNotFound) {
		return q, a.remember(ctx, q)
	}
	if err != nil {
		return nil, err
	}
	q.Known = &e
	if e.Lease == nil {
		return q, nil
	}
	var all namespaces
	if err := a.get(ctx, "/kureka/v1/namespaces", nil, &all); err != nil {
		return nil, err
	}
	for i := range all.Namespaces {
		if all.Namespaces[i].Name == e.Lease.Namespace {
			q.Namespace = &all.Namespaces[i]
		}
	}
	return q, nil
}

// instancePath is where the registry explains an instance.
func instancePath(app, id string) string {
	return "/kureka/v1/instances/" + url.PathEscape(app) + "/" + url.PathEscape(id)
}

// remember asks what is left of an instance that is not registered.
func (a *api) remember(ctx context.Context, q *inquiry) error {
	var past changes
	if err := a.get(ctx, "/kureka/v1/changes", url.Values{paramApp: {q.App}, "id": {q.ID}}, &past); err != nil {
		return err
	}
	q.Past = past.Changes
	var last lastN
	if err := a.get(ctx, "/kureka/v1/lastn", nil, &last); err != nil {
		return err
	}
	for i := range last.Ended {
		if last.Ended[i].App == q.App && last.Ended[i].ID == q.ID {
			q.Left = &last.Ended[i]
			break
		}
	}
	if q.Left != nil || len(q.Past) > 0 {
		return nil
	}
	return a.suggest(ctx, q)
}

// suggest asks for instances that may have been meant: those that the id is a part of,
// such as the name of their pod, else any of the application.
func (a *api) suggest(ctx context.Context, q *inquiry) error {
	for _, text := range []string{q.ID, ""} {
		asked := url.Values{paramApp: {q.App}, paramLimit: {"10"}}
		if text != "" {
			asked.Set("q", text)
		}
		var list instances
		if err := a.get(ctx, "/kureka/v1/instances", asked, &list); err != nil {
			return err
		}
		for i := range list.Instances {
			if id := list.Instances[i].ID; strings.Contains(id, text) {
				q.Others = append(q.Others, id)
			}
		}
		if len(q.Others) > 0 {
			return nil
		}
	}
	return nil
}

// story is what a person is told about one instance.
type story struct {
	Headline string
	Evidence []fact
	// Brakes are what keeps something from happening.
	Brakes []string
	Next   []string
	Advice []string
	Past   []change // newest first
}

// fact is one line of evidence.
type fact struct{ about, text string }

func (s *story) know(about, format string, args ...any) {
	s.Evidence = append(s.Evidence, fact{about, fmt.Sprintf(format, args...)})
}

// toldChanges is how many changes a story has at most.
const toldChanges = 6

func (s *story) print(out io.Writer, now time.Time) error {
	var b strings.Builder
	b.WriteString(s.Headline + "\n")
	if len(s.Evidence) > 0 {
		b.WriteString("\nEvidence\n")
	}
	for _, f := range s.Evidence {
		fmt.Fprintf(&b, "  %-9s  %s\n", f.about, f.text)
	}
	for _, part := range []struct {
		title string
		lines []string
	}{
		{"What holds back", s.Brakes}, {"What happens next", s.Next}, {"What you can do", s.Advice},
	} {
		if len(part.lines) > 0 {
			fmt.Fprintf(&b, "\n%s\n  %s\n", part.title, strings.Join(part.lines, "\n  "))
		}
	}
	if len(s.Past) > 0 {
		b.WriteString("\nLast changes by the cluster's evidence\n")
	}
	for i := range s.Past[:min(len(s.Past), toldChanges)] {
		b.WriteString("  " + line(&s.Past[i], now) + "\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func line(c *change, now time.Time) string {
	text := fmt.Sprintf("%s  %-14s  %s", stamp(now, c.At), strings.ReplaceAll(c.Effect, "-", " "), c.Reason)
	if c.Confirmed != "" {
		text += ", confirmed by " + secondWitness(c.Confirmed)
	}
	if strings.ContainsFunc(c.Detail, unicode.IsLetter) {
		text += ": " + c.Detail
	}
	return text
}

// stamp is a moment as people look it up in logs: its time, with the day if that is
// not today's, and how long ago it was.
func stamp(now, at time.Time) string {
	form := "15:04:05 UTC"
	if now.Sub(at) > 12*time.Hour {
		form = "2006-01-02 " + form
	}
	return at.UTC().Format(form) + " (" + ago(now, at) + " ago)"
}
