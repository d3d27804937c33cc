package cli

import (
	"cmp"
	"strings"
)

// wording is how a reason is told to people. What it has in braces stands for
// something of the instance.
type wording struct {
	// because completes "it is so: ...".
	because string
	// next and do are what is special about what follows and what helps; where they are
	// empty those of the class are told.
	next, do string
}

// classWording is what follows from every reason of a class.
func classWording(class string) wording {
	return map[string]wording{
		"proof": {
			next: "It is removed, and what is left of its process is fenced: its requests are answered and change nothing.",
			do:   "Nothing: a new pod registers by itself.",
		},
		"ending": {
			next: "It leaves the registry when the pod is gone.",
			do:   "Nothing, if the end was meant. Else kubectl -n {namespace} describe pod {name} tells what happened to it.",
		},
		"asked": {next: "It is back in service as soon as nobody asks for this any more."},
		"hard-notice": {
			next: "The pods of the node end with it, and then the instance is removed. If the notice is called off, it is back in service at once.",
			do:   "Nothing: its controller starts another pod elsewhere. kubectl describe node {node} shows the notice.",
		},
		"planned-notice": {
			next: "The node is drained as far as disruption budgets allow, and the instance is removed with its pod. If the notice is called off, it is back in service at once.",
			do:   "Nothing, if the drain was meant. kubectl describe node {node} shows the notice, and kubectl -n {namespace} get pdb what delays the drain.",
		},
		"observed": {next: "It is back in service as soon as that ends."},
		"inferred": {
			next: "A heartbeat, or the node's Lease, puts it back in service at once. If the pod is deleted, it is removed.",
			do:   "Look at the machine and its network: kubectl describe node {node}.",
		},
	}[class]
}

// reasonWording tells of every reason that can take an instance out of service or
// remove it. Notices of nodes have only a cause of their own.
func reasonWording(reason string) wording {
	return map[string]wording{
		"PodGone":          {because: "its pod {pod} is gone ({detail})"},
		"PodFinished":      {because: "its pod {pod} has ended ({detail})", do: "If it should run: kubectl -n {namespace} describe pod {name} tells why it ended."},
		"NodeOutOfService": {because: "somebody vouches by the taint node.kubernetes.io/out-of-service that its node {node} is down"},
		"AddressReused":    {because: "its address belongs to another pod now", do: "Nothing, unless its process still runs: then it registers again by itself."},
		"AddressLeft":      {because: "its pod has another address now", do: "Nothing: its client registers with the new address."},
		"RegistrantGone":   {because: "the one of several pods with this id that had registered it last is ending", do: "Give every pod an instance id of its own. The others register again by themselves."},

		"PodGoneWithNode": {
			because: "its pod {pod} vanished together with its node {node}", next: "It is removed when its heartbeats stop, and after 60 s at the latest.",
			do: "Look at the machine: kubectl get node {node}.",
		},
		"PodDeleting": {
			because: "its pod {pod} is being deleted",
			do:      "Nothing, if this is a rollout, a scale-down or a drain: a new pod has an instance of its own.\n  Else see who asked for it: kubectl -n {namespace} get events --field-selector involvedObject.name={name}",
		},
		"PodDisrupted": {
			because: "its pod {pod} is about to be ended ({detail})",
			next:    "The pod is deleted soon, and the instance leaves with it. If that is called off, it is back in service at once.",
		},
		"ContainerDown": {
			because: "its container is not running ({detail})",
			next:    "The kubelet starts the container again, after longer and longer waits if it keeps ending. It is back in service once the new process has been heard.",
			do:      "See why the process ended: kubectl -n {namespace} logs {name} --previous",
		},
		"ContainerRestarted": {
			because: "its container was replaced ({detail}), and the new process has not been heard yet",
			next:    "The first request of the new process puts it back in service.",
			do:      "If this lasts, the new process does not reach the registry: kubectl -n {namespace} logs {name}",
		},
		"EndpointTerminating": {
			because: "an EndpointSlice shows its pod ending, while pods cannot be read",
			do:      "Give Kureka the right to read pods again: kubectl kureka status tells what is missing.",
		},
		"PodOutOfServiceRequested": {
			because: "the annotation kureka.dev/status of its pod {pod} asks for that ({detail})",
			do:      "To put it back in service: kubectl kureka override clear {app} {id}",
		},
		"PodLeftService": {because: "the Service that registers its pod {pod} does not name it any more ({detail})", do: "See the selector of the Service and the pod's labels."},

		"NodeSpotInterruption":     {because: "its node {node} gets a spot interruption"},
		"NodeImpendingTermination": {because: "its node {node} is preempted"},
		"NodePreemptScheduled":     {because: "its node {node} is preempted ({detail})"},
		"NodeTerminating":          {because: "its node {node} is about to be terminated ({detail})"},
		"NodeShuttingDown":         {because: "its node {node} is shutting down"},
		"NodeGracefulShutdown":     {because: "its node {node} is shutting down ({detail})"},
		"NodeCloudShutdown":        {because: "the cloud says that its node {node} is stopped"},
		"NodeDeleted":              {because: "its node {node} is not in the cluster any more"},
		"NodeAdditionalHardTaint":  {because: "its node {node} has a taint that the policy calls a hard notice ({detail})"},

		"NodeDeleting":              {because: "its node {node} is being deleted"},
		"NodeScaleDown":             {because: "the cluster autoscaler removes its node {node}"},
		"NodeLifecycleTermination":  {because: "the scaling group ends its node {node}"},
		"NodeScheduledMaintenance":  {because: "maintenance of its node {node} is scheduled"},
		"NodeRedeployScheduled":     {because: "its node {node} is about to be redeployed ({detail})"},
		"NodeTerminateScheduled":    {because: "its node {node} is about to be terminated ({detail})"},
		"NodeRebootScheduled":       {because: "a reboot of its node {node} is scheduled ({detail})"},
		"NodeRebootInProgress":      {because: "its node {node} is drained and rebooted"},
		"NodeMaintenance":           {because: "its node {node} is under maintenance"},
		"NodeRemediation":           {because: "its node {node} is about to be fenced"},
		"NodeDrainInProgress":       {because: "its node {node} is being drained ({detail})"},
		"NodeMaintenanceInProgress": {because: "its node {node} is under maintenance ({detail})"},
		"NodeAdditionalTaint":       {because: "its node {node} has a taint that the policy calls a planned notice ({detail})"},
		"NodeCordoned":              {because: "its node {node} is cordoned, and the policy counts that as a notice", do: "kubectl uncordon {node} ends it."},

		"PodNotReady": {because: "the kubelet says that its pod {pod} is not ready ({detail})", do: "See which probe fails: kubectl -n {namespace} describe pod {name}"},

		"NodeSilent":          {because: "its node {node} is silent, and {confirmed} confirms it"},
		"NodeUnreachable":     {because: "the control plane does not hear its node {node}, and {confirmed} confirms it"},
		"PodInferredNotReady": {because: "the control plane calls its pod {pod} not ready because its node is silent, and {confirmed} confirms it"},
		"NodeRebooted":        {because: "its node {node} has booted anew ({detail})", next: "Its first request after the boot puts it back in service.", do: "Nothing, if the kubelet starts the pod again: kubectl -n {namespace} get pod {name} -o wide"},

		reasonHeldExpired: {
			because: "its lease has run out and self-preservation holds it, but its node and others on it are heard: it is its process that is silent, and not the network",
			next:    "Its next heartbeat puts it back in service. Once self-preservation ends, it is removed.",
			do:      "See whether its process still runs and reaches the registry: kubectl -n {namespace} logs {name}",
		},
	}[reason]
}

