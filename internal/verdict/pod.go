package verdict

import (
	"time"

	"github.com/kureka/kureka/internal/evidence"
)

// abruptHold is how long a pod that vanished together with its node is kept out
// of service before it is removed, unless its heartbeats stop earlier.
const abruptHold = 60 * time.Second

func podGone(in Input) (string, time.Time, bool) {
	switch {
	case in.Gone == nil:
		return "", time.Time{}, false
	case in.Gone.Replaced:
		return "a newer pod has its name", time.Time{}, true
	case !in.Gone.Abrupt:
		return "deleted", time.Time{}, true
	case in.Now.Sub(in.Gone.At) >= abruptHold:
		return "vanished with its node " + abruptHold.String() + " ago", time.Time{}, true
	case in.Now.Sub(in.Seen) > late(in.Interval):
		return "vanished with its node and its heartbeats are late", time.Time{}, true
	}
	return "", time.Time{}, false
}

// late is the silence after which a rhythm counts as broken.
func late(interval time.Duration) time.Duration { return interval + 3*time.Second }

func podGoneWithNode(in Input) (string, time.Time, bool) {
	if in.Gone == nil || !in.Gone.Abrupt {
		return "", time.Time{}, false
	}
	until := in.Gone.At.Add(abruptHold)
	if l := Due(in.Seen, in.Interval); l.Before(until) {
		until = l
	}
	return "waiting for its heartbeats to stop", until, true
}

func podFinished(in Input) (string, time.Time, bool) {
	return "phase " + string(in.Pod.Phase), time.Time{}, in.Pod.Terminal()
}

func podDeleting(in Input) (string, time.Time, bool) {
	return "", time.Time{}, in.Pod.Deleting
}

func podDisrupted(in Input) (string, time.Time, bool) {
	return in.Pod.Disruption, time.Time{}, in.Pod.Disruption != ""
}

func containerDown(in Input) (string, time.Time, bool) {
	if in.Life == nil || in.Life.Container.ID == "" {
		return "", time.Time{}, false // never started: nothing has ended
	}
	return "container " + in.Life.Container.Name, time.Time{}, !in.Life.Container.Running
}

func containerRestarted(in Input) (string, time.Time, bool) {
	l := in.Life
	if l == nil || l.Baseline == "" || l.Container.ID == l.Baseline {
		return "", time.Time{}, false
	}
	if l.Container.ID == "" && !l.Container.Ended {
		return "", time.Time{}, false // it ran before it ever started: this is told from the past
	}
	return "container " + l.Container.Name, time.Time{}, !l.Acknowledged(in.Now, in.Node)
}

// Acknowledged reports whether the new incarnation has been heard: any request
// after the change was seen, or a registration after the old incarnation ended.
// The second matters because a fast process registers before the kubelet has
// told anybody that it runs. The end is told in whole seconds, so what the old
// incarnation registered in its last second must be excluded; but if the new one began
// within that same second, it is the likelier to have registered in it.
func (l *Life) Acknowledged(now time.Time, node *evidence.Node) bool {
	if l.Request.After(l.Changed) {
		return true
	}
	if l.Container.Finished.IsZero() {
		return false
	}
	over := l.Container.Finished
	if began := l.Container.Started; began.IsZero() || began.After(over) {
		over = over.Add(time.Second)
	}
	return !l.Registration.Before(node.Moment(now, over))
}

func endpointTerminating(in Input) (string, time.Time, bool) {
	return "", time.Time{}, in.SliceTerminating
}

// podNotReady looks for a readiness that the kubelet has written. The node
// lifecycle controller writes False too, from what it thinks of the node, but
// leaves ContainersReady as it was.
func podNotReady(in Input) (string, time.Time, bool) {
	p := in.Pod
	switch {
	case p.UID == "" || p.WorksForKubelet(), in.Kept != nil && in.Kept.NeedsNoReadiness:
		return "", time.Time{}, false
	case in.NotReadySince.IsZero():
		return "", time.Time{}, true
	}
	from := in.NotReadySince.Add(in.Policy.ReadinessHold)
	if in.Now.Before(from) {
		return "", from, false
	}
	return "since " + in.NotReadySince.UTC().Format(time.RFC3339), time.Time{}, true
}

// StatusAnnotation of a pod with the value OutOfServiceStatus asks for its
// instances to be out of service, until the time that UntilAnnotation names in RFC
// 3339, or for as long as it is there.
const (
	StatusAnnotation   = "kureka.dev/status"
	OutOfServiceStatus = "OutOfService"
	UntilAnnotation    = "kureka.dev/status-until"
)

// podOutOfServiceRequested goes by the wall clock, as whoever wrote the time did. A
// time that cannot be read ends nothing.
func podOutOfServiceRequested(in Input) (string, time.Time, bool) {
	if in.Pod.Annotations[StatusAnnotation] != OutOfServiceStatus {
		return "", time.Time{}, false
	}
	until, err := time.Parse(time.RFC3339, in.Pod.Annotations[UntilAnnotation])
	switch {
	case err != nil:
		return "", time.Time{}, true
	case in.Now.Before(until):
		return "until " + until.UTC().Format(time.RFC3339), until, true
	}
	return "", time.Time{}, false
}

// leftServiceAfter is how long EndpointSlices may lack a pod while they are
// rewritten one by one.
const leftServiceAfter = 3 * time.Second

func podLeftService(in Input) (string, time.Time, bool) {
	if in.Kept == nil || in.Kept.LeftService.IsZero() {
		return "", time.Time{}, false
	}
	from := in.Kept.LeftService.Add(leftServiceAfter)
	if in.Now.Before(from) {
		return "", from, false
	}
	return "since " + in.Kept.LeftService.UTC().Format(time.RFC3339), time.Time{}, true
}
