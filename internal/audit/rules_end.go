package audit

import (
	"fmt"
	"time"

	"github.com/kureka/kureka/api/v1alpha1"
)

// usualShutdown is what a process needs to end, if nobody says.
const usualShutdown = 10 * time.Second

func endRules() []Rule {
	return []Rule{
		{
			ID: "NoDrain", Severity: Warning, check: noDrain,
			About: "Nothing delays the end of the process, while consumers go on calling it",
		},
		{
			ID: "SleepTooShort", Severity: Warning, check: sleepTooShort,
			About: "The preStop hook is shorter than consumers use an instance that has left",
		},
		{
			ID: "DrainHeldBack", Severity: Warning, check: drainHeldBack,
			About:  "The drain is on, but leaves a container alone that has a preStop hook of its own",
			Advice: "Remove the hook, or set drain.onExistingHook: Replace in the policy",
		},
		{
			ID: "DrainTooShort", Severity: Warning, check: drainTooShort,
			About:  "The drain is on, but its policy allows less than consumers use an instance that has left",
			Advice: "Raise drain.seconds, or leave it to Auto, and drain.maxSeconds; or shorten the caches of the consumers",
		},
		{
			ID: "GraceTooShort", Severity: Error, check: graceTooShort,
			About:  "The preStop hook takes all of the termination grace period: the process is killed",
			Advice: "Set terminationGracePeriodSeconds to the time of the hook and what the process needs to end",
		},
		{
			ID: "GraceLeavesNoShutdown", Severity: Warning, check: graceLeavesNoShutdown,
			About:  "After the preStop hook the grace period is shorter than the application's own shutdown",
			Advice: "Raise terminationGracePeriodSeconds by what is missing",
		},
		{
			ID: "GraceZero", Severity: Warning, check: graceZero,
			About:  "The termination grace period is 0: the process is killed at once, and the drain leaves the pod alone",
			Advice: "Give the pod a grace period; it is raised by the drain, and what it says is for the process",
		},
	}
}

func noDrain(s *subject) []hit {
	if s.drain.active || s.drain.unsuited != "" {
		return nil
	}
	for _, c := range s.registering() {
		if c.hook.mayDelay() {
			return nil
		}
	}
	if len(s.registering()) == 0 {
		return nil
	}
	return []hit{{
		reason: fmt.Sprintf("nothing delays SIGTERM, and consumers use an instance that has left for up to %s%s", s.slowest, s.whose()),
		advice: s.drain.steps(),
	}}
}

// whose says whose caches are the longest.
func (s *subject) whose() string {
	if s.slowestName == "" {
		return ""
	}
	return " (" + s.slowestName + ")"
}

func sleepTooShort(s *subject) []hit {
	if s.drain.active && s.policy.replaces || s.drain.unsuited != "" {
		return nil
	}
	var hits []hit
	for _, c := range s.registering() {
		if n := c.hook.waits(); n > 0 && seconds(n) < s.slowest+onTheirWay {
			const instead = "the drain waits as long as the consumers need"
			advice := s.drain.steps() + "; " + instead
			if s.drain.active {
				advice = s.replacement(instead)
			}
			reason := fmt.Sprintf("the hook sleeps %ds, consumers use an instance that has left for up to %s%s", n, s.slowest, s.whose())
			hits = append(hits, hit{c.Name, reason, advice})
		}
	}
	return hits
}

func drainHeldBack(s *subject) []hit {
	if !s.drain.active || s.policy.replaces {
		return nil
	}
	var hits []hit
	for _, c := range s.containers {
		if c.hook.there {
			hits = append(hits, hit{container: c.Name, reason: "its own preStop hook stays, so the drain does nothing for this container"})
		}
	}
	return hits
}

func drainTooShort(s *subject) []hit {
	if !s.drain.active || len(s.registering()) == 0 {
		return nil
	}
	allowed, from := s.policy.limit, "drain.maxSeconds"
	if n := s.policy.sleep; n > 0 && n < allowed && s.policy.drain == v1alpha1.DrainSleep {
		allowed, from = n, "drain.seconds"
	}
	if seconds(int64(allowed)) >= s.slowest+onTheirWay || from == "drain.seconds" && s.slowestName == "" {
		return nil // a number that somebody chose, and nothing speaks against it
	}
	return []hit{{reason: fmt.Sprintf("%s is %d, consumers use an instance that has left for up to %s%s", from, allowed, s.slowest, s.whose())}}
}

// raised says whether the drain will raise the grace period.
func (s *subject) raised() bool {
	if !s.drain.active {
		return false
	}
	for _, c := range s.containers {
		if !c.hook.there || s.policy.replaces {
			return true
		}
	}
	return false
}

func graceTooShort(s *subject) []hit {
	grace, said := s.grace()
	if s.raised() || grace == 0 {
		return nil
	}
	var hits []hit
	for _, c := range s.containers {
		if n := c.hook.waits(); n >= grace {
			hits = append(hits, hit{container: c.Name, reason: fmt.Sprintf("the hook sleeps %ds of a grace period of %ds%s", n, grace, unless(said))})
		}
	}
	return hits
}

func unless(said bool) string {
	if said {
		return ""
	}
	return ", which nobody has set"
}

func graceLeavesNoShutdown(s *subject) []hit {
	grace, said := s.grace()
	if grace == 0 {
		return nil
	}
	var hits []hit
	for _, c := range s.registering() {
		n := c.hook.waits()
		if s.raised() {
			n = 0
		}
		needs, why := shutdownOf(&c)
		if left := seconds(grace - n); n < grace && (n > 0 || why != "") && left < needs {
			reason := fmt.Sprintf("of a grace period of %ds%s %s are left after the hook, its shutdown may take %s%s", grace, unless(said), left, needs, why)
			hits = append(hits, hit{container: c.Name, reason: reason})
		}
	}
	return hits
}

// shutdownOf is how long a process may take to end, and who says so.
func shutdownOf(c *container) (d time.Duration, why string) {
	if phase, from, ok := c.settings.Duration("spring.lifecycle.timeout-per-shutdown-phase"); ok {
		return phase, fmt.Sprintf(" (%s)", from)
	}
	return usualShutdown, ""
}

func graceZero(s *subject) []hit {
	if grace, _ := s.grace(); grace != 0 || s.Ends {
		return nil
	}
	return []hit{{reason: "terminationGracePeriodSeconds is 0"}}
}

func seconds(n int64) time.Duration { return time.Duration(min(n, 1e9)) * time.Second }
