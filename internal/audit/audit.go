package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kureka/kureka/api/v1alpha1"
)

// Severity says how much a finding matters.
type Severity int

// Severities, the worst last.
const (
	// Info is worth knowing; nothing breaks.
	Info Severity = iota
	// Warning means failed calls now and then, with a rollout or a restart.
	Warning
	// Error means that something does not work.
	Error
)

func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	default:
		return "info"
	}
}

// MarshalJSON writes a severity as its word.
func (s Severity) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// ParseSeverity reads the word of a severity.
func ParseSeverity(word string) (Severity, error) {
	for s := Info; s <= Error; s++ {
		if s.String() == word {
			return s, nil
		}
	}
	return Info, fmt.Errorf("%q is none of info, warning and error", word)
}

// Input is what is looked at.
type Input struct {
	Workloads   []Workload
	Autoscalers []Autoscaler
	ConfigMaps  []corev1.ConfigMap
	Namespaces  []corev1.Namespace
	// ClusterPolicies and Policies are layered over what is built in. Where the status
	// of one says what is in force, that counts.
	ClusterPolicies []v1alpha1.ClusterRegistryPolicy
	Policies        []v1alpha1.RegistryPolicy
	// Webhooks are the names of what changes pods while they are created. They count
	// only if WebhooksKnown; else it is taken that Kureka's is there.
	Webhooks      []string
	WebhooksKnown bool
	// Unseen counts pods by the kind that made them, where that is none that is looked
	// at; nil if there are none.
	Unseen map[string]int
	// EveryWorkload takes each workload for a Eureka client, also where no manifest
	// shows one.
	EveryWorkload bool
}

// Finding is what a rule says about one workload.
type Finding struct {
	Rule      string   `json:"rule"`
	Severity  Severity `json:"severity"`
	Kind      string   `json:"kind"`
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Container string   `json:"container,omitempty"`
	// Source is the file and document that the workload was read from, if it was.
	Source string `json:"source,omitempty"`
	// Reason says in one line what was found, Advice what to do.
	Reason string `json:"reason"`
	Advice string `json:"advice"`
}

// Report is the answer to an Input.
type Report struct {
	// Findings, the worst first; the order is otherwise that of their names.
	Findings []Finding `json:"findings"`
	// Workloads is how many there were, Clients how many of them have a Eureka client
	// as far as their manifests show.
	Workloads int `json:"workloads"`
	Clients   int `json:"clients"`
}

// Check lets every rule look at every workload that has a Eureka client.
func Check(in *Input) Report {
	subjects := subjectsOf(in)
	r := Report{Findings: []Finding{}, Workloads: len(in.Workloads), Clients: len(subjects)}
	rules := Rules()
	for _, s := range subjects {
		for i := range rules {
			r.Findings = append(r.Findings, rules[i].findings(s)...)
		}
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(b.Severity, a.Severity), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Kind, b.Kind),
			strings.Compare(a.Name, b.Name), strings.Compare(a.Rule, b.Rule), strings.Compare(a.Container, b.Container))
	})
	return r
}

// Reaches reports whether any finding is at least that severe.
func (r *Report) Reaches(least Severity) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Severity >= least })
}

// findings asks one rule about one workload.
func (r *Rule) findings(s *subject) []Finding {
	if s.server && !r.servers {
		return nil
	}
	var found []Finding
	for _, h := range r.check(s) {
		f := Finding{
			Rule: r.ID, Severity: r.Severity, Kind: s.Kind, Namespace: s.Namespace, Name: s.Name, Source: s.Source,
			Container: h.container, Reason: h.reason, Advice: cmp.Or(h.advice, r.Advice),
		}
		found = append(found, f)
	}
	return found
}
