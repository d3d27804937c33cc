package readiness

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kureka/kureka/api/v1alpha1"
)

// Path is where the API server asks about pods that opt in.
const Path = "/gate-pods"

// OptInLabel opts a namespace or a pod in with the value Enabled; on a pod the
// value OptOut opts it out again.
const OptInLabel = "kureka.dev/readiness-gate"

// OptOut is the value of OptInLabel that leaves a pod alone.
const OptOut = "Disabled"

// injector answers the API server's questions about pods that are being created.
// It remembers nothing, so a dry run is answered like any other.
type injector struct {
	decoder admission.Decoder
	log     logr.Logger
}

// NewInjector returns what gives pods their readiness gate.
func NewInjector(log logr.Logger) (admission.Handler, error) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("registering the types of pods: %w", err)
	}
	return &injector{decoder: admission.NewDecoder(scheme), log: log}, nil
}

// Handle implements admission.Handler. It refuses no pod: what goes wrong is logged,
// and the pod is created as it is.
func (i *injector) Handle(_ context.Context, req admission.Request) admission.Response {
	var pod corev1.Pod
	if err := i.decoder.Decode(req, &pod); err != nil {
		return i.pass(req, err) // the API server will say what is wrong with it
	}
	if !inject(&pod) {
		return admission.Allowed("")
	}
	after, err := json.Marshal(&pod)
	if err != nil {
		return i.pass(req, fmt.Errorf("encoding the pod: %w", err))
	}
	resp := admission.PatchResponseFromRaw(req.Object.Raw, after)
	if !resp.Allowed {
		return i.pass(req, fmt.Errorf("making the patch: %s", resp.Result.Message))
	}
	return resp
}

func (i *injector) pass(req admission.Request, err error) admission.Response {
	i.log.Error(err, "A pod gets no readiness gate", "namespace", req.Namespace, "pod", req.Name)
	return admission.Allowed("")
}

// inject gives a pod the readiness gate and reports whether it changed anything.
func inject(p *corev1.Pod) bool {
	gate := corev1.PodReadinessGate{ConditionType: v1alpha1.PodRegistered}
	if p.Labels[OptInLabel] == OptOut || isUnsuited(p) || slices.Contains(p.Spec.ReadinessGates, gate) {
		return false
	}
	p.Spec.ReadinessGates = append(p.Spec.ReadinessGates, gate)
	return true
}

// isUnsuited reports whether nobody waits for the pod to be ready: it runs to
// completion, or it is a static pod, which the API server cannot change.
func isUnsuited(p *corev1.Pod) bool {
	owner := metav1.GetControllerOf(p)
	return p.Annotations[corev1.MirrorPodAnnotationKey] != "" || owner != nil && owner.Kind == "Job" ||
		p.Spec.RestartPolicy != "" && p.Spec.RestartPolicy != corev1.RestartPolicyAlways
}
