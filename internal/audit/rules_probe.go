package audit

import (
	"cmp"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

func probeRules() []Rule {
	return []Rule{
		{
			ID: "ReadinessLatch", Severity: Error, check: readinessLatch,
			About:  "Readiness asks for a health of which the status in the registry is a part, and the policy takes instances out that are not ready: once out, they stay out",
			Advice: "Have the probe ask for /actuator/health/readiness, or set pods.notReady: Ignore until it does (docs/readiness.md)",
		},
		{
			ID: "ReadinessOnHealth", Severity: Info, check: readinessOnHealth,
			About:  "The same where the policy ignores readiness: nothing latches, and the policy must not be changed before the probe is",
			Advice: "Have the probe ask for /actuator/health/readiness before anybody sets pods.notReady: OutOfService (docs/readiness.md)",
		},
		{
			ID: "LivenessOnHealth", Severity: Warning, check: livenessOnHealth,
			About:  "Liveness asks for a health of which the status in the registry is a part: an instance that is taken out of service is restarted",
			Advice: "Have the probe ask for /actuator/health/liveness",
		},
	}
}

func readinessLatch(s *subject) []hit {
	if !s.policy.outNotReady {
		return nil
	}
	return s.readinessAsksRegistry()
}

func readinessOnHealth(s *subject) []hit {
	if s.policy.outNotReady {
		return nil
	}
	return s.readinessAsksRegistry()
}

func (s *subject) readinessAsksRegistry() []hit {
	var hits []hit
	for _, c := range s.clients() {
		if page := asksRegistry(&c, c.ReadinessProbe, "readiness"); page != "" {
			hits = append(hits, hit{container: c.Name, reason: "the readiness probe asks for " + page})
		}
	}
	return hits
}

func livenessOnHealth(s *subject) []hit {
	var hits []hit
	for _, c := range s.clients() {
		if page := asksRegistry(&c, c.LivenessProbe, "liveness"); page != "" {
			hits = append(hits, hit{container: c.Name, reason: "the liveness probe asks for " + page})
		}
	}
	return hits
}

var wholeHealth = regexp.MustCompile(`actuator/health/?(?:["'?\s]|$)`)

// asksRegistry returns the page that a probe asks for if the instance's own status in
// the registry is a part of it.
func asksRegistry(c *container, p *corev1.Probe, group string) string {
	if p == nil || registryLeftOut(c) {
		return ""
	}
	page := pageOf(p)
	base := "/" + strings.Trim(cmp.Or(text(c, "management.endpoints.web.base-path"), "/actuator"), "/")
	path, _, _ := strings.Cut(page, "?")
	path = strings.TrimRight(path, "/")
	switch {
	case wholeHealth.MatchString(page), strings.HasSuffix(path, strings.TrimSuffix(base, "/")+"/health") && base != "/":
		return page
	case strings.HasSuffix(path, "/health/"+group) && includesRegistry(text(c, "management.endpoint.health.group."+group+".include")):
		return page + ", whose group includes the registry"
	}
	return ""
}

// pageOf is what a probe asks for: a path, or a whole command.
func pageOf(p *corev1.Probe) string {
	switch {
	case p.HTTPGet != nil:
		return p.HTTPGet.Path
	case p.Exec != nil:
		return strings.Join(p.Exec.Command, " ")
	}
	return ""
}

// registryLeftOut says whether the registry is no part of the health.
func registryLeftOut(c *container) bool {
	for _, key := range []string{
		"spring.cloud.discovery.client.composite-indicator.enabled",
		"spring.cloud.discovery.client.health-indicator.enabled",
		"management.health.discoverycomposite.enabled",
	} {
		if _, off := c.settings.Is(key, false); off {
			return true
		}
	}
	return false
}

func includesRegistry(group string) bool {
	for name := range strings.SplitSeq(group, ",") {
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "*", "discoverycomposite", "eureka":
			return true
		}
	}
	return false
}

// text is a setting that is known, else empty.
func text(c *container, key string) string {
	v, ok := c.settings.Text(key)
	if !ok || v.Certainty != 0 {
		return ""
	}
	return v.Text
}
