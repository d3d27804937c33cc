package v1alpha1

// Types of conditions.
const (
	// ConditionAccepted is True while the whole spec is in use. While it is
	// False, the message names each field that is not and what holds instead.
	ConditionAccepted = "Accepted"
	// ConditionReady is True once the spec of the observed generation has taken
	// effect: a policy is in force, the pods of a registration are listed.
	ConditionReady = "Ready"
	// PodRegistered is the condition of a pod, and its readiness gate, that is True
	// once the pod was listed UP, or has waited long enough.
	PodRegistered = "kureka.dev/registered"
)

// DrainHoldAnnotation names a pod to the one who holds its preStop request, which
// names no pod otherwise: it is part of the request's path.
const DrainHoldAnnotation = "kureka.dev/drain-hold"

// Reasons of the conditions; Events and metrics use the same words.
const (
	// ReasonAccepted: every field is in use.
	ReasonAccepted = "Accepted"
	// ReasonInvalid: a field has a value that this version cannot use, such as
	// one stored before the rules of the API server became stricter.
	ReasonInvalid = "Invalid"
	// ReasonDenied: the cluster's policy does not let namespaces set a field.
	ReasonDenied = "Denied"
	// ReasonOutOfRange: a namespace's value is outside the cluster's range for it.
	ReasonOutOfRange = "OutOfRange"
	// ReasonInForce: the policy decides.
	ReasonInForce = "InForce"
	// ReasonRegistered: every pod that matches and should be listed is listed; of
	// PodRegistered, that the pod is.
	ReasonRegistered = "Registered"
	// ReasonWaitedLongEnough: a pod is older than readinessGate.maxWaitSeconds and not
	// listed UP.
	ReasonWaitedLongEnough = "WaitedLongEnough"
	// ReasonNoPods: no pod matches.
	ReasonNoPods = "NoPods"
	// ReasonServiceNotFound: the Service that serviceName names does not exist.
	ReasonServiceNotFound = "ServiceNotFound"
	// ReasonPortNotFound: no container of a matching pod declares the named port.
	ReasonPortNotFound = "PortNotFound"
	// ReasonAlreadyRegistered: an older registration, or the pod's own annotations,
	// register a matching pod under the same application.
	ReasonAlreadyRegistered = "AlreadyRegistered"
	// ReasonInstanceIDTaken: some client uses the instance id of a matching pod.
	ReasonInstanceIDTaken = "InstanceIDTaken"
	// ReasonRegistryFull: the registry takes no more instances.
	ReasonRegistryFull = "RegistryFull"
)
