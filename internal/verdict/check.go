package verdict

import "time"

// Check is one rule.
type Check struct {
	// Reason is its stable name, used in Events, metrics and explanations.
	Reason  string
	Class   Class
	Witness string
	// About is what it looks for, for people.
	About string
	// ask reports whether it fires, what it saw, and until when its answer holds
	// without new evidence (zero: for good).
	ask func(Input) (detail string, until time.Time, fires bool)
}

// Reasons of checks that something else asks for by name.
const (
	reasonDisrupted          = "PodDisrupted"
	reasonContainerRestarted = "ContainerRestarted"
	reasonCordoned           = "NodeCordoned"
	reasonSilent             = "NodeSilent"
	reasonUnreachable        = "NodeUnreachable"
	reasonInferredNotReady   = "PodInferredNotReady"
	reasonRebooted           = "NodeRebooted"
	// ReasonContainerDown is the one ending of which the process is dead already.
	ReasonContainerDown = "ContainerDown"
	// ReasonLeftService is what a view that does not deliver is not asked about.
	ReasonLeftService = "PodLeftService"
)

// kuredReboot is set by kured while it drains and reboots a node.
const kuredReboot = "weave.works/kured-reboot-in-progress"

// Annotations returns the keys of the node annotations that checks ask about, so
// that nothing else of them has to be kept.
func Annotations() []string { return []string{kuredReboot} }

// Witnesses of a verdict.
const (
	WitnessPod   = "pod"
	WitnessNode  = "node"
	WitnessSlice = "endpointslice"
	// WitnessRegistry is for what follows from registrations alone.
	WitnessRegistry = "registry"

	// The second witnesses of an inference: a heartbeat that fell due and did not
	// come, and attempts to connect.
	WitnessHeartbeat = "heartbeat"
	WitnessProber    = "prober"
)

