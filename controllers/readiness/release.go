package readiness

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/internal/cluster"
)

// policyPatience is how long the policies have to be read, once a pod is older than
// the bound that is built in, before that bound is used.
const policyPatience = 1500 * time.Millisecond

// writeAgain is how long a condition that was written, or could not be, has to show
// up in the view before it is written again.
const writeAgain = time.Second

// release is a pod that waits no longer, and why.
type release struct {
	pod       cluster.Awaiting
	condition corev1.PodCondition
}

// releases decides who waits no longer. It is not safe for concurrent use.
type releases struct {
	maxWait MaxWait
	listing func(now time.Time) bool

	tried  map[string]time.Time // when a condition was last written, by the UID of a pod that waits
	unread time.Time            // since when a pod would be released by a bound that may not be in force
}

// due returns the pods to release now, of those that wait. A pod that it returns is
// not returned again before writeAgain.
//
// While lists are refused nobody can learn of a pod, so nobody counts as listed; the
// bound holds all the same.
func (r *releases) due(now time.Time, waiting []cluster.Awaiting) []release {
	var out []release
	listing, tried, unread := r.listing(now), make(map[string]time.Time, len(waiting)), false
	for _, p := range waiting {
		wait, read := r.maxWait(p.Namespace)
		old := now.Sub(p.Created) >= wait
		unread = unread || old && !read
		if at, ok := r.tried[p.UID]; ok && now.Sub(at) < writeAgain {
			tried[p.UID] = at
			continue
		}
		switch {
		case listing && p.Up != "":
			out = append(out, release{p, met(now, v1alpha1.ReasonRegistered, "Listed UP as "+p.Up)})
		case old && (read || r.patienceEnded(now)):
			out = append(out, release{p, met(now, v1alpha1.ReasonWaitedLongEnough, fmt.Sprintf("Not listed UP after %s (readinessGate.maxWaitSeconds)", wait))})
		default:
			continue
		}
		tried[p.UID] = now
	}
	r.tried = tried
	r.notePatience(now, unread)
	return out
}

func met(now time.Time, reason, message string) corev1.PodCondition {
	return corev1.PodCondition{
		Type: v1alpha1.PodRegistered, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now), Reason: reason, Message: message,
	}
}

func (r *releases) notePatience(now time.Time, unread bool) {
	switch {
	case !unread:
		r.unread = time.Time{}
	case r.unread.IsZero():
		r.unread = now
	}
}

func (r *releases) patienceEnded(now time.Time) bool {
	return !r.unread.IsZero() && now.Sub(r.unread) >= policyPatience
}
