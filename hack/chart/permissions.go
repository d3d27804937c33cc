package main

// permission says why Kureka needs some verbs on one resource, and what is lost
// without them. Together they explain every rule of config/rbac/role.yaml, and each
// explains one that is there.
type permission struct {
	resource string // as a rule names it, with its group: pods, leases.coordination.k8s.io
	scope    scope
	verbs    string // separated by blanks
	names    string // of the only objects it is for, in words; empty: all
	why      string
	without  string
}

// scope is where a permission is granted.
type scope string

// The scopes.
const (
	// everywhere is for objects outside namespaces.
	everywhere scope = "cluster"
	// webhook is for the webhook's configuration, which only a certificate of
	// Kureka's own making needs.
	webhook scope = "webhook"
	// namespaces is for objects in the namespaces that are watched.
	namespaces scope = "namespaced"
	// ownNamespace is where Kureka runs.
	ownNamespace scope = "own"
	// nodeLeases is where the kubelets renew their Leases.
	nodeLeases scope = "nodeLeases"
)

// The verbs that most permissions have.
const (
	watching = "list watch"
	patching = "patch"
)

func permissions() []permission {
	return append(append(aboutPods(), aboutNodes()...), aboutOwn()...)
}

func aboutPods() []permission {
	return []permission{
		{
			resource: "pods", scope: namespaces, verbs: watching,
			why:     "To see pods start, get their address, become ready, be deleted and be gone.",
			without: "Nothing the cluster knows about pods counts: registrations are bound to no pod, and leases alone decide.",
		},
		{
			resource: "pods", scope: namespaces, verbs: "get",
			why:     "To confirm that a pod is gone that vanished while the watch was cut, before anything is removed.",
			without: "What ended unseen stays listed until its lease ends.",
		},
		{
			resource: "pods/status", scope: namespaces, verbs: patching,
			why:     "To set the condition `kureka.dev/registered` of pods with that readiness gate.",
			without: "Pods that have the gate wait until somebody sets it by hand. Others do not notice.",
		},
		{
			resource: "services", scope: namespaces, verbs: watching,
			why:     "To know `publishNotReadyAddresses` of the Services that an EurekaRegistration names.",
			without: "Pods that leave their Service stay in service.",
		},
		{
			resource: "endpointslices.discovery.k8s.io", scope: namespaces, verbs: watching,
			why:     "To know the pods of a Service that an EurekaRegistration names, and, while pods cannot be read, which end.",
			without: "Pods of a Service are not registered.",
		},
		{
			resource: "events.events.k8s.io", scope: namespaces, verbs: "create",
			why:     "To tell about verdicts on the pod that caused them. Events about nodes are in the namespace default.",
			without: "No Events. Metrics, logs and `/kureka/v1` tell the same.",
		},
	}
}

func aboutNodes() []permission {
	return []permission{
		{
			resource: "nodes", scope: everywhere, verbs: watching,
			why:     "To see notices of nodes that are about to end, reboots, zones and pod ranges.",
			without: "No notice of a node takes anybody out, and silent nodes are not noticed.",
		},
		{
			resource: "nodes", scope: everywhere, verbs: "get",
			why:     "To confirm that a node was deleted, before its instances are taken out.",
			without: "A deleted node counts as one that nobody has confirmed to be gone.",
		},
		{
			resource: "leases.coordination.k8s.io", scope: nodeLeases, verbs: watching,
			why:     "To see each kubelet's renewals, whose absence says that a node fell silent.",
			without: "The view never counts as fresh: silence is not noticed and nothing is inferred.",
		},
	}
}

func aboutOwn() []permission {
	return []permission{
		{
			resource: "leases.coordination.k8s.io", scope: ownNamespace, verbs: "create",
			why:     "To make the own Lease at the first start. A name cannot be asked for at creation.",
			without: "The same as without the next, unless somebody else makes it.",
		},
		{
			resource: "leases.coordination.k8s.io", scope: ownNamespace, verbs: "get list watch update", names: "the own Lease",
			why:     "To renew the own Lease and see it come back, which proves that watches deliver; its age at a start tells how long the registry was away.",
			without: "The view never counts as fresh, and every start takes its absence for a long one.",
		},
		{
			resource: "services", scope: ownNamespace, verbs: "list", names: "Kureka's own",
			why:     "To know the address that kubelets ask where `drain.mode` is Hold.",
			without: "Those pods get a sleep.",
		},
		{
			resource: "clusterregistrypolicies.kureka.dev", scope: everywhere, verbs: watching,
			why:     "To read the policy of the cluster.",
			without: "No policy is read, those of namespaces included; what was in force stays, after a start what is built in.",
		},
		{
			resource: "registrypolicies.kureka.dev", scope: namespaces, verbs: watching,
			why:     "To read the policies of namespaces.",
			without: "No policy is read, that of the cluster included.",
		},
		{
			resource: "eurekaregistrations.kureka.dev", scope: namespaces, verbs: watching,
			why:     "To know which pods without a client to register.",
			without: "Only annotations of pods register them.",
		},
		{
			resource: "clusterregistrypolicies/status.kureka.dev", scope: everywhere, verbs: patching,
			why:     "To say what is in force and what is not used.",
			without: "The policy holds all the same.",
		},
		{
			resource: "registrypolicies/status.kureka.dev", scope: namespaces, verbs: patching,
			why:     "To say what is in force in the namespace, and its figures.",
			without: "The policy holds all the same.",
		},
		{
			resource: "eurekaregistrations/status.kureka.dev", scope: namespaces, verbs: patching,
			why:     "To say which pods were registered.",
			without: "They are registered all the same.",
		},
		{
			resource: "mutatingwebhookconfigurations.admissionregistration.k8s.io", scope: webhook, verbs: "get update", names: "Kureka's own",
			why:     "To have the API server trust the certificate that Kureka makes for its webhook.",
			without: "Pods are created without a drain and a readiness gate. Not needed with a certificate of somebody else's.",
		},
	}
}
