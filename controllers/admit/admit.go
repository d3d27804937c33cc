package admit

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Why a pod was let through as it is.
const (
	Unreadable = "unreadable" // the API server will say what is wrong with it
	Failed     = "failed"
)

// Mutate changes a pod that is created in a namespace and reports whether it did. A
// warning, if there is one, is shown to whoever creates the pod. It is called
// concurrently, and for a dry run like for any other.
type Mutate func(namespace string, p *corev1.Pod) (changed bool, warning string)

// Options configure a Handler.
type Options struct {
	Mutate Mutate // required
	Logger logr.Logger
	// Passed is told why a pod was let through as it is, except by Mutate. It must not
	// block; nil tells nobody.
	Passed func(why string)
}

// Handler answers the API server. It refuses no pod: an answer that says no would
// do so whatever the webhook's failurePolicy is. So what goes wrong is logged, and
// the pod is created as it is.
func Handler(opts Options) http.Handler {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		panic(err) // the types are compiled in
	}
	// A panic is to break the connection off, which lets the pod through; turned into
	// an answer it would refuse the pod.
	return &admission.Webhook{RecoverPanic: new(false), Handler: &handler{opts, admission.NewDecoder(scheme)}}
}

type handler struct {
	Options
	decoder admission.Decoder
}

// Handle implements admission.Handler.
func (h *handler) Handle(_ context.Context, req admission.Request) admission.Response {
	var pod corev1.Pod
	if err := h.decoder.Decode(req, &pod); err != nil {
		return h.pass(Unreadable, req, err)
	}
	changed, warning := h.Mutate(req.Namespace, &pod)
	if !changed {
		return admission.Allowed("")
	}
	after, err := json.Marshal(&pod)
	if err != nil {
		return h.pass(Failed, req, fmt.Errorf("encoding the pod: %w", err))
	}
	resp := admission.PatchResponseFromRaw(req.Object.Raw, after)
	if !resp.Allowed {
		return h.pass(Failed, req, fmt.Errorf("making the patch: %s", resp.Result.Message))
	}
	if warning != "" {
		resp.Warnings = append(resp.Warnings, warning)
	}
	return resp
}

func (h *handler) pass(why string, req admission.Request, err error) admission.Response {
	if h.Passed != nil {
		h.Passed(why)
	}
	h.Logger.Error(err, "A pod is created as it is", "namespace", req.Namespace, "pod", req.Name)
	return admission.Allowed("")
}

// Unsuited says why nobody waits for a pod or balances requests over it, empty if
// somebody may.
func Unsuited(p *corev1.Pod) string {
	switch owner := metav1.GetControllerOf(p); {
	case p.Annotations[corev1.MirrorPodAnnotationKey] != "":
		return "it is a static pod, which the API server cannot change"
	case owner != nil && owner.Kind == "Job", p.Spec.RestartPolicy != "" && p.Spec.RestartPolicy != corev1.RestartPolicyAlways:
		return "it runs to completion, so nobody balances requests over it"
	}
	return ""
}
