package audit

import (
	"fmt"
	"time"

	"github.com/kureka/kureka/api/v1alpha1"
)

const (
	keyRenewal  = "eureka.instance.lease-renewal-interval-in-seconds"
	keyDuration = "eureka.instance.lease-expiration-duration-in-seconds"
)

// What a Spring client asks for unless it is told otherwise, in seconds.
const (
	usualRenewal  = 30
	usualDuration = 90
)

func leaseRules() []Rule {
	return []Rule{
		{
			ID: "LeaseEndsBeforeRenewal", Severity: Error, check: leaseEndsBeforeRenewal,
			About:  "The lease is not longer than the renewal interval: the instance comes and goes",
			Advice: "Set the lease to three renewal intervals",
		},
		{
			ID: "LeaseBelowThreeRenewals", Severity: Warning, check: leaseBelowThreeRenewals,
			About:  "The lease is shorter than three renewal intervals: two lost heartbeats end it",
			Advice: "Set the lease to three renewal intervals; Kureka learns of dead pods from the cluster, so a short lease gains nothing",
		},
		{
			ID: "RenewalUnlikePolicy", Severity: Info, check: renewalUnlikePolicy,
			About:  "The renewal interval is not the policy's",
			Advice: "Remove the setting: Kureka learns of dead pods from the cluster, so more heartbeats gain nothing",
		},
		{
			ID: "LeaseOutOfBounds", Severity: Warning, check: leaseOutOfBounds,
			About:  "The policy's bounds do not allow the lease or the interval, and the nearest bound counts instead",
			Advice: "Ask for what the bounds allow, or change leases.bounds",
		},
		{
			ID: "StackedCaches", Severity: Info, check: stackedCaches,
			About:  "The registry is fetched more often than the load balancer's cache looks at it",
			Advice: "Set spring.cloud.loadbalancer.cache.ttl to the fetch interval or less",
		},
		{
			ID: "CacheUnlikePolicy", Severity: Warning, check: cacheUnlikePolicy,
			About:  "The load balancer's cache lives longer than the drain reckons with",
			Advice: "Raise drain.loadBalancerCacheSeconds in the policy, or lower spring.cloud.loadbalancer.cache.ttl",
		},
		{
			ID: "DeltaDisabled", Severity: Info, check: deltaDisabled,
			About:  "The whole registry is fetched each time, because deltas are disabled",
			Advice: "Remove eureka.client.disable-delta",
		},
	}
}

// lease is what a client asks for, in seconds, and where it says so. said is false
// if both numbers are the usual ones.
type lease struct {
	renewal, duration int
	from              string
	renewalSaid, said bool
}

func leaseOf(c *container) lease {
	l := lease{renewal: usualRenewal, duration: usualDuration}
	if n, from, ok := c.settings.Int(keyRenewal); ok && n > 0 {
		l.renewal, l.from, l.renewalSaid, l.said = n, from, true, true
	}
	if n, from, ok := c.settings.Int(keyDuration); ok && n > 0 {
		l.duration, l.from, l.said = n, from, true
	}
	return l
}

// leases makes the check of what a client asks for, if it says anything.
func leases(s *subject, reason func(lease) string) []hit {
	var hits []hit
	for _, c := range s.registering() {
		l := leaseOf(&c)
		if !l.said {
			continue
		}
		if r := reason(l); r != "" {
			hits = append(hits, hit{container: c.Name, reason: fmt.Sprintf("%s (%s)", r, l.from)})
		}
	}
	return hits
}

func leaseEndsBeforeRenewal(s *subject) []hit {
	return leases(s, func(l lease) string {
		if l.duration > l.renewal {
			return ""
		}
		return fmt.Sprintf("the lease is %ds, renewed every %ds", l.duration, l.renewal)
	})
}

func leaseBelowThreeRenewals(s *subject) []hit {
	return leases(s, func(l lease) string {
		if l.duration <= l.renewal || l.duration >= 3*l.renewal {
			return ""
		}
		return fmt.Sprintf("the lease is %ds, renewed every %ds", l.duration, l.renewal)
	})
}

func renewalUnlikePolicy(s *subject) []hit {
	return leases(s, func(l lease) string {
		if !l.renewalSaid || l.renewal == s.policy.renewal {
			return ""
		}
		return fmt.Sprintf("it renews every %ds, the policy's interval is %ds", l.renewal, s.policy.renewal)
	})
}

func leaseOutOfBounds(s *subject) []hit {
	b := &s.policy.bounds
	return leases(s, func(l lease) string {
		if n, out := outside(l.duration, b.MinDurationSeconds, b.MaxDurationSeconds); out {
			return fmt.Sprintf("the lease of %ds counts as %ds", l.duration, n)
		}
		if n, out := outside(l.renewal, b.MinRenewalIntervalSeconds, b.MaxRenewalIntervalSeconds); out {
			return fmt.Sprintf("the interval of %ds counts as %ds", l.renewal, n)
		}
		return ""
	})
}

// outside returns the bound that counts instead of a number, and whether one does.
func outside(n int, least, most *int32) (bound int32, out bool) {
	switch {
	case least != nil && n < int(*least):
		return *least, true
	case most != nil && n > int(*most):
		return *most, true
	}
	return 0, false
}

func stackedCaches(s *subject) []hit {
	var hits []hit
	for _, c := range s.clients() {
		n, from, ok := c.settings.Int(keyFetch)
		cache, said := cacheOf(&c)
		if !ok || n <= 0 || n >= usualRenewal || cache <= seconds(int64(n)) {
			continue
		}
		what := "which nobody has set"
		if said != "" {
			what = said
		}
		hits = append(hits, hit{container: c.Name, reason: fmt.Sprintf("it fetches every %ds (%s), and its load balancer caches for %s, %s", n, from, cache, what)})
	}
	return hits
}

// cacheOf is how long the load balancer uses what it has, and where that is said.
func cacheOf(c *container) (d time.Duration, from string) {
	if from, off := c.settings.Is("spring.cloud.loadbalancer.cache.enabled", false); off {
		return 0, from
	}
	if ttl, from, ok := c.settings.Duration(keyCache); ok && ttl >= 0 {
		return ttl, from
	}
	return usualCache, ""
}

func cacheUnlikePolicy(s *subject) []hit {
	if s.policy.drain == v1alpha1.DrainDisabled {
		return nil
	}
	var hits []hit
	for _, c := range s.clients() {
		if d, from := cacheOf(&c); from != "" && d > seconds(int64(s.policy.cache)) {
			reason := fmt.Sprintf("its load balancer caches for %s (%s), drain.loadBalancerCacheSeconds is %d", d, from, s.policy.cache)
			hits = append(hits, hit{container: c.Name, reason: reason})
		}
	}
	return hits
}

func deltaDisabled(s *subject) []hit {
	return s.whereSet("eureka.client.disable-delta", true, "eureka.client.disable-delta is true")
}

// whereSet finds the clients that a boolean is set for.
func (s *subject) whereSet(key string, want bool, reason string) []hit {
	var hits []hit
	for _, c := range s.clients() {
		if from, is := c.settings.Is(key, want); is {
			hits = append(hits, hit{container: c.Name, reason: fmt.Sprintf("%s (%s)", reason, from)})
		}
	}
	return hits
}