// keptWording tells why an instance is not kept for its pod any more.
func keptWording(reason string) wording {
	return map[string]wording{
		"PodNotRegistered": {
			because: "no EurekaRegistration or annotation registers its pod {pod} any more",
			do:      "Nothing, if that was meant. Else see them: kubectl -n {namespace} get eurekaregistrations, and the pod's annotations.",
		},
		"ClientRegistered": {because: "the client in its pod {pod} has registered {app} itself", do: "Nothing: what the client registered is listed instead, under the id that it gives."},
		"ClientCancelled":  {because: "the client in its pod {pod} has cancelled {app}", do: "Nothing, if it was meant. It is listed again once the client registers or its container starts anew."},
	}[reason]
}

// wordingOf joins what is told of a reason with what is told of its class. A reason
// that is not known yet is told by its name.
func wordingOf(reason, class string) wording {
	w := cmp.Or(reasonWording(reason), keptWording(reason), wording{because: reason + " ({detail})"})
	general := classWording(class)
	if w.next == "" {
		w.next = general.next
	}
	if w.do == "" {
		w.do = general.do
	}
	return w
}

// names are what stands in the braces of a wording.
type names struct {
	app, id, namespace, pod, node, detail, confirmed string
}

// fill puts names in. A detail that is not there leaves no brackets.
func (n names) fill(text string) string {
	if n.detail == "" {
		text = strings.ReplaceAll(text, " ({detail})", "")
	}
	if n.pod == "" { // told of somebody who was bound to none
		text = strings.NewReplacer(" {pod}", "", "kubectl -n {namespace} describe pod {name}", "its log").Replace(text)
	}
	if n.node == "" {
		text = strings.ReplaceAll(text, " {node}", "")
	}
	return strings.NewReplacer(
		"{pod}", n.namespace+"/"+n.pod, "{node}", n.node, "{namespace}", n.namespace, "{name}", n.pod,
		"{app}", n.app, "{id}", n.id, "{detail}", n.detail, "{confirmed}", secondWitness(n.confirmed),
	).Replace(text)
}

// secondWitness is what confirms an inference.
func secondWitness(name string) string {
	switch name {
	case "heartbeat":
		return "a heartbeat that did not come"
	case "prober":
		return "the prober, which nothing there answers,"
	}
	return name
}

// witness is where something was seen.
func witness(name string) string {
	switch name {
	case "pod", "node":
		return "on the " + name
	case "endpointslice":
		return "in an EndpointSlice"
	}
	return "in the " + name
}

// unboundWording says why an instance is bound to no pod.
func unboundWording(reason string) string {
	told := map[string]string{
		"NoPodOwnsAddress":        "no pod has its address",
		"AddressIsNotTheSource's": "the address that it gives is not the one that it sends from",
		"AddressIsTheOnlyFact":    "only its address speaks for a pod; its port, host name or id has to as well",
		"SharedInstanceID":        "several living pods use this id",
		"PodNotSeenYet":           "its pod has not been seen yet",
		"PodGoneButOnlyObserved":  "its pod is gone, and the policy only observes",
		"PodMayBeYounger":         "its pod may be younger than the registration",
		"CopiedFromAPeer":         "another Eureka server told of it",
		"":                        "nothing is known about where it runs",
	}[reason]
	if told == "" {
		return reason
	}
	return told
}
