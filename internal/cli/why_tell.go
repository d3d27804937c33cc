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

// outlook is what happens next and what helps.
func (q *inquiry) outlook(s *story, w wording) {
	switch q.cause() {
	case byVerdict, byMode:
		s.Next, s.Advice = []string{w.next, q.again()}, []string{w.do}
	case byFloor:
		s.Next = []string{"It goes out of service as soon as enough others of its application are in service."}
		s.Advice = []string{"Start more instances of " + q.App + ", or let its controller do so.", w.do}
	case byOverride:
		s.Next = []string{"It stays so until the override is cleared, also across a restart of the registry, or until its pod ends."}
		s.Advice = []string{"To clear it: curl -X DELETE http://KUREKA:8761/eureka/apps/" + q.App + "/" + q.ID + "/status"}
	case byReadiness:
		s.Next = []string{"It is UP as soon as its pod is ready."}
		s.Advice = []string{q.fill(wording{do: "See what its pod waits for: kubectl -n {namespace} describe pod {name}"}, "", "").do}
	case byClient:
		s.Next = []string{"It changes as soon as its client says something else, with its next heartbeat or registration."}
		s.Advice = []string{"Look at the application itself: its health check or its start decides this, and not the registry."}
	case byHolding:
		s.Next = []string{"Its next heartbeat renews the lease. If none comes, it is removed once nothing holds it any more."}
		s.Advice = []string{"See whether its process runs and reaches the registry. Many silent at once are usually the network."}
	case bySuspicion:
		s.Next = []string{"If a second witness confirms it, it goes out of service as far as the floor of its application allows. A sign of life settles it."}
		s.Advice = []string{"Look at the machine and its network: kubectl get nodes"}
	case byLateness:
		s.Next = []string{fmt.Sprintf("Its next heartbeat is all it needs. If none comes, its lease runs out in %s.", duration(q.lasts()-q.now.Sub(q.Known.Lease.LastRenewal)))}
		s.Advice = []string{"See whether its process is busy, stopped, or does not reach the registry."}
	case byIgnorance:
		s.Next, s.Advice = []string{q.quiet()}, []string{w.do}
	case byHiding:
		s.Next = []string{"It is listed as soon as that ends; its client, if it has one, is answered meanwhile as if it were."}
	case byNothing:
		s.Next = []string{q.quiet()}
	}
	s.Next, s.Advice = present(s.Next), present(append(s.Advice, q.unshare()))
}

// unshare is what helps where several pods use its id.
func (q *inquiry) unshare() string {
	if q.Known.Binding.Unbound != sharedID {
		return ""
	}
	return "Give every pod an instance id of its own: while they share one, only the last registration is listed, and no pod's end removes it."
}

// quiet is what would end the service of an instance that nothing is against.
func (q *inquiry) quiet() string {
	switch {
	case q.Known.Lease == nil:
		return "It follows the readiness of its pod, and is removed with it."
	case q.Known.Binding.Pod == nil:
		return fmt.Sprintf("Only its lease decides: it is removed %d s after its last heartbeat.", q.Known.Lease.DurationSeconds)
	}
	return "Nothing, as long as its heartbeats come and its pod and node stay as they are."
}

// again is when a verdict is looked at without any news.
func (q *inquiry) again() string {
	next := q.Known.Verdict.NextCheck
	if next == nil || next.Before(q.now) {
		return ""
	}
	return "Without any news it is looked at again at " + next.UTC().Format("15:04:05 UTC") + ", in " + duration(next.Sub(q.now)) + "."
}

func present(lines []string) []string {
	var out []string
	for _, l := range lines {
		if l != "" {
			out = append(out, l)
		}
	}
	return out
}
