package audit

import (
	"fmt"
	"strings"
)

func settingRules() []Rule {
	return []Rule{
		{
			ID: "SelfPreservationDisabled", Severity: Info, check: selfPreservationDisabled, servers: true,
			About:  "Self-preservation of a Eureka server is disabled, usually because it kept dead instances",
			Advice: "Do not carry it over: Kureka removes dead pods in spite of self-preservation, which then guards living ones (selfPreservation in the policy)",
		},
		{
			ID: "SeveralRegistries", Severity: Info, check: severalRegistries,
			About:  "The client knows several registries; it registers with one at a time, and those that do not replicate each have a part",
			Advice: "Name one address, that of Kureka's Service, once the move is done",
		},
		{
			ID: "WebClientLimit", Severity: Info, check: webClientLimit,
			About:  "The WebClient transport reads at most 256 KiB of a response: with a larger registry every full fetch fails",
			Advice: "Set spring.codec.max-in-memory-size, or leave the usual transport",
		},
		{
			ID: "ActuatorExposed", Severity: Warning, check: actuatorExposed,
			About:  "Every page of the actuator that is switched on is open to whoever reaches the port",
			Advice: "Name the pages that are needed in management.endpoints.web.exposure.include; serviceregistry is one of them only as long as a hook calls it",
		},
		{
			ID: "SettingsUnreadable", Severity: Warning, check: settingsUnreadable, servers: true,
			About:  "Settings that the pod reads are not what they should be",
			Advice: "Mend the text; the other rules knew only what comes before",
		},
	}
}

func selfPreservationDisabled(s *subject) []hit {
	return s.whereSet("eureka.server.enable-self-preservation", false, "eureka.server.enable-self-preservation is false")
}

func severalRegistries(s *subject) []hit {
	var hits []hit
	for _, c := range s.clients() {
		v, ok := c.settings.Text("eureka.client.service-url.defaultZone")
		if n := strings.Count(v.Text, "://"); ok && n > 1 {
			hits = append(hits, hit{container: c.Name, reason: fmt.Sprintf("eureka.client.service-url.defaultZone names %d addresses (%s)", n, v.From)})
		}
	}
	return hits
}

func webClientLimit(s *subject) []hit {
	var hits []hit
	for _, h := range s.whereSet("eureka.client.webclient.enabled", true, "eureka.client.webclient.enabled is true, and spring.codec.max-in-memory-size is not set") {
		for _, c := range s.clients() {
			if _, set := c.settings.Text("spring.codec.max-in-memory-size"); c.Name == h.container && !set {
				hits = append(hits, h)
			}
		}
	}
	return hits
}

func actuatorExposed(s *subject) []hit {
	var hits []hit
	for _, c := range s.clients() {
		v, ok := c.settings.Text("management.endpoints.web.exposure.include")
		if ok && strings.Contains(v.Text, "*") {
			hits = append(hits, hit{container: c.Name, reason: fmt.Sprintf("management.endpoints.web.exposure.include is * (%s)", v.From)})
		}
	}
	return hits
}

func settingsUnreadable(s *subject) []hit {
	hits := make([]hit, 0, len(s.problems))
	for _, p := range s.problems {
		hits = append(hits, hit{reason: p})
	}
	return hits
}
