package audit

import (
	"fmt"
	"strings"

	"github.com/kureka/kureka/internal/audit/settings"
)

const (
	keyHostName  = "eureka.instance.hostname"
	keyPreferIP  = "eureka.instance.prefer-ip-address"
	keyIPAddress = "eureka.instance.ip-address"
)

func identityRules() []Rule {
	return []Rule{
		{
			ID: "SharedInstanceID", Severity: Error, check: sharedInstanceID,
			About:  "The instance id has no part that differs from pod to pod: they overwrite each other's registration",
			Advice: "Remove eureka.instance.instance-id, or put ${HOSTNAME} or ${random.value} into it",
		},
		{
			ID: "FixedAddress", Severity: Error, check: fixedAddress,
			About:  "The registered address is a fixed one, and a pod's is not",
			Advice: "Remove eureka.instance.ip-address, or set it from status.podIP",
		},
		{
			ID: "HostNameUnresolvable", Severity: Warning, check: hostNameUnresolvable,
			About:  "The registered host name is the pod's name or localhost, which nobody else can resolve",
			Advice: "Set eureka.instance.prefer-ip-address=true, or pods.hostName: PodIP in the policy",
		},
	}
}

func sharedInstanceID(s *subject) []hit {
	one := s.copies() == 1 && s.autoscaled == 0
	if one && !s.Overlaps {
		return nil
	}
	var hits []hit
	for _, c := range s.registering() {
		v, ok := c.settings.Text("eureka.instance.instance-id")
		if !ok || v.Certainty != settings.Known || v.Text == "" {
			continue
		}
		reason := fmt.Sprintf("every pod registers as %q (%s)", v.Text, v.From)
		if one {
			reason += ", in a rollout two at a time"
		}
		hits = append(hits, hit{container: c.Name, reason: reason})
	}
	return hits
}

func fixedAddress(s *subject) []hit {
	var hits []hit
	for _, c := range s.registering() {
		if v, ok := c.settings.Text(keyIPAddress); ok && v.Certainty == settings.Known && v.Text != "" {
			hits = append(hits, hit{container: c.Name, reason: fmt.Sprintf("every pod registers with the address %q (%s)", v.Text, v.From)})
		}
	}
	return hits
}

func hostNameUnresolvable(s *subject) []hit {
	if s.policy.namesByPodIP || s.Template.Spec.HostNetwork {
		return nil
	}
	var hits []hit
	for _, c := range s.registering() {
		if reason := s.unresolvable(&c); reason != "" {
			hits = append(hits, hit{container: c.Name, reason: reason})
		}
	}
	return hits
}

// unresolvable says why nobody can resolve what a client registers, empty if nothing
// shows that.
func (s *subject) unresolvable(c *container) string {
	if _, yes := c.settings.Is(keyPreferIP, true); yes {
		return ""
	}
	name, ok := c.settings.Text(keyHostName)
	switch {
	case ok && name.Text == settings.PodName:
		return fmt.Sprintf("it registers with the pod's name as host name (%s)", name.From)
	case ok && strings.EqualFold(name.Text, "localhost"):
		return fmt.Sprintf("it registers as localhost (%s)", name.From)
	case ok:
		return ""
	}
	if from, no := c.settings.Is(keyPreferIP, false); no {
		return fmt.Sprintf("it prefers its host name to its address (%s), and that is the pod's name", from)
	}
	return ""
}
