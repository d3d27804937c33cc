package audit

import (
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kureka/kureka/api/v1alpha1"
)

// Label by which namespaces and pods opt in to the drain, or out of it.
const (
	drainLabel   = "kureka.dev/drain"
	drainEnabled = "Enabled"
)

// drainState says whether the drain takes part in the end of a workload's pods.
type drainState struct {
	active bool
	// unsuited says why the drain leaves such pods alone, whatever is switched on.
	unsuited string
	// missing are the steps that would turn it on.
	missing []string
}

// drainWebhook ends the names of Kureka's webhooks for the drain.
const drainWebhook = ".drain.kureka.dev"

// drains knows which namespaces opt in, and whether there is nobody to do it.
type drains struct {
	labels map[string]string
	nobody bool
}

func drainsOf(in *Input) drains {
	d := drains{labels: map[string]string{}}
	for i := range in.Namespaces {
		d.labels[in.Namespaces[i].Name] = in.Namespaces[i].Labels[drainLabel]
	}
	d.nobody = in.WebhooksKnown && !slices.ContainsFunc(in.Webhooks, func(name string) bool { return strings.HasSuffix(name, drainWebhook) })
	return d
}

func (d *drains) of(w *Workload, p *policy) drainState {
	var s drainState
	if g := w.Template.Spec.TerminationGracePeriodSeconds; g != nil && *g == 0 {
		s.unsuited = "its grace period is 0"
	}
	if w.Ends {
		s.unsuited = "it runs to completion"
	}
	if d.nobody {
		s.missing = append(s.missing, "install Kureka's webhook, which is not there")
	}
	if p.drain == v1alpha1.DrainDisabled {
		s.missing = append(s.missing, "set drain.mode in the policy")
	}
	switch own := w.Template.Labels[drainLabel]; {
	case own == drainEnabled:
	case own != "":
		s.missing = append(s.missing, "take the label "+drainLabel+"="+own+" from the pods")
	case d.labels[w.Namespace] != drainEnabled:
		s.missing = append(s.missing, "label the namespace or the pods "+drainLabel+"="+drainEnabled)
	}
	s.active = len(s.missing) == 0 && s.unsuited == ""
	return s
}

// first says what has to be done before a hand-written hook may go.
func (s *drainState) first() string {
	if s.unsuited != "" {
		return "Kureka's drain leaves this pod alone, because " + s.unsuited + ": keep the hook"
	}
	return "First turn on Kureka's drain (docs/drain.md): " + strings.Join(s.missing, ", ") + ". Until then keep the hook"
}

// steps says how to turn it on.
func (s *drainState) steps() string {
	return "Turn on Kureka's drain (docs/drain.md): " + strings.Join(s.missing, ", ")
}

// drained lists the containers whose hooks are Kureka's, as a pod tells that exists.
func drained(template *corev1.PodTemplateSpec) []string {
	var report struct {
		Containers []string `json:"containers"`
	}
	text := template.Annotations["kureka.dev/drain-report"]
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		return nil // it is somebody else's, or none
	}
	return report.Containers
}
