package drain

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/controllers/admit"
)

// ReportAnnotation tells, on a pod, what was done to it and why; its value is a
// Report in JSON.
const ReportAnnotation = "kureka.dev/drain-report"

// usualGrace is the termination grace period of a pod that names none.
const usualGrace = 30

// Report is what was done to a pod.
type Report struct {
	// Skipped says why nothing was done; the rest is empty then.
	Skipped string `json:"skipped,omitempty"`
	// SleepSeconds is the preStop sleep that Containers got, or HoldSeconds for how
	// long Kureka holds their preStop request at most; How says how that was found.
	SleepSeconds int64    `json:"sleepSeconds,omitempty"`
	HoldSeconds  int64    `json:"holdSeconds,omitempty"`
	How          string   `json:"how,omitempty"`
	Containers   []string `json:"containers,omitempty"`
	// Replaced had a preStop hook, which is gone; Kept have one, which stays.
	Replaced []string `json:"replaced,omitempty"`
	Kept     []string `json:"kept,omitempty"`
	// GraceSeconds is the pod's termination grace period now.
	GraceSeconds int64 `json:"terminationGracePeriodSeconds,omitempty"`
}

// inject gives every container of a pod a preStop hook and the pod the grace for it,
// and writes the report into the pod. It reports whether it changed anything.
//
// Native sidecars get none: the kubelet stops them after the ordinary containers.
// A pod with a report is seen again after somebody else added containers, or is a
// copy: then only what is new gets the same hook.
func inject(p *corev1.Pod, d delay, existing v1alpha1.ExistingHook) (report Report, changed bool) {
	if before, ok := reportOf(p); ok {
		if before.Skipped != "" || !before.extend(p) {
			return before, false
		}
		report = before
	} else if report.Skipped = unsuited(p); report.Skipped == "" && d.seconds <= 0 {
		report.Skipped = "there is nothing to wait for: " + d.how
	} else if report.Skipped == "" {
		report = put(p, d, existing)
	}
	metav1.SetMetaDataAnnotation(&p.ObjectMeta, ReportAnnotation, report.json())
	return report, true
}

// reportOf reads what was done to a pod before. A delay that the pod has no grace
// for was never ours.
func reportOf(p *corev1.Pod) (r Report, ok bool) {
	text, ok := p.Annotations[ReportAnnotation]
	if !ok {
		return Report{}, false
	}
	err := json.Unmarshal([]byte(text), &r)
	seconds := r.SleepSeconds + r.HoldSeconds
	return r, err == nil && (r.Skipped != "" || seconds > 0 && seconds <= graceOf(p))
}

// extend gives containers that the report does not know the hook of one that it
// does, and reports whether there were any.
func (r *Report) extend(p *corev1.Pod) bool {
	first := slices.IndexFunc(p.Spec.Containers, func(c corev1.Container) bool { return hasHook(&c) && slices.Contains(r.Containers, c.Name) })
	if first < 0 {
		return false // somebody took it away
	}
	hook := p.Spec.Containers[first].Lifecycle.PreStop
	known := len(r.Containers) + len(r.Kept)
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		switch {
		case slices.Contains(r.Containers, c.Name), slices.Contains(r.Kept, c.Name):
		case hasHook(c):
			r.Kept = append(r.Kept, c.Name)
		default:
			r.give(c, hook)
		}
	}
	return len(r.Containers)+len(r.Kept) > known
}

// unsuited says why a pod is left alone, empty if it is not.
func unsuited(p *corev1.Pod) string {
	if p.Spec.TerminationGracePeriodSeconds != nil && *p.Spec.TerminationGracePeriodSeconds == 0 {
		return "its termination grace period is 0: it wants to be killed at once"
	}
	return admit.Unsuited(p)
}

func put(p *corev1.Pod, d delay, existing v1alpha1.ExistingHook) Report {
	r := Report{How: d.how}
	if d.token != "" {
		r.HoldSeconds = d.seconds
	} else {
		r.SleepSeconds = d.seconds
	}
	hook := d.hook(graceOf(p))
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		switch {
		case hasHook(c) && existing != v1alpha1.ReplaceHook:
			r.Kept = append(r.Kept, c.Name)
			continue
		case hasHook(c):
			r.Replaced = append(r.Replaced, c.Name)
		}
		r.give(c, hook)
	}
	if len(r.Containers) == 0 {
		return Report{Skipped: fmt.Sprintf("every container has a preStop hook of its own, and drain.onExistingHook is %s", v1alpha1.KeepHook), Kept: r.Kept}
	}
	if d.token != "" {
		metav1.SetMetaDataAnnotation(&p.ObjectMeta, v1alpha1.DrainHoldAnnotation, d.token)
	}
	r.GraceSeconds = graceOf(p) + d.seconds
	p.Spec.TerminationGracePeriodSeconds = &r.GraceSeconds
	return r
}

func graceOf(p *corev1.Pod) int64 {
	if p.Spec.TerminationGracePeriodSeconds == nil {
		return usualGrace
	}
	return *p.Spec.TerminationGracePeriodSeconds
}

func hasHook(c *corev1.Container) bool { return c.Lifecycle != nil && c.Lifecycle.PreStop != nil }

func (r *Report) give(c *corev1.Container, hook *corev1.LifecycleHandler) {
	if c.Lifecycle == nil {
		c.Lifecycle = &corev1.Lifecycle{}
	}
	c.Lifecycle.PreStop = hook.DeepCopy()
	r.Containers = append(r.Containers, c.Name)
}

func (r *Report) json() string {
	text, err := json.Marshal(r)
	if err != nil {
		return `{"skipped":"the report cannot be written"}` // strings and numbers always can
	}
	return string(text)
}
