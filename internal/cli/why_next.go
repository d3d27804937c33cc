package cli

import (
	"fmt"
	"slices"
)

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

// present leaves out what there was nothing to say for.
func present(lines []string) []string {
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
}
