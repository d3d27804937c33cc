package cli

import "strings"

// tellPast tells of an instance that is not registered.
func tellPast(q *inquiry) *story {
	s := &story{Past: q.Past}
	removal := q.removal()
	switch {
	case removal != nil:
		q.tellRemoval(s, removal)
	case q.Left != nil:
		q.tellEnd(s)
	default:
		q.tellNothing(s)
	}
	return s
}

// removal is the change that removed it, unless it ended otherwise afterwards.
func (q *inquiry) removal() *change {
	for i := range q.Past {
		c := &q.Past[i]
		if c.Effect != "removed" && c.Effect != "unlisted" {
			continue
		}
		if q.Left != nil && q.Left.At != nil && q.Left.Reason != "PodGone" && q.Left.Reason != "Removed" && q.Left.At.After(c.At) {
			return nil
		}
		return c
	}
	return nil
}

func (q *inquiry) tellRemoval(s *story, c *change) {
	n := names{app: q.App, id: quoted(q.ID), namespace: c.Namespace, pod: c.Pod, node: c.Node, detail: c.Detail, confirmed: c.Confirmed}
	w := wordingOf(c.Reason, c.Class)
	s.Headline = q.name() + " is not registered: it was removed at " + stamp(q.now, c.At) + " because " + n.fill(w.because) + "."
	if c.Pod != "" {
		where := ""
		if c.Node != "" {
			where = " on " + c.Node
		}
		s.know("pod", "was %s/%s%s", c.Namespace, c.Pod, where)
	}
	s.know("fact", "%s%s, seen %s; the registry showed it %.1f ms after the news arrived", c.Reason, classOf(c.Class), witness(c.Witness), c.TookMS)
	s.Next = []string{"Clients drop it with their next fetch, and may call it until then and until their load balancer's cache has passed."}
	if c.Class == "proof" {
		s.Next = append(s.Next, "What is left of its process is fenced: its requests are answered as if all were well and change nothing.")
	}
	s.Advice = present([]string{n.fill(w.do)})
}

func (q *inquiry) tellEnd(s *story) {
	when := ""
	if q.Left.At != nil {
		when = " at " + stamp(q.now, *q.Left.At)
	}
	switch q.Left.Reason {
	case "Cancelled":
		s.Headline = q.name() + " is not registered: it was cancelled" + when + ", by its client or by somebody in its name" + q.amid() + "."
		s.Next = []string{"It is listed again as soon as it registers."}
		s.Advice = []string{"Nothing, if it was stopped on purpose: clients cancel when they shut down."}
	case "LeaseExpired":
		s.Headline = q.name() + " is not registered: its lease ran out" + when + " because no heartbeat came."
		s.Next = []string{"If its process still lives, its next heartbeat is answered 404 and it registers again by itself."}
		s.Advice = []string{"See whether its process runs and reaches the registry."}
	default:
		s.Headline = q.name() + " is not registered: it was removed" + when + " (" + q.Left.Reason + ")."
		s.Next = []string{"It is listed again as soon as it registers."}
	}
}

// amid tells what had begun when a client cancelled.
func (q *inquiry) amid() string {
	if len(q.Past) == 0 || q.Past[0].Effect != "taken-out" {
		return ""
	}
	c := &q.Past[0]
	n := names{app: q.App, id: quoted(q.ID), namespace: c.Namespace, pod: c.Pod, node: c.Node, detail: c.Detail, confirmed: c.Confirmed}
	return ", while " + n.fill(wordingOf(c.Reason, c.Class).because)
}

func (q *inquiry) tellNothing(s *story) {
	s.Headline = q.name() + " is not registered, and nothing is remembered of it."
	if len(q.Others) > 0 {
		s.Advice = []string{"Perhaps one of these was meant: " + strings.Join(q.Others, ", ")}
		return
	}
	s.Advice = []string{
		"No instance of " + q.App + " is registered. See the log of its client: it may ask another registry, or be refused.",
		"What left before the registry started is forgotten.",
	}
}
