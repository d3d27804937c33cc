package verdict

import (
	"time"

	"github.com/kureka/kureka/internal/evidence"
)

// leaseSlack is added to half of a Lease's duration: a kubelet renews after a
// quarter of it, so by then two renewals are missing.
const leaseSlack = 2 * time.Second

// Suspects reports whether a first witness says that the instance's node is silent:
// its Lease has not changed for as long as the namespace waits, or the control plane
// has given it up. Alone that takes nobody out.
func Suspects(in Input) bool {
	in.complete()
	s, after := in.Silence, in.Policy.UnreachableAfter
	if s.Leased && s.Quiet > max(after, s.Lasts/2+leaseSlack) {
		return true
	}
	return s.Quiet > after && (isUnknown(in) || s.Leased && isInferredNotReady(in))
}

func isUnknown(in Input) bool {
	return in.Node != nil && in.Node.Condition("Ready").Status == evidence.Unknown
}

// isInferredNotReady reports whether nobody but the control plane can have written
// that the pod is not ready.
func isInferredNotReady(in Input) bool {
	p := in.Pod
	return p.UID != "" && !p.Ready && p.WorksForKubelet() && !p.AwaitsRegistration
}

// nodeSilent, nodeUnreachable and podInferredNotReady have one second witness, and
// one that is heard more lately than that ends them.
func nodeSilent(in Input) (string, time.Time, bool) { return silent(in, in.Silence.Leased) }

func nodeUnreachable(in Input) (string, time.Time, bool) { return silent(in, isUnknown(in)) }

func podInferredNotReady(in Input) (string, time.Time, bool) {
	return silent(in, isInferredNotReady(in))
}

func silent(in Input, first bool) (string, time.Time, bool) {
	s := in.Silence
	if !first || s.At.IsZero() {
		return "", time.Time{}, false
	}
	if until := Due(in.Seen, in.Interval); in.Kept == nil && in.Seen.After(s.At) && in.Now.Before(until) {
		return "", until, false // a sign of life counts until the next one is late
	}
	return "since " + s.At.UTC().Format(time.RFC3339) + ", " + s.By + ": " + s.Detail, time.Time{}, true
}

// inference is what an inferred check has besides what it asks.
type inference struct {
	// second names the second witness, waits says what keeps the check from firing
	// although its first witness has spoken.
	second, waits func(Input) string
}

// inferences has one for every inferred check.
var inferences = map[string]inference{
	reasonSilent:           {silentBy, quietWaits},
	reasonUnreachable:      {silentBy, unreachableWaits},
	reasonInferredNotReady: {silentBy, inferredWaits},
	reasonRebooted:         {rebootedBy, rebootedWaits},
}

func silentBy(in Input) string { return in.Silence.By }

// quietWaits says why a Lease that does not change has no consequence.
func quietWaits(in Input) string {
	s := in.Silence
	if s.Quiet == 0 || !s.Leased {
		return ""
	}
	return "the Lease has not changed for " + s.Quiet.Round(time.Second).String() + "; " + missing(in)
}

func unreachableWaits(in Input) string {
	if !isUnknown(in) {
		return ""
	}
	return "Ready is Unknown; " + missing(in)
}

func inferredWaits(in Input) string {
	if !isInferredNotReady(in) {
		return ""
	}
	return "the control plane calls the pod not ready; " + missing(in)
}

func missing(in Input) string {
	s := in.Silence
	switch {
	case !s.At.IsZero():
		return "the instance was heard since"
	case s.Quiet == 0:
		return "the node's Lease changes"
	case s.Alive:
		return "the node answers when it is probed"
	case s.Frozen:
		return "most nodes of the zone or of the cluster are silent too, so only the prober could confirm it"
	case !Suspects(in):
		return "not for long enough"
	}
	return "no second witness yet"
}

// nodeRebooted waits for the instance to be heard: what ran before the boot does not
// run any more. The cluster concludes it once a heartbeat is late.
func nodeRebooted(in Input) (string, time.Time, bool) {
	if in.Node == nil || in.Node.Booted.IsZero() || !in.Rebooted.Equal(in.Node.Booted) || in.Seen.After(in.Node.Booted) {
		return "", time.Time{}, false
	}
	return "at " + in.Node.Booted.UTC().Format(time.RFC3339) + ", and the instance has not been heard since", time.Time{}, true
}

func rebootedBy(Input) string { return WitnessHeartbeat }

func rebootedWaits(in Input) string {
	if in.Node == nil || in.Node.Booted.IsZero() || in.Seen.After(in.Node.Booted) {
		return ""
	}
	return "no heartbeat is late yet"
}

// Late reports whether a heartbeat of a client that was last heard at a moment has
// fallen due since, at a rhythm, and is late.
func Late(now, seen time.Time, rhythm time.Duration) bool { return !now.Before(Due(seen, rhythm)) }

// Due returns when the next heartbeat of such a client is late.
func Due(seen time.Time, rhythm time.Duration) time.Time { return seen.Add(late(rhythm)) }
