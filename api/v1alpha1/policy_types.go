package v1alpha1

import "k8s.io/apimachinery/pkg/util/intstr"

// PolicyMode says whether verdicts act.
//
// +kubebuilder:validation:Enum=Enforce;Observe
type PolicyMode string

// Modes of a policy.
const (
	// Enforce acts on verdicts.
	Enforce PolicyMode = "Enforce"
	// Observe computes, shows and counts verdicts; only leases remove instances.
	Observe PolicyMode = "Observe"
)

// Switch turns a mechanism on or off.
//
// +kubebuilder:validation:Enum=Enabled;Disabled
type Switch string

// Positions of a switch.
const (
	Enabled  Switch = "Enabled"
	Disabled Switch = "Disabled"
)

// Action is what evidence does to an instance.
//
// +kubebuilder:validation:Enum=OutOfService;Ignore
type Action string

// Actions upon evidence.
const (
	// OutOfService takes the instance out of service while the evidence lasts.
	OutOfService Action = "OutOfService"
	// Ignore shows the evidence and does nothing.
	Ignore Action = "Ignore"
)

// HostNamePolicy says which host name clients see of an instance that registers
// itself.
//
// +kubebuilder:validation:Enum=Keep;PodIP
type HostNamePolicy string

// Policies for host names.
const (
	// KeepHostName shows the registered host name.
	KeepHostName HostNamePolicy = "Keep"
	// RewriteToPodIP shows the pod's address where the registered host name is
	// the pod's name, which nobody else can resolve.
	RewriteToPodIP HostNamePolicy = "PodIP"
)

// NoticeClass says how much time a termination notice leaves.
//
// +kubebuilder:validation:Enum=Hard;Planned
type NoticeClass string

// Classes of notices.
const (
	// HardNotice ends the node whatever is on it: only the last visible instance
	// of an application stays in service.
	HardNotice NoticeClass = "Hard"
	// PlannedNotice waits for disruption budgets: instances go out of service as
	// far as the breaker allows.
	PlannedNotice NoticeClass = "Planned"
)

// TaintEffect is the effect of a taint.
//
// +kubebuilder:validation:Enum=NoSchedule;PreferNoSchedule;NoExecute
type TaintEffect string

// NamespaceCollision says what happens when namespaces register the same
// application.
//
// +kubebuilder:validation:Enum=Merge;Warn;FirstNamespaceOnly
type NamespaceCollision string

// Ways to treat an application that several namespaces register.
const (
	// MergeNamespaces lists the instances of all namespaces together.
	MergeNamespaces NamespaceCollision = "Merge"
	// WarnOfNamespaces lists them together, counts them and reports them.
	WarnOfNamespaces NamespaceCollision = "Warn"
	// FirstNamespaceOnly lists only those of the namespace that came first.
	FirstNamespaceOnly NamespaceCollision = "FirstNamespaceOnly"
)

// DrainMode says how the end of a pod is delayed until its clients know of it.
//
// +kubebuilder:validation:Enum=Disabled;Sleep;Hold
type DrainMode string

// Modes of the drain.
const (
	// DrainDisabled leaves pods as they are.
	DrainDisabled DrainMode = "Disabled"
	// DrainSleep gives containers a preStop sleep.
	DrainSleep DrainMode = "Sleep"
	// DrainHold gives containers a preStop request to Kureka, which is answered once
	// every active client has fetched a registry without the instance and its load
	// balancer's cache has passed. Where that is not possible it is DrainSleep.
	DrainHold DrainMode = "Hold"
)

// ExistingHook says what happens to a preStop hook that a container already has.
//
// +kubebuilder:validation:Enum=Keep;Replace
type ExistingHook string

// Ways to treat an existing preStop hook.
const (
	KeepHook    ExistingHook = "Keep"
	ReplaceHook ExistingHook = "Replace"
)

// RegistryClass names the installation that a resource is for: a DNS label of at
// most 63 characters. Unset, it is for every installation that watches its
// namespace.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
type RegistryClass string

