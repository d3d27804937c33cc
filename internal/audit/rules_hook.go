package audit

import "fmt"

// hookRules look at what a hand-written hook does, and say what does it instead.
// None advises to remove one while nothing else would do its work.
func hookRules() []Rule {
	return []Rule{
		{
			ID: "PreStopSleep", Severity: Info, check: hooks(
				func(h hook) bool { return h.sleeps },
				func(h hook) string { return "its hook sleeps " + h.span() },
				"the drain finds the time that consumers need, and gives the pod the grace for it"),
			About: "A preStop hook sleeps for a number that somebody measured once",
		},
		{
			ID: "PreStopActuator", Severity: Info, check: hooks(
				func(h hook) bool { return h.actuator },
				func(hook) string { return "its hook sets the status by the actuator of the service registry" },
				"Kureka shows an instance OUT_OF_SERVICE within a second of its pod's deletion"),
			About: "A preStop hook calls `/actuator/serviceregistry` or `/actuator/service-registry`",
		},
		{
			ID: "PreStopStatus", Severity: Info, check: hooks(
				func(h hook) bool { return h.status },
				func(hook) string { return "its hook sets the status in the registry" },
				"Kureka shows an instance OUT_OF_SERVICE within a second of its pod's deletion"),
			About: "A preStop hook sets the status of the instance in the registry",
		},
		{
			ID: "PreStopCancel", Severity: Warning, check: hooks(
				func(h hook) bool { return h.cancels },
				func(hook) string {
					return "its hook removes the registration while the client still renews it: a Eureka server would list it again"
				},
				"Kureka shows an instance OUT_OF_SERVICE until its pod is gone, and what its client still sends does not bring it back"),
			About: "A preStop hook deletes the registration of a client that lives and registers anew with its next heartbeat",
		},
		{
			ID: "PreStopShutdown", Severity: Warning, check: hooks(
				func(h hook) bool { return h.shutdown },
				func(hook) string { return "its hook ends the application before consumers know" },
				"the drain has it serve until consumers know, and SIGTERM then ends it as well"),
			About: "A preStop hook calls `/actuator/shutdown`",
		},
		{
			ID: "PreStopKill", Severity: Warning, check: hooks(
				func(h hook) bool { return h.kills },
				func(hook) string { return "its hook sends a signal, which the kubelet does itself after the hook" },
				"the drain delays SIGTERM, and nothing has to send another"),
			About: "A preStop hook calls `kill`",
		},
		{
			ID: "PreStopPipes", Severity: Info, check: hooks(
				func(h hook) bool { return h.pipes },
				func(hook) string { return "its hook pipes commands in a shell, which hides that one of them failed" },
				"the drain needs no shell in the image"),
			About: "A preStop hook is a shell script with pipes",
		},
	}
}

func (h hook) span() string {
	if h.seconds == 0 {
		return "for a time that is not in the manifest"
	}
	return fmt.Sprintf("%ds", h.seconds)
}

// hooks makes the check of what a hook does.
func hooks(does func(hook) bool, reason func(hook) string, instead string) func(*subject) []hit {
	return func(s *subject) []hit {
		var hits []hit
		for _, c := range s.containers {
			if c.hook.there && does(c.hook) {
				hits = append(hits, hit{c.Name, reason(c.hook), s.replacement(instead)})
			}
		}
		return hits
	}
}

// replacement says what may be done with a hook now. Where the drain leaves containers
// with hooks alone, removing a part would take away what it does and bring nothing.
func (s *subject) replacement(instead string) string {
	switch {
	case !s.drain.active:
		return s.drain.first() + "; what does it then: " + instead
	case s.policy.replaces:
		return "Remove the hook, once new pods have the annotation kureka.dev/drain-report; the drain replaces it already: " + instead
	}
	return "Remove the whole hook, not a part of it, once new pods have the annotation kureka.dev/drain-report, or the drain leaves the container alone: " + instead
}
