package cli

import (
	"fmt"
	"strings"
	"time"
)

const (
	statusUp           = "UP"
	statusOutOfService = "OUT_OF_SERVICE"
	modeObserve        = "Observe"

	reasonHeldByFloor = "HeldByFloor"
	reasonHeldExpired = "HeldExpired"
	sharedID          = "SharedInstanceID"
	goneObserved      = "PodGoneButOnlyObserved"
)

// tell makes a story of what the registry says.
func tell(q *inquiry) *story {
	if q.Known == nil {
		return tellPast(q)
	}
	s := &story{Past: q.Known.Changes}
	w := q.wording()
	s.Headline = q.name() + " " + q.state(w) + "."
	q.evidence(s)
	q.brakes(s)
	q.outlook(s, w)
	return s
}

func (q *inquiry) name() string { return q.App + "/" + q.ID }

// wording is that of the mark that is in force, of the verdict, or of what the policy
// ignores.
func (q *inquiry) wording() wording {
	e := q.Known
	switch c := q.ignored(); {
	case e.Binding.Unbound == goneObserved:
		return wording{
			because: "its pod is gone", next: "Only its lease decides. What is left of its process may keep that.",
			do: "kubectl kureka observe-report tells what else would have been done, before the policy enforces it.",
		}
	case e.Verdict.InForce == reasonHeldExpired:
		return q.fill(wordingOf(reasonHeldExpired, ""), "", "")
	case e.Verdict.Reason != "":
		return q.fill(wordingOf(e.Verdict.Reason, e.Verdict.Class), e.Verdict.Detail, e.Verdict.Confirmed)
	case c != nil:
		return q.fill(wordingOf(c.Name, c.Class), c.Detail, "")
	}
	return wording{}
}

func (q *inquiry) fill(w wording, detail, confirmed string) wording {
	n := names{app: q.App, id: quoted(q.ID), detail: detail, confirmed: confirmed}
	if p := q.Known.Binding.Pod; p != nil {
		n.namespace, n.pod, n.node = p.Namespace, p.Name, p.Node
	}
	return wording{n.fill(w.because), n.fill(w.next), n.fill(w.do)}
}

// quoted is an id as a shell takes it.
func quoted(id string) string {
	if strings.ContainsAny(id, " '\"$&;|<>()*?#~`\\!") {
		return "'" + strings.ReplaceAll(id, "'", `'\''`) + "'"
	}
	return id
}

// The ways in which an instance comes to its status, the strongest first.
type cause int

const (
	byHiding cause = iota
	byVerdict
	byReadiness // it has no client, and its pod has not been ready yet
	byClient
	byOverride
	byFloor     // it is UP although something is against it
	byMode      // the policy only observes
	bySuspicion // a second witness is missing
	byHolding   // its lease has run out
	byLateness  // a heartbeat is late
	byIgnorance // the policy ignores what is against it
	byNothing   // it is UP and nothing is against it
)

func (q *inquiry) cause() cause {
	e := q.Known
	switch {
	case !e.Listed:
		return byHiding
	case e.Status == statusOutOfService && e.Verdict.InForce != "" && e.Verdict.InForce != reasonHeldByFloor:
		return byVerdict
	case e.Status != statusUp:
		return q.asked()
	case e.Verdict.InForce == reasonHeldByFloor:
		return byFloor
	case e.Policy.Mode == modeObserve && e.Verdict.Reason != "", e.Binding.Unbound == goneObserved:
		return byMode
	}
	return q.doubt()
}

// asked is who says that it is not UP, where no evidence does.
func (q *inquiry) asked() cause {
	switch e := q.Known; {
	case e.Override == e.Status:
		return byOverride
	case e.Binding.KeptBy != "":
		return byReadiness
	}
	return byClient
}

// doubt is what is to be told of an instance that is UP with nothing against it that
// could act.
func (q *inquiry) doubt() cause {
	switch {
	case q.suspicion() != "":
		return bySuspicion
	case q.overdue() > 0:
		return byHolding
	case q.late():
		return byLateness
	case q.ignored() != nil:
		return byIgnorance
	}
	return byNothing
}

// suspicion is what a first witness says against its node, empty if there is none.
func (q *inquiry) suspicion() string {
	for i := range q.Known.Checks {
		if w := q.Known.Checks[i].Waits; w != "" {
			return w
		}
	}
	return ""
}