// SelfPreservation is the brake on evictions while many renewals are missing.
type SelfPreservation struct {
	// mode switches self-preservation; Enabled when nobody says otherwise.
	// +optional
	Mode Switch `json:"mode,omitempty"`
	// renewalThresholdPercent of the expected renewals must arrive, else leases
	// stop expiring. 1 to 100; built in: 85.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	RenewalThresholdPercent *int32 `json:"renewalThresholdPercent,omitempty"`
	// maxHoldSeconds is how long an expired lease is held at most; 0 means without
	// limit. 0 to 86400; built in: 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	MaxHoldSeconds *int32 `json:"maxHoldSeconds,omitempty"`
}

// Leases are the lifetimes of registrations.
//
// +kubebuilder:validation:XValidation:rule="!has(self.defaultDurationSeconds) || !has(self.defaultRenewalIntervalSeconds) || self.defaultDurationSeconds > self.defaultRenewalIntervalSeconds",message="defaultDurationSeconds must be longer than defaultRenewalIntervalSeconds, or every lease would end before its first renewal"
// +kubebuilder:validation:XValidation:rule="!has(self.bounds) || !has(self.defaultDurationSeconds) || ((!has(self.bounds.minDurationSeconds) || self.defaultDurationSeconds >= self.bounds.minDurationSeconds) && (!has(self.bounds.maxDurationSeconds) || self.defaultDurationSeconds <= self.bounds.maxDurationSeconds))",message="defaultDurationSeconds must lie within bounds"
// +kubebuilder:validation:XValidation:rule="!has(self.bounds) || !has(self.defaultRenewalIntervalSeconds) || ((!has(self.bounds.minRenewalIntervalSeconds) || self.defaultRenewalIntervalSeconds >= self.bounds.minRenewalIntervalSeconds) && (!has(self.bounds.maxRenewalIntervalSeconds) || self.defaultRenewalIntervalSeconds <= self.bounds.maxRenewalIntervalSeconds))",message="defaultRenewalIntervalSeconds must lie within bounds"
type Leases struct {
	// defaultDurationSeconds is the lease of a client that asks for none. 2 to
	// 86400; built in: 90.
	// +optional
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=86400
	DefaultDurationSeconds *int32 `json:"defaultDurationSeconds,omitempty"`
	// defaultRenewalIntervalSeconds is the renewal interval of a client that names
	// none. 1 to 3600; built in: 30.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	DefaultRenewalIntervalSeconds *int32 `json:"defaultRenewalIntervalSeconds,omitempty"`
	// bounds limit what clients may ask for; the nearest bound counts instead.
	// +optional
	Bounds *LeaseBounds `json:"bounds,omitempty"`
	// readyGraceSeconds are added to the lease of an instance whose pod is known
	// to be Ready. 0 to 3600; built in: 90.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	ReadyGraceSeconds *int32 `json:"readyGraceSeconds,omitempty"`
	// maxEvictionPercent of the namespace's leases are evicted at most in any 60
	// seconds, and at least one. Proven deaths do not count. 0 to 100; built in: 15.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	MaxEvictionPercent *int32 `json:"maxEvictionPercent,omitempty"`
}

// LeaseBounds limit the leases that clients ask for. A bound that is not set does
// not limit.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minDurationSeconds) || !has(self.maxDurationSeconds) || self.minDurationSeconds <= self.maxDurationSeconds",message="minDurationSeconds must not be above maxDurationSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.minRenewalIntervalSeconds) || !has(self.maxRenewalIntervalSeconds) || self.minRenewalIntervalSeconds <= self.maxRenewalIntervalSeconds",message="minRenewalIntervalSeconds must not be above maxRenewalIntervalSeconds"
// +kubebuilder:validation:XValidation:rule="!has(self.maxDurationSeconds) || !has(self.minRenewalIntervalSeconds) || self.maxDurationSeconds > self.minRenewalIntervalSeconds",message="maxDurationSeconds must be longer than minRenewalIntervalSeconds, or every lease would end before its first renewal"
type LeaseBounds struct {
	// minDurationSeconds is the shortest lease. 2 to 86400.
	// +optional
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=86400
	MinDurationSeconds *int32 `json:"minDurationSeconds,omitempty"`
	// maxDurationSeconds is the longest lease. 2 to 86400.
	// +optional
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=86400
	MaxDurationSeconds *int32 `json:"maxDurationSeconds,omitempty"`
	// minRenewalIntervalSeconds is the shortest interval that counts in the
	// expected renewals. 1 to 3600.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	MinRenewalIntervalSeconds *int32 `json:"minRenewalIntervalSeconds,omitempty"`
	// maxRenewalIntervalSeconds is the longest interval that counts in the
	// expected renewals. 1 to 3600.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	MaxRenewalIntervalSeconds *int32 `json:"maxRenewalIntervalSeconds,omitempty"`
}

