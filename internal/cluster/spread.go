package cluster

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kureka/kureka/internal/verdict"
)

// Reasons of changes about applications that pods of several namespaces register.
const (
	// ReasonSeveralNamespaces tells that one more namespace registers an application.
	ReasonSeveralNamespaces = "AppInSeveralNamespaces"
	// ReasonOtherNamespace tells that it is not listed because another came first.
	ReasonOtherNamespace = "OtherNamespaceFirst"
)

// settling is how long after a start without memory it is not yet told by the order of
// registrations who came first: everybody comes back then, in any order.
const settling = 5 * time.Minute

// spread is the namespaces whose pods register one application.
type spread struct {
	first string // the namespace that came first
	by    map[string]map[*instance]struct{}
	told  map[string]bool // namespaces that were told of

	ranked bool // it was there before a restart, so first is who came first
}

// oldest is when the oldest pod of a namespace was created.
func (s *spread) oldest(namespace string) (oldest time.Time) {
	for in := range s.by[namespace] {
		if created := in.pod.Created; oldest.IsZero() || created.Before(oldest) {
			oldest = created
		}
	}
	return oldest
}

// outranked reports whether an instance's namespace did not come first.
func (c *Cluster) outranked(in *instance) bool { return c.comesSecond(in.key.App, in.pod) }

// comesSecond reports whether only another namespace may register the application,
// because it came first. Just after a start without memory the age of the pods decides,
// later the order of registrations.
func (c *Cluster) comesSecond(app string, p *pod) bool {
	s := c.spreads[app]
	if c.fallback.AcrossNamespaces != verdict.FirstNamespaceOnly || p == nil || s == nil || s.first == p.Namespace || len(s.by[s.first]) == 0 {
		return false
	}
	return !c.takesOver(s, p)
}

func (c *Cluster) takesOver(s *spread, p *pod) bool {
	if s.ranked {
		return false
	}
	young := c.started.IsZero() || c.lastTick.Sub(c.started) < settling
	return young && p.Created.Before(s.oldest(s.first))
}

// join counts an instance that is bound to a pod.
func (c *Cluster) join(in *instance) {
	s := c.spreads[in.key.App]
	namespace := in.pod.Namespace
	if s == nil {
		s = &spread{first: namespace, by: map[string]map[*instance]struct{}{}, told: map[string]bool{}}
		c.spreads[in.key.App] = s
	}
	if s.first != namespace && (len(s.by[namespace]) == 0 || c.takesOver(s, in.pod)) {
		c.contested[in.key.App] = struct{}{}
	}
	if s.first != namespace && c.takesOver(s, in.pod) {
		s.first = namespace
	}
	add(s.by, namespace, in)
}

// part is the opposite of join.
func (c *Cluster) part(in *instance) {
	s := c.spreads[in.key.App]
	if s == nil {
		return
	}
	drop(s.by, in.pod.Namespace, in)
	if len(s.by[in.pod.Namespace]) == 0 { // maybe only until it is bound anew
		c.contested[in.key.App] = struct{}{}
	}
}

// elect finds the namespace that is first now that the one before has none left.
func (s *spread) elect() {
	if len(s.by[s.first]) > 0 {
		return
	}
	s.first = slices.MinFunc(slices.Collect(maps.Keys(s.by)), func(a, b string) int {
		return cmp.Or(s.oldest(a).Compare(s.oldest(b)), strings.Compare(a, b))
	})
}

// tellSpread tells once that one more namespace registers an application.
func (c *Cluster) tellSpread(now time.Time, s *spread) {
	maps.DeleteFunc(s.told, func(namespace string, _ bool) bool { return len(s.by[namespace]) == 0 })
	reason := ReasonSeveralNamespaces
	if c.fallback.AcrossNamespaces == verdict.FirstNamespaceOnly {
		reason = ReasonOtherNamespace
	}
	if c.fallback.AcrossNamespaces == verdict.Merge {
		return
	}
	for namespace, members := range s.by {
		if namespace == s.first || s.told[namespace] {
			continue
		}
		s.told[namespace] = true
		in := slices.MinFunc(slices.Collect(maps.Keys(members)), func(a, b *instance) int { return strings.Compare(a.key.ID, b.key.ID) })
		ch := change(now, in, verdict.Verdict{Reason: reason, Witness: verdict.WitnessRegistry, Detail: "the namespace " + s.first + " registers it as well and came first"})
		ch.Effect = Noted
		c.report(ch)
	}
}

// showFirst lists an application's instances, or only those of the first
// namespace, as the policy says now.
func (c *Cluster) showFirst(now time.Time, app string) {
	s := c.spreads[app]
	if s == nil {
		return
	}
	if len(s.by) == 0 {
		delete(c.spreads, app)
		return
	}
	s.elect()
	c.tellSpread(now, s)
	for _, members := range s.by {
		for in := range members {
			if unlisted := c.outranked(in); in.unlisted != unlisted {
				in.unlisted = unlisted
				c.reg.Rebind(now, in.key, c.binding(in))
			}
		}
	}
	c.settle(now, app)
}

// sharedApps counts the applications that pods of several namespaces register.
func (c *Cluster) sharedApps() int {
	n := 0
	for _, s := range c.spreads {
		if len(s.by) > 1 {
			n++
		}
	}
	return n
}
