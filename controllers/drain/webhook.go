package drain

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/controllers/admit"
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
	Injected   = "injected" // it got its hook
	Skipped    = "skipped"  // it is left alone, and its report says why
	Unwanted   = "none"     // no drain is wanted, or it has all it needs
	Unreadable = admit.Unreadable
	Failed     = admit.Failed
)

// Settings returns what is in force for a namespace, every field set.
type Settings func(namespace string) v1alpha1.Drain

// injector answers the API server's questions about pods that are being created.
type injector struct {
	settings Settings
	fetching Fetching
	hold     *holder
	noSleep  string // why no pod can sleep, empty if they can
	done     func(outcome string)
}

// mutate gives a pod its hook. It is an admit.Mutate.
func (i *injector) mutate(namespace string, pod *corev1.Pod) (changed bool, warning string) {
	d := i.settings(namespace)
	if d.Mode == v1alpha1.DrainDisabled || pod.Labels[OptInLabel] == OptOut {
		i.done(Unwanted)
		return false, ""
	}
	report, changed := inject(pod, i.delay(&d), d.OnExistingHook)
	switch {
	case !changed:
		i.done(Unwanted)
		return false, ""
	case report.Skipped != "":
		i.done(Skipped)
		return true, ""
	}
	i.done(Injected)
	if len(report.Kept) > 0 {
		warning = fmt.Sprintf("kureka: the preStop hook of %s stays, see drain.onExistingHook", strings.Join(report.Kept, ", "))
	}
	return true, warning
}

// delay is how the end of a pod is delayed that is created now.
func (i *injector) delay(d *v1alpha1.Drain) delay {
	seconds, how := length(d, i.fetching)
	if d.Mode == v1alpha1.DrainHold {
		held, err := i.hold.upTo(int64(*d.MaxSeconds))
		if err == nil {
			return held
		}
		how = fmt.Sprintf("%s; drain.mode is %s, but %v", how, d.Mode, err)
	}
	if i.noSleep != "" {
		return sleepFor(0, i.noSleep)
	}
	return sleepFor(seconds, how)
}
