package verdict

import (
	"strings"
	"time"

	"github.com/kureka/kureka/internal/evidence"
)

// abruptHold is how long a pod that vanished together with its node is kept out
// of service before it is removed, unless its heartbeats stop earlier.
const abruptHold = 60 * time.Second

// Check is one rule.
type Check struct {
	// Reason is its stable name, used in Events, metrics and explanations.
	Reason  string
	Class   Class
	Witness string
	// About is what it looks for, for people.
	About string
	// ask reports whether it fires, what it saw, and until when that holds without
	// new evidence (zero: for good).
	ask func(Input) (detail string, until time.Time, fires bool)
}

// Witnesses of a verdict.
const (
	WitnessPod   = "pod"
	WitnessNode  = "node"
	WitnessSlice = "endpointslice"
)

// checks is the list in the order of deciding. A check never relies on an earlier
// one having been asked.
var checks = []Check{
	{"PodGone", Proof, WitnessPod, "the pod's object is gone", podGone},
	{"PodFinished", Proof, WitnessPod, "the pod's phase is Failed or Succeeded", podFinished},
	{"NodeOutOfService", Proof, WitnessNode, "somebody vouches by the out-of-service taint that the node, which is not Ready, is down", nodeOutOfService},

	{"PodGoneWithNode", Ending, WitnessPod, "the pod went without a grace period while its node was missing or Unknown", podGoneWithNode},
	{"PodDeleting", Ending, WitnessPod, "the pod has a deletion timestamp", podDeleting},
	{"PodDisrupted", Ending, WitnessPod, "the pod's condition DisruptionTarget is True", podDisrupted},
	{"ContainerDown", Ending, WitnessPod, "the instance's container is not running", containerDown},
	{"ContainerRestarted", Ending, WitnessPod, "the instance's container was replaced and the new one has not been heard", containerRestarted},
	{"EndpointTerminating", Ending, WitnessSlice, "an EndpointSlice shows the pod terminating while pods cannot be read", endpointTerminating},

	{"NodeSpotInterruption", HardNotice, WitnessNode, "an AWS spot interruption notice", taint("aws-node-termination-handler/spot-itn")},
	{"NodeImpendingTermination", HardNotice, WitnessNode, "a Google Cloud preemption notice", taint("cloud.google.com/impending-node-termination")},
	{"NodePreemptScheduled", HardNotice, WitnessNode, "an Azure preemption notice", nodePreemptScheduled},
	{"NodeTerminating", HardNotice, WitnessNode, "an OpenShift termination notice", condition("Terminating")},
	{"NodeShuttingDown", HardNotice, WitnessNode, "the kubelet says that the machine is shutting down", nodeShuttingDown},
	{"NodeGracefulShutdown", HardNotice, WitnessNode, "the node lifecycle condition for a graceful shutdown", condition("GracefulNodeShutdownInProgress")},
	{"NodeCloudShutdown", HardNotice, WitnessNode, "the cloud says that the machine is stopped", taint("node.cloudprovider.kubernetes.io/shutdown")},
	{"NodeDeleted", HardNotice, WitnessNode, "the node's object is gone, confirmed by a live read", nodeDeleted},
}

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
	if l := in.Seen.Add(late(in.Interval)); l.Before(until) {
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
	return "container " + l.Container.Name, time.Time{}, !l.Acknowledged(in.Node)
}

// Acknowledged reports whether the new incarnation has been heard: any request
// after the change was seen, or a registration after the old incarnation ended.
// The second matters because a fast process registers before the kubelet has
// told anybody that it runs. The end is told in whole seconds, so the
// registration of the old incarnation itself must be excluded.
func (l *Life) Acknowledged(node *evidence.Node) bool {
	if l.Request.After(l.Changed) {
		return true
	}
	if l.Container.Finished.IsZero() {
		return false
	}
	finished := l.Container.Finished
	if node != nil {
		finished = finished.Add(-node.ClockAhead)
	}
	return l.Registration.After(finished) && l.Registration.After(l.Since)
}

func endpointTerminating(in Input) (string, time.Time, bool) {
	return "", time.Time{}, in.SliceTerminating
}

func nodeOutOfService(in Input) (string, time.Time, bool) {
	if in.Node == nil || in.Node.Condition("Ready").Status == evidence.True {
		return "", time.Time{}, false
	}
	t, ok := in.Node.Taint("node.kubernetes.io/out-of-service")
	return t.Value, time.Time{}, ok
}

func nodeShuttingDown(in Input) (string, time.Time, bool) {
	if in.Node == nil {
		return "", time.Time{}, false
	}
	c := in.Node.Condition("Ready")
	return c.Message, time.Time{}, c.Status == evidence.False && strings.Contains(c.Message, "node is shutting down")
}

// nodePreemptScheduled reads the node problem detector's condition on Azure; its
// reason names the kind of event.
func nodePreemptScheduled(in Input) (string, time.Time, bool) {
	if in.Node == nil {
		return "", time.Time{}, false
	}
	c := in.Node.Condition("VMEventScheduled")
	return c.Message, time.Time{}, c.Status == evidence.True && strings.HasPrefix(c.Reason, "Preempt")
}

func nodeDeleted(in Input) (string, time.Time, bool) {
	return "", time.Time{}, in.Node != nil && in.Node.Missing
}

func taint(key string) func(Input) (string, time.Time, bool) {
	return func(in Input) (string, time.Time, bool) {
		if in.Node == nil {
			return "", time.Time{}, false
		}
		t, ok := in.Node.Taint(key)
		return t.Value, time.Time{}, ok
	}
}

func condition(kind string) func(Input) (string, time.Time, bool) {
	return func(in Input) (string, time.Time, bool) {
		if in.Node == nil {
			return "", time.Time{}, false
		}
		c := in.Node.Condition(kind)
		return c.Reason, time.Time{}, c.Status == evidence.True
	}
}