// checks is the list in the order of deciding. A check never relies on an earlier
// one having been asked. This is the place to add a signal, and for an inferred one
// also inferences; docs/signals.md is generated from it.
var checks = []Check{
	{"PodGone", Proof, WitnessPod, "the pod's object is gone", podGone},
	{"PodFinished", Proof, WitnessPod, "the pod's phase is Failed or Succeeded", podFinished},
	{"NodeOutOfService", Proof, WitnessNode, "somebody vouches by the taint `node.kubernetes.io/out-of-service` that the node, which is not Ready, is down", nodeOutOfService},

	{"PodGoneWithNode", Ending, WitnessPod, "the pod went without a grace period while its node was missing or Unknown", podGoneWithNode},
	{"PodDeleting", Ending, WitnessPod, "the pod has a deletion timestamp", podDeleting},
	{reasonDisrupted, Ending, WitnessPod, "the pod's condition `DisruptionTarget` is True", podDisrupted},
	{ReasonContainerDown, Ending, WitnessPod, "the instance's container is not running", containerDown},
	{reasonContainerRestarted, Ending, WitnessPod, "the instance's container was replaced and the new one has not been heard", containerRestarted},
	{"EndpointTerminating", Ending, WitnessSlice, "an EndpointSlice shows the pod terminating while pods cannot be read", endpointTerminating},

	{"PodOutOfServiceRequested", Asked, WitnessPod, "the pod's annotation `kureka.dev/status` is `OutOfService`, until the time of `kureka.dev/status-until` if it has one", podOutOfServiceRequested},
	{ReasonLeftService, Asked, WitnessSlice, "the Service that the pod is registered by names other pods and has not named this one for three seconds; only for instances without a client", podLeftService},

	{"NodeSpotInterruption", HardNotice, WitnessNode, "AWS spot interruption: taint `aws-node-termination-handler/spot-itn`", taint("aws-node-termination-handler/spot-itn")},
	{"NodeImpendingTermination", HardNotice, WitnessNode, "Google Cloud preemption: taint `cloud.google.com/impending-node-termination`", taint("cloud.google.com/impending-node-termination")},
	{"NodePreemptScheduled", HardNotice, WitnessNode, "Azure preemption: condition `VMEventScheduled` with a reason `Preempt…`", vmEvent("Preempt")},
	{"NodeTerminating", HardNotice, WitnessNode, "OpenShift termination notice: condition `Terminating`", condition("Terminating")},
	{"NodeShuttingDown", HardNotice, WitnessNode, "the kubelet says that the machine is shutting down: Ready is False with the message `node is shutting down`", nodeShuttingDown},
	{"NodeGracefulShutdown", HardNotice, WitnessNode, "condition `GracefulNodeShutdownInProgress`", condition("GracefulNodeShutdownInProgress")},
	{"NodeCloudShutdown", HardNotice, WitnessNode, "the cloud says that the machine is stopped: taint `node.cloudprovider.kubernetes.io/shutdown`", taint("node.cloudprovider.kubernetes.io/shutdown")},
	{"NodeDeleted", HardNotice, WitnessNode, "the node's object is gone, confirmed by a live read", nodeDeleted},

	{"NodeAdditionalHardTaint", HardNotice, WitnessNode, "a taint that the policy names as a hard notice", additionalTaint(true)},

	{"NodeDeleting", PlannedNotice, WitnessNode, "the node has a deletion timestamp, as Karpenter's have while they are drained", nodeDeleting},
	{"NodeScaleDown", PlannedNotice, WitnessNode, "cluster-autoscaler removes the node: taint `ToBeDeletedByClusterAutoscaler`", taint("ToBeDeletedByClusterAutoscaler")},
	{"NodeLifecycleTermination", PlannedNotice, WitnessNode, "AWS scaling group ends the machine: taint `aws-node-termination-handler/asg-lifecycle-termination`", taint("aws-node-termination-handler/asg-lifecycle-termination")},
	{"NodeScheduledMaintenance", PlannedNotice, WitnessNode, "AWS scheduled event: taint `aws-node-termination-handler/scheduled-maintenance`", taint("aws-node-termination-handler/scheduled-maintenance")},
	{"NodeRedeployScheduled", PlannedNotice, WitnessNode, "Azure redeploys the machine: condition `VMEventScheduled` with a reason `Redeploy…`", vmEvent("Redeploy")},
	{"NodeTerminateScheduled", PlannedNotice, WitnessNode, "Azure ends the machine: condition `VMEventScheduled` with a reason `Terminate…`", vmEvent("Terminate")},
	{"NodeRebootScheduled", PlannedNotice, WitnessNode, "Azure reboots the machine: condition `VMEventScheduled` with a reason `Reboot…`", vmEvent("Reboot")},
	{"NodeRebootInProgress", PlannedNotice, WitnessNode, "kured drains and reboots the node: annotation `weave.works/kured-reboot-in-progress`", annotation(kuredReboot)},
	{"NodeMaintenance", PlannedNotice, WitnessNode, "bare metal maintenance: taint `baremetal.cluster.gke.io/maintenance`", taint("baremetal.cluster.gke.io/maintenance")},
	{"NodeRemediation", PlannedNotice, WitnessNode, "medik8s is about to fence the node: taint `remediation.medik8s.io/self-node-remediation`", taint("remediation.medik8s.io/self-node-remediation")},
	{"NodeDrainInProgress", PlannedNotice, WitnessNode, "condition `DrainInProgress`", condition("DrainInProgress")},
	{"NodeMaintenanceInProgress", PlannedNotice, WitnessNode, "condition `MaintenanceInProgress`", condition("MaintenanceInProgress")},

	{"NodeAdditionalTaint", PlannedNotice, WitnessNode, "a taint that the policy names as a planned notice", additionalTaint(false)},
	{reasonCordoned, PlannedNotice, WitnessNode, "taint `node.kubernetes.io/unschedulable`; ignored unless the policy says otherwise (`nodes.cordon`)", taint("node.kubernetes.io/unschedulable")},

	{"PodNotReady", Observed, WitnessPod, "the kubelet says that the pod is not ready, for longer than `pods.readinessHoldSeconds`; ignored unless the policy says otherwise (`pods.notReady`) or the instance has no client", podNotReady},

	{reasonSilent, Inferred, WitnessNode, "the node's Lease has not changed for as long as the namespace's `nodes.unreachable.afterSeconds`, confirmed by heartbeat or prober", nodeSilent},
	{reasonUnreachable, Inferred, WitnessNode, "the control plane does not hear the node: Ready is Unknown, and its Lease does not change, confirmed by heartbeat or prober; decides where no Lease was ever seen to change, else `NodeSilent` does and this shows what it waits for", nodeUnreachable},
	{reasonInferredNotReady, Inferred, WitnessPod, "Ready is False although all containers are ready: the control plane concluded that from the node, whose Lease does not change, confirmed by heartbeat or prober; `NodeSilent` decides then and this shows what it waits for", podInferredNotReady},
	{reasonRebooted, Inferred, WitnessNode, "the node has booted anew: its `bootID` changed, confirmed by the instance's own heartbeat, which is late", nodeRebooted},

	{"NodeDisrupted", Hint, WitnessNode, "Karpenter considers the node: taint `karpenter.sh/disrupted`; it may take that back", taint("karpenter.sh/disrupted")},
	{"NodeDeletionCandidate", Hint, WitnessNode, "cluster-autoscaler considers the node: taint `DeletionCandidateOfClusterAutoscaler`", taint("DeletionCandidateOfClusterAutoscaler")},
	{"NodeRebalanceAdvised", Hint, WitnessNode, "AWS rebalance recommendation: taint `aws-node-termination-handler/rebalance-recommendation`", taint("aws-node-termination-handler/rebalance-recommendation")},
	{"NodeFreezeScheduled", Hint, WitnessNode, "Azure pauses the machine for seconds: condition `VMEventScheduled` with a reason `Freeze…`", vmEvent("Freeze")},
	{"NodeMaintenancePlanned", Hint, WitnessNode, "condition `MaintenancePlanned`", condition("MaintenancePlanned")},
	{"NodeMemoryPressure", Hint, WitnessNode, "taint `node.kubernetes.io/memory-pressure`", taint("node.kubernetes.io/memory-pressure")},
	{"NodeDiskPressure", Hint, WitnessNode, "taint `node.kubernetes.io/disk-pressure`", taint("node.kubernetes.io/disk-pressure")},
	{"NodePIDPressure", Hint, WitnessNode, "taint `node.kubernetes.io/pid-pressure`", taint("node.kubernetes.io/pid-pressure")},
}