// ignored is the first fact that the policy lets do nothing, nil if there is none.
func (q *inquiry) ignored() *check {
	for i := range q.Known.Checks {
		if c := &q.Known.Checks[i]; c.Fires && c.Ignored {
			return c
		}
	}
	return nil
}

// lateAfter is how long after its time a heartbeat counts as late.
const lateAfter = 3 * time.Second

func (q *inquiry) late() bool {
	l := q.Known.Lease
	return l != nil && q.now.Sub(l.LastRenewal) > time.Duration(l.RenewalIntervalSeconds)*time.Second+lateAfter
}

// state is the headline without the name.
func (q *inquiry) state(w wording) string {
	e := q.Known
	switch c := q.cause(); c {
	case byHiding:
		return "is registered, but clients do not see it: " + q.hidden()
	case byVerdict:
		return "is OUT_OF_SERVICE" + q.since() + ": " + w.because
	case byOverride:
		return "is " + e.Status + q.sinceUpdate() + ": an override says so" // of an operator, or of the pod's own preStop hook
	case byReadiness:
		return "is " + e.Status + q.sinceUpdate() + ": its pod has not been ready yet"
	case byClient:
		return "is " + e.Status + q.sinceUpdate() + ": its own client says so"
	case byNothing:
		return "is UP" + q.sinceUpdate() + ": nothing is against it"
	default:
		return "is UP although " + q.although(c, w)
	}
}

// hidden is why clients do not see it.
func (q *inquiry) hidden() string {
	if q.Known.Binding.Hidden != "" {
		return "the namespace " + q.Known.Binding.Hidden + " came first with this application"
	}
	return unboundWording(q.Known.Binding.Unbound)
}

// although is what is against an instance that is UP, and why that does not act.
func (q *inquiry) although(c cause, w wording) string {
	l := q.Known.Lease
	switch c {
	case byFloor:
		return w.because + ": the floor of its application keeps it in service"
	case byMode:
		return w.because + ": the policy only observes"
	case byIgnorance:
		return w.because + ": the policy ignores that"
	case bySuspicion:
		return "one witness speaks against " + q.node() + ": " + q.suspicion()
	case byHolding:
		return fmt.Sprintf("its last heartbeat is %s old: its lease has run out, and %s", ago(q.now, l.LastRenewal), q.holder())
	default: // byLateness
		return fmt.Sprintf("a heartbeat is late: the last one came %s ago, and one is due every %d s", ago(q.now, l.LastRenewal), l.RenewalIntervalSeconds)
	}
}

// since is since when a verdict has been in force.
func (q *inquiry) since() string {
	for i := range q.Known.Changes {
		c := &q.Known.Changes[i]
		if c.Effect == "taken-out" {
			return " since " + stamp(q.now, c.At)
		}
		if c.Effect == "put-back" {
			break
		}
	}
	return q.sinceUpdate()
}

// sinceUpdate is since when clients have seen it as it is: what they see last changed
// then, if perhaps in another respect.
func (q *inquiry) sinceUpdate() string {
	if q.Known.UpdatedAt == nil {
		return ""
	}
	return " since " + stamp(q.now, *q.Known.UpdatedAt) + " or earlier"
}

// node is the node of its pod.
func (q *inquiry) node() string {
	if p := q.Known.Binding.Pod; p != nil && p.Node != "" {
		return "its node " + p.Node
	}
	return "its node"
}

// overdue is how long the lease has run out, zero if it has not.
func (q *inquiry) overdue() time.Duration {
	if q.Known.Lease == nil {
		return 0
	}
	return max(0, q.now.Sub(q.Known.Lease.LastRenewal)-q.lasts())
}

// lasts is how long its lease lasts, with what is added while its pod is Ready.
func (q *inquiry) lasts() time.Duration {
	e := q.Known
	seconds := e.Lease.DurationSeconds
	if e.ViewFresh && e.Binding.Pod != nil && e.Binding.Pod.Ready {
		seconds += e.Policy.ReadyGraceSeconds
	}
	return time.Duration(seconds) * time.Second
}

// holder is what keeps a lease that has run out.
func (q *inquiry) holder() string {
	if n := q.Namespace; n != nil && n.SelfPreservation == selfPreservationEngaged {
		return "self-preservation holds it"
	}
	return "it is removed shortly"
}
