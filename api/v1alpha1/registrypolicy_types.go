package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RegistryPolicy says how the registry decides about the instances of one
// namespace, within what the cluster's policy allows. There is one per namespace,
// named default.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=rpol,categories=kureka
// +kubebuilder:validation:XValidation:rule="self.metadata.name == 'default'",message="there is one RegistryPolicy per namespace, and its name is default"
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.status.effective.mode`
// +kubebuilder:printcolumn:name="Self-preservation",type=string,JSONPath=`.status.figures.selfPreservation`
// +kubebuilder:printcolumn:name="Leases",type=integer,JSONPath=`.status.figures.leases`
// +kubebuilder:printcolumn:name="Received",type=integer,JSONPath=`.status.figures.received`
// +kubebuilder:printcolumn:name="Expected",type=integer,JSONPath=`.status.figures.expected`
// +kubebuilder:printcolumn:name="Accepted",type=string,JSONPath=`.status.conditions[?(@.type=="Accepted")].status`
// +kubebuilder:printcolumn:name="Held",type=integer,priority=1,JSONPath=`.status.figures.held`
// +kubebuilder:printcolumn:name="Threshold",type=integer,priority=1,JSONPath=`.status.effective.selfPreservation.renewalThresholdPercent`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Accepted")].reason`
// +kubebuilder:printcolumn:name="Class",type=string,priority=1,JSONPath=`.spec.registryClassName`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type RegistryPolicy struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what was decided for the namespace.
	// +optional
	Spec RegistryPolicySpec `json:"spec,omitzero"`
	// status is what is in force and how the leases of the namespace stand.
	// +optional
	Status RegistryPolicyStatus `json:"status,omitzero"`
}

// RegistryPolicyList is a list of the policies of namespaces.
//
// +kubebuilder:object:root=true
type RegistryPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []RegistryPolicy `json:"items"`
}

// RegistryPolicySpec has the fields of a Policy that a namespace may set. A field
// that is not set has the cluster's value.
type RegistryPolicySpec struct {
	// mode says whether verdicts act on the namespace's instances.
	// +optional
	Mode PolicyMode `json:"mode,omitempty"`
	// selfPreservation is the brake on evictions while many renewals are missing.
	// +optional
	SelfPreservation *SelfPreservation `json:"selfPreservation,omitempty"`
	// leases are the lifetimes of registrations.
	// +optional
	Leases *Leases `json:"leases,omitempty"`
	// pods says what evidence about a pod does to its instance.
	// +optional
	Pods *Pods `json:"pods,omitempty"`
	// nodes says what evidence about a node does to the namespace's instances on it.
	// +optional
	Nodes *Nodes `json:"nodes,omitempty"`
	// drain gives pods a preStop hook.
	// +optional
	Drain *Drain `json:"drain,omitempty"`
	// readinessGate says how long pods wait for the registry.
	// +optional
	ReadinessGate *ReadinessGate `json:"readinessGate,omitempty"`
	// registryClassName names the installation this policy is for; unset, every one.
	// +optional
	RegistryClassName RegistryClass `json:"registryClassName,omitempty"`
}

// RegistryPolicyStatus is what is in force in the namespace and how its leases
// stand.
type RegistryPolicyStatus struct {
	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// effective is the policy in force: what is built in, the cluster's policy over
	// it, and over both what the cluster accepts of this spec.
	// +optional
	Effective *Policy `json:"effective,omitempty"`
	// figures are the state of the namespace's leases, written at most every ten
	// seconds.
	// +optional
	Figures *LeaseFigures `json:"figures,omitempty"`
	// conditions are Accepted and Ready.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// SelfPreservationState says what self-preservation does at the moment.
//
// +kubebuilder:validation:Enum=Engaged;Watching;Disabled
type SelfPreservationState string

// States of self-preservation.
const (
	// SelfPreservationEngaged: too few renewals arrive, leases do not expire.
	SelfPreservationEngaged SelfPreservationState = "Engaged"
	// SelfPreservationWatching: enough renewals arrive, leases expire.
	SelfPreservationWatching SelfPreservationState = "Watching"
	// SelfPreservationDisabled: nobody counts, leases expire.
	SelfPreservationDisabled SelfPreservationState = "Disabled"
)

// LeaseFigures are the state of a namespace's leases.
type LeaseFigures struct {
	// leases is how many instances keep a lease by heartbeats.
	// +required
	// +kubebuilder:validation:Minimum=0
	Leases int32 `json:"leases"`
	// expected is how many renewals a minute the leases should give, rounded down.
	// +required
	// +kubebuilder:validation:Minimum=0
	Expected int32 `json:"expected"`
	// received is how many of them arrive, rounded down.
	// +required
	// +kubebuilder:validation:Minimum=0
	Received int32 `json:"received"`
	// selfPreservation says whether leases expire at the moment.
	// +required
	SelfPreservation SelfPreservationState `json:"selfPreservation"`
	// held is how many expired leases are listed only because of self-preservation.
	// +required
	// +kubebuilder:validation:Minimum=0
	Held int32 `json:"held"`
}
