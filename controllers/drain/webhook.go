package drain

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kureka/kureka/api/v1alpha1"
)

// OptInLabel opts a namespace or a pod in with the value Enabled; on a pod the
// value Disabled opts it out again.
const OptInLabel = "kureka.dev/drain"

// Values of OptInLabel.
const (
	OptIn  = "Enabled"
	OptOut = "Disabled"
)

// Outcomes of a question about a pod.
const (
	Injected   = "injected"   // it got its sleep
	Skipped    = "skipped"    // it is left alone, and its report says why
	Unwanted   = "none"       // no drain is wanted, or it has all it needs
	Unreadable = "unreadable" // it is let through as it is
	Failed     = "failed"
)

// Settings returns what is in force for a namespace, every field set.
type Settings func(namespace string) v1alpha1.Drain

// injector answers the API server's questions about pods that are being created.
type injector struct {
	settings Settings
	fetching Fetching
	decoder  admission.Decoder
	log      logr.Logger
	done     func(outcome string)
}

// Handle implements admission.Handler. It refuses no pod: what goes wrong is logged,
// and the pod is created as it is.
func (i *injector) Handle(_ context.Context, req admission.Request) admission.Response {
	var pod corev1.Pod
	if err := i.decoder.Decode(req, &pod); err != nil {
		return i.pass(Unreadable, req, err) // the API server will say what is wrong with it
	}
	d := i.settings(req.Namespace)
	if d.Mode == v1alpha1.DrainDisabled || pod.Labels[OptInLabel] == OptOut {
		i.done(Unwanted)
		return admission.Allowed("")
	}
	seconds, how := length(&d, i.fetching)
	report, changed := inject(&pod, seconds, how, d.OnExistingHook)
	if !changed {
		i.done(Unwanted)
		return admission.Allowed("")
	}
	after, err := json.Marshal(&pod)
	if err != nil {
		return i.pass(Failed, req, fmt.Errorf("encoding the pod: %w", err))
	}
	resp := admission.PatchResponseFromRaw(req.Object.Raw, after)
	if !resp.Allowed {
		return i.pass(Failed, req, fmt.Errorf("making the patch: %s", resp.Result.Message))
	}
	if report.Skipped != "" {
		i.done(Skipped)
		return resp
	}
	i.done(Injected)
	if len(report.Kept) > 0 {
		resp.Warnings = append(resp.Warnings, fmt.Sprintf("kureka: the preStop hook of %s stays, see drain.onExistingHook", strings.Join(report.Kept, ", ")))
	}
	return resp
}

// pass lets a pod through as it is. An answer that says no would refuse it, whatever
// the webhook's failurePolicy is.
func (i *injector) pass(outcome string, req admission.Request, err error) admission.Response {
	i.done(outcome)
	i.log.Error(err, "A pod gets no drain", "namespace", req.Namespace, "pod", req.Name)
	return admission.Allowed("")
}