// Pods says what evidence about a pod does to its instance.
type Pods struct {
	// notReady is for instances that send heartbeats, while the kubelet says that
	// their pod is not ready. Built in: Ignore, because many readiness probes ask
	// for the status in the registry, and taking that out would latch it.
	// Instances without a client always follow readiness.
	// +optional
	NotReady Action `json:"notReady,omitempty"`
	// readinessHoldSeconds is how long a pod must be unready before notReady acts.
	// 0 to 3600; built in: 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	ReadinessHoldSeconds *int32 `json:"readinessHoldSeconds,omitempty"`
	// disruption is for pods with the condition DisruptionTarget. Built in:
	// OutOfService.
	// +optional
	Disruption Action `json:"disruption,omitempty"`
	// containerDown is for instances whose own container is not running. Built in:
	// OutOfService.
	// +optional
	ContainerDown Action `json:"containerDown,omitempty"`
	// hostName says which host name clients see of an instance that registers
	// itself. Built in: Keep.
	// +optional
	HostName HostNamePolicy `json:"hostName,omitempty"`
}

// Nodes says what evidence about a node does to the instances on it.
type Nodes struct {
	// hardNotice is for notices that end the node whatever is on it, such as the
	// reclaim of a spot node. Built in: OutOfService.
	// +optional
	HardNotice Action `json:"hardNotice,omitempty"`
	// plannedNotice is for notices that wait for disruption budgets, such as a
	// drain. Built in: OutOfService.
	// +optional
	PlannedNotice Action `json:"plannedNotice,omitempty"`
	// cordon is for nodes that take no new pods. Built in: Ignore.
	// +optional
	Cordon Action `json:"cordon,omitempty"`
	// unreachable is for nodes that fell silent.
	// +optional
	Unreachable *Unreachable `json:"unreachable,omitempty"`
}

// Unreachable says what the silence of a node does. A second witness is always
// asked as well.
type Unreachable struct {
	// action is taken once the silence is confirmed. Built in: OutOfService.
	// +optional
	Action Action `json:"action,omitempty"`
	// afterSeconds is how long a node's Lease must not change. 5 to 3600; built
	// in: 20. It is never less than half the lease duration and two seconds.
	// +optional
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=3600
	AfterSeconds *int32 `json:"afterSeconds,omitempty"`
}

// ReadinessGate says how long a pod waits for the registry. It takes part only
// where a pod or namespace opts in.
type ReadinessGate struct {
	// maxWaitSeconds is how old a pod becomes at most before the readiness gate
	// kureka.dev/registered is met although the pod is not listed. 1 to 3600; built
	// in: 300, half of what a Deployment waits for progress.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	MaxWaitSeconds *int32 `json:"maxWaitSeconds,omitempty"`
}

// Drain gives pods a preStop hook, so that they serve until their clients know
// that they end. It takes part only where a pod or namespace opts in.
type Drain struct {
	// mode is the kind of hook. Built in: Disabled.
	// +optional
	Mode DrainMode `json:"mode,omitempty"`
	// seconds is how long a Sleep lasts: a number from 0 to 600, or Auto for the
	// slowest client's measured fetch interval, loadBalancerCacheSeconds and 5. Built in: Auto.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 0 && self <= 600 : self == 'Auto'",message="seconds is a number from 0 to 600 or Auto"
	Seconds *intstr.IntOrString `json:"seconds,omitempty"`
	// maxSeconds limits how long a pod is held. 1 to 600; built in: 90.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=600
	MaxSeconds *int32 `json:"maxSeconds,omitempty"`
	// loadBalancerCacheSeconds is how long clients use their list after they
	// fetched a new one. 0 to 600; built in: 35, what Spring Cloud uses.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=600
	LoadBalancerCacheSeconds *int32 `json:"loadBalancerCacheSeconds,omitempty"`
	// onExistingHook says what happens to a preStop hook that is already there.
	// Built in: Keep.
	// +optional
	OnExistingHook ExistingHook `json:"onExistingHook,omitempty"`
}
