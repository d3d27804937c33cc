package v1alpha1

// NamespaceSetting is a group of fields in the policy of a namespace.
//
// +kubebuilder:validation:Enum=Mode;SelfPreservation;Leases;Pods;Nodes;Drain;ReadinessGate
type NamespaceSetting string

// Groups of fields that a namespace may have to leave alone.
const (
	SettingMode             NamespaceSetting = "Mode"
	SettingSelfPreservation NamespaceSetting = "SelfPreservation"
	SettingLeases           NamespaceSetting = "Leases"
	SettingPods             NamespaceSetting = "Pods"
	SettingNodes            NamespaceSetting = "Nodes"
	SettingDrain            NamespaceSetting = "Drain"
	SettingReadinessGate    NamespaceSetting = "ReadinessGate"
)

// NamespaceOverrides bounds what the policies of namespaces may change. A field
// that is denied or out of range counts as not set, and the condition Accepted of
// that policy says so; the other fields are used.
type NamespaceOverrides struct {
	// denied are the groups of fields that namespaces may not set.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=7
	Denied []NamespaceSetting `json:"denied,omitempty"`
	// ranges limit the numbers that namespaces may set.
	// +optional
	Ranges *NamespaceRanges `json:"ranges,omitempty"`
}

// NamespaceRanges has a range for each number of a namespace's policy that can do
// harm. What is not set is limited by the field's own bounds only.
type NamespaceRanges struct {
	// renewalThresholdPercent limits selfPreservation.renewalThresholdPercent.
	// +optional
	RenewalThresholdPercent *Range `json:"renewalThresholdPercent,omitempty"`
	// defaultDurationSeconds limits leases.defaultDurationSeconds.
	// +optional
	DefaultDurationSeconds *Range `json:"defaultDurationSeconds,omitempty"`
	// defaultRenewalIntervalSeconds limits leases.defaultRenewalIntervalSeconds.
	// +optional
	DefaultRenewalIntervalSeconds *Range `json:"defaultRenewalIntervalSeconds,omitempty"`
	// readyGraceSeconds limits leases.readyGraceSeconds.
	// +optional
	ReadyGraceSeconds *Range `json:"readyGraceSeconds,omitempty"`
	// maxEvictionPercent limits leases.maxEvictionPercent.
	// +optional
	MaxEvictionPercent *Range `json:"maxEvictionPercent,omitempty"`
	// readinessHoldSeconds limits pods.readinessHoldSeconds.
	// +optional
	ReadinessHoldSeconds *Range `json:"readinessHoldSeconds,omitempty"`
	// unreachableAfterSeconds limits nodes.unreachable.afterSeconds.
	// +optional
	UnreachableAfterSeconds *Range `json:"unreachableAfterSeconds,omitempty"`
	// drainMaxSeconds limits drain.maxSeconds.
	// +optional
	DrainMaxSeconds *Range `json:"drainMaxSeconds,omitempty"`
	// readinessGateMaxWaitSeconds limits readinessGate.maxWaitSeconds.
	// +optional
	ReadinessGateMaxWaitSeconds *Range `json:"readinessGateMaxWaitSeconds,omitempty"`
}

// Range is a smallest and a largest value, both allowed themselves.
//
// +kubebuilder:validation:XValidation:rule="has(self.min) || has(self.max)",message="a range has a min, a max or both"
// +kubebuilder:validation:XValidation:rule="!has(self.min) || !has(self.max) || self.min <= self.max",message="min must not be above max"
type Range struct {
	// min is the smallest value. 0 to 86400.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	Min *int32 `json:"min,omitempty"`
	// max is the largest value. 0 to 86400.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	Max *int32 `json:"max,omitempty"`
}
