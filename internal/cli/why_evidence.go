package cli

import (
	"fmt"
	"strings"
	"unicode"
)

// evidence is what is known, for and against.
func (q *inquiry) evidence(s *story) {
	e := q.Known
	if p := e.Binding.Pod; p != nil {
		s.know("pod", "%s", podLine(p))
	} else {
		s.know("pod", "none: %s", unboundWording(e.Binding.Unbound))
	}
	if len(e.Binding.Rivals) > 0 {
		s.know("shared id", "also registered by %s", strings.Join(e.Binding.Rivals, ", "))
	}
	for i := range e.Checks {
		if c := &e.Checks[i]; c.Fires {
			s.know("fact", "%s", checkLine(c))
		}
	}
	switch {
	case e.Binding.KeptBy != "":
		s.know("kept by", "%s: it has no client and sends no heartbeats", e.Binding.KeptBy)
	case e.Listed:
		s.know("client", "says %s%s", e.ClientStatus, q.heard())
	}
	if e.Override != "" {
		s.know("override", "%s", e.Override)
	}
	s.know("app", "%d of %d live instances are in service; planned notices leave at least %d", e.Floor.InService, e.Floor.Live, e.Floor.MinInService)
}

func podLine(p *pod) string {
	text := p.Namespace + "/" + p.Name
	if p.Node != "" {
		text += " on " + p.Node
	}
	if p.Phase != "" {
		text += ", " + p.Phase
	}
	if !p.Ready {
		text += ", not"
	} else {
		text += ","
	}
	text += " ready"
	if p.Deleting {
		text += ", being deleted"
	}
	return text
}

func checkLine(c *check) string {
	text := c.Name + classOf(c.Class)
	if strings.ContainsFunc(c.Detail, unicode.IsLetter) { // else it is the value of a taint
		text += ": " + c.Detail
	}
	if c.Ignored {
		text += "; the policy ignores it"
	}
	return text
}

// classOf is a class in brackets, and nothing of what has none: not every reason is the
// finding of a check.
func classOf(class string) string {
	if class == "" || class == "none" {
		return ""
	}
	return " (" + strings.ReplaceAll(class, "-", " ") + ")"
}

// heard is how its client keeps its lease.
func (q *inquiry) heard() string {
	l := q.Known.Lease
	if l == nil {
		return ""
	}
	text := fmt.Sprintf("; last heartbeat %s ago, one every %d s is due, and its lease lasts %s", ago(q.now, l.LastRenewal), l.RenewalIntervalSeconds, q.leaseLine())
	if q.overdue() > 0 {
		text += ": it ran out " + duration(q.overdue()) + " ago"
	}
	return text
}

func (q *inquiry) leaseLine() string {
	asked := q.Known.Lease.DurationSeconds
	more := int(q.lasts().Seconds()) - asked
	if more == 0 {
		return fmt.Sprintf("%d s", asked)
	}
	return fmt.Sprintf("%d s and, because its pod is ready, %d s more", asked, more)
}

// brakes are what keeps a verdict, a witness or a lease from having its effect.
func (q *inquiry) brakes(s *story) {
	e := q.Known
	brake := func(format string, args ...any) { s.Brakes = append(s.Brakes, fmt.Sprintf(format, args...)) }
	if e.Verdict.InForce == reasonHeldByFloor {
		brake("The floor: %d of %d live instances of %s are in service, and planned notices leave at least %d.", e.Floor.InService, e.Floor.Live, q.App, e.Floor.MinInService)
	}
	if e.Policy.Mode == modeObserve {
		brake("The %s says mode: Observe, so nothing of this acts. kubectl kureka observe-report tells what would have been done.", e.Policy.Source)
	}
	for i := range e.Checks {
		if c := &e.Checks[i]; c.Waits != "" {
			brake("%s does not act: %s.", c.Name, c.Waits)
		}
	}
	if n := q.Namespace; n != nil && n.SelfPreservation == selfPreservationEngaged {
		brake("Self-preservation of %s: %.0f of %.0f renewals a minute arrive, less than %d %%, so leases do not run out (%d held).",
			namespaceName(n.Name), n.RenewalsReceivedPerMinute, n.RenewalsExpectedPerMinute, n.ThresholdPercent, n.LeasesHeld)
	}
	if !e.ViewFresh {
		brake("The cluster is not seen at the moment: nothing is inferred, and what was seen last stays in force.")
	}
}
