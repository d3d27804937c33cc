package audit

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kureka/kureka/internal/audit/settings"
)

// usualGrace is the termination grace period of a pod that names none, in seconds.
const usualGrace = 30

// What Spring Cloud does unless it is told otherwise, and what calls take that are on
// their way.
const (
	usualFetch = 30 * time.Second
	usualCache = 35 * time.Second
	onTheirWay = 5 * time.Second
)

// Keys that more than one rule reads.
const (
	keyFetch = "eureka.client.registry-fetch-interval-seconds"
	keyCache = "spring.cloud.loadbalancer.cache.ttl"
)

// subject is a workload with everything that rules ask about it.
type subject struct {
	*Workload
	policy     *policy
	drain      drainState
	containers []container // ordinary ones, in their order
	// slowest is how long the slowest consumer among all workloads uses an instance
	// that has left, and slowestName whose settings that are, if it is one of them.
	slowest     time.Duration
	slowestName string
	autoscaled  int32
	server      bool     // is itself a Eureka server
	problems    []string // of reading the settings
}

// container is an ordinary container with what it is told.
type container struct {
	*corev1.Container
	settings *settings.Settings
	client   bool // a Eureka client, as far as its manifest shows
	hook     hook
}

// hit is what a rule found.
type hit struct {
	container string
	reason    string
	advice    string // instead of the rule's own, if there is one
}

func subjectsOf(in *Input) []*subject {
	maps := configMapsOf(in)
	policies := policiesOf(in)
	drains := drainsOf(in)
	var subjects []*subject
	for i := range in.Workloads {
		w := &in.Workloads[i]
		s := &subject{Workload: w, policy: policies.of(w.Namespace), autoscaled: leastOf(in, w)}
		if !s.read(maps) && !in.EveryWorkload {
			continue
		}
		s.drain = drains.of(w, s.policy)
		subjects = append(subjects, s)
	}
	slowest, name := slowestOf(subjects)
	for _, s := range subjects {
		s.slowest, s.slowestName = slowest, name
	}
	return subjects
}

// read fills the containers and reports whether any of them has a Eureka client.
func (s *subject) read(maps map[string]*corev1.ConfigMap) bool {
	found := false
	ours := drained(&s.Template)
	pod := &s.Template.Spec
	for i := range pod.Containers {
		c := &pod.Containers[i]
		known, problems := settings.Read(pod, c, func(name string) *corev1.ConfigMap { return maps[s.Namespace+"/"+name] })
		for _, p := range problems {
			s.problems = append(s.problems, c.Name+": "+p)
		}
		client := isClient(c, known)
		found = found || client
		s.server = s.server || isServer(known)
		h := hookOf(c)
		if slices.Contains(ours, c.Name) {
			h = hook{}
		}
		s.containers = append(s.containers, container{c, known, client, h})
	}
	return found
}

// isClient says whether a container shows that it has a Eureka client: a setting of
// one, the address of a registry, or a hook that talks about it.
func isClient(c *corev1.Container, known *settings.Settings) bool {
	if _, off := known.Is("eureka.client.enabled", false); off {
		return false
	}
	return known.Has("eureka") || known.Contains("/eureka") || hookOf(c).aboutRegistry()
}

// isServer says whether a container is a Eureka server: it has settings of one, and
// does not register with another.
func isServer(known *settings.Settings) bool {
	_, alone := known.Is("eureka.client.register-with-eureka", false)
	_, blind := known.Is("eureka.client.fetch-registry", false)
	return known.Has("eureka.server") && (alone || blind) || alone && blind
}

// clients are the containers with a Eureka client, or the only container.
func (s *subject) clients() []container {
	var clients []container
	for _, c := range s.containers {
		if c.client || len(s.containers) == 1 {
			clients = append(clients, c)
		}
	}
	return clients
}

// registering are the clients that do not say that they only look others up.
func (s *subject) registering() []container {
	var clients []container
	for _, c := range s.clients() {
		if _, no := c.settings.Is("eureka.client.register-with-eureka", false); !no {
			clients = append(clients, c)
		}
	}
	return clients
}

// grace is the termination grace period in seconds, and whether the manifest says it.
func (s *subject) grace() (seconds int64, said bool) {
	if g := s.Template.Spec.TerminationGracePeriodSeconds; g != nil {
		return *g, true
	}
	return usualGrace, false
}

// copies is how many pods there are at least; 0 if the manifest does not say.
func (s *subject) copies() int32 {
	switch {
	case s.autoscaled > 0:
		return s.autoscaled
	case s.Replicas == nil:
		return 0
	}
	return *s.Replicas
}

// uses is how long a consumer goes on using an instance that has left, and whether
// anything says so.
func (c *container) uses() (d time.Duration, said bool) {
	fetch, cache := usualFetch, usualCache
	if n, _, ok := c.settings.Int(keyFetch); ok && n > 0 && n < 86_400 {
		fetch, said = time.Duration(n)*time.Second, true
	}
	if ttl, _, ok := c.settings.Duration(keyCache); ok && ttl >= 0 && ttl < 24*time.Hour {
		cache, said = ttl, true
	}
	if _, off := c.settings.Is("spring.cloud.loadbalancer.cache.enabled", false); off {
		cache, said = 0, true
	}
	return fetch + cache, said
}

// slowestOf returns how long the slowest consumer uses an instance that has left. As
// nobody knows all consumers, it is never less than what is usual unless each of the
// workloads says something else.
func slowestOf(subjects []*subject) (slowest time.Duration, name string) {
	usual := false
	for _, s := range subjects {
		if s.server {
			continue
		}
		for _, c := range s.clients() {
			d, said := c.uses()
			usual = usual || !said
			if said && d > slowest {
				slowest, name = d, strings.ToLower(s.Kind)+" "+s.Name
			}
		}
	}
	if d := usualFetch + usualCache; (usual || slowest == 0) && slowest < d {
		return d, ""
	}
	return slowest, name
}

func configMapsOf(in *Input) map[string]*corev1.ConfigMap {
	maps := make(map[string]*corev1.ConfigMap, len(in.ConfigMaps))
	for i := range in.ConfigMaps {
		m := &in.ConfigMaps[i]
		maps[m.Namespace+"/"+m.Name] = m
	}
	return maps
}

func leastOf(in *Input, w *Workload) int32 {
	for _, a := range in.Autoscalers {
		if a.Namespace == w.Namespace && a.Kind == w.Kind && a.Name == w.Name {
			return a.Least
		}
	}
	return 0
}
