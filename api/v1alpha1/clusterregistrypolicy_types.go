package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ClusterRegistryPolicy says how the registry decides in every namespace that
// says nothing else, and what namespaces may say. There is one, named default.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=crpol,categories=kureka
// +kubebuilder:validation:XValidation:rule="self.metadata.name == 'default'",message="there is one ClusterRegistryPolicy per cluster, and its name is default"
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.status.effective.mode`
// +kubebuilder:printcolumn:name="Self-preservation",type=string,JSONPath=`.status.effective.selfPreservation.mode`
// +kubebuilder:printcolumn:name="Accepted",type=string,JSONPath=`.status.conditions[?(@.type=="Accepted")].status`
// +kubebuilder:printcolumn:name="Threshold",type=integer,priority=1,JSONPath=`.status.effective.selfPreservation.renewalThresholdPercent`
// +kubebuilder:printcolumn:name="Min in service",type=integer,priority=1,JSONPath=`.status.effective.breaker.minInServicePercent`
// +kubebuilder:printcolumn:name="Denied",type=string,priority=1,JSONPath=`.spec.namespaceOverrides.denied`
// +kubebuilder:printcolumn:name="Class",type=string,priority=1,JSONPath=`.spec.registryClassName`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type ClusterRegistryPolicy struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what was decided for the cluster.
	// +optional
	Spec ClusterRegistryPolicySpec `json:"spec,omitzero"`
	// status is what is in force.
	// +optional
	Status ClusterRegistryPolicyStatus `json:"status,omitzero"`
}

// ClusterRegistryPolicyList is a list of cluster policies.
//
// +kubebuilder:object:root=true
type ClusterRegistryPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []ClusterRegistryPolicy `json:"items"`
}

// ClusterRegistryPolicySpec is a policy with the fields that only the cluster has.
type ClusterRegistryPolicySpec struct {
	Policy `json:",inline"`

	// namespaceOverrides bounds what the policies of namespaces may change. Unset,
	// they may change every field they have.
	// +optional
	NamespaceOverrides *NamespaceOverrides `json:"namespaceOverrides,omitempty"`
	// registryClassName names the installation this policy is for; unset, every one.
	// +optional
	RegistryClassName RegistryClass `json:"registryClassName,omitempty"`
}

// Policy is everything that can be decided. In a status every field with a value
// of its own is set.
type Policy struct {
	// mode says whether verdicts act. Built in: Enforce.
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
	// nodes says what evidence about a node does to the instances on it.
	// +optional
	Nodes *ClusterNodes `json:"nodes,omitempty"`
	// breaker keeps a part of every application in service.
	// +optional
	Breaker *Breaker `json:"breaker,omitempty"`
	// appsAcrossNamespaces says what happens when several namespaces register the
	// same application. Built in: Warn.
	// +optional
	AppsAcrossNamespaces NamespaceCollision `json:"appsAcrossNamespaces,omitempty"`
	// drain gives pods a preStop hook.
	// +optional
	Drain *Drain `json:"drain,omitempty"`
	// readinessGate says how long pods wait for the registry.
	// +optional
	ReadinessGate *ReadinessGate `json:"readinessGate,omitempty"`
}

// ClusterNodes adds to Nodes what is a fact of the whole cluster.
type ClusterNodes struct {
	Nodes `json:",inline"`

	// additionalTerminationTaints announce the end of a node, besides those that
	// are known. At most 32.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	AdditionalTerminationTaints []TerminationTaint `json:"additionalTerminationTaints,omitempty"`
	// maxUnreachablePercent of a zone's nodes may be silent; from there on the
	// fault is taken for one of the network, and only the prober confirms. 1 to 100;
	// built in: 55.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	MaxUnreachablePercent *int32 `json:"maxUnreachablePercent,omitempty"`
}

// TerminationTaint is a taint that announces the end of a node.
type TerminationTaint struct {
	// key of the taint, at most 317 characters: a name, or prefix/name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	Key string `json:"key"`
	// value of the taint, at most 63 characters; unset, any.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`
	Value string `json:"value,omitempty"`
	// effect of the taint; unset, any.
	// +optional
	Effect TaintEffect `json:"effect,omitempty"`
	// notice says how much time the taint leaves; unset, Planned.
	// +optional
	Notice NoticeClass `json:"notice,omitempty"`
}

// Breaker keeps a part of every application in service.
type Breaker struct {
	// minInServicePercent of an application's live instances, rounded down and at
	// least one, stay in service whatever planned notices, observations and
	// inferences say. 0 to 100; built in: 50.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	MinInServicePercent *int32 `json:"minInServicePercent,omitempty"`
}

// ClusterRegistryPolicyStatus is what is in force in the cluster.
type ClusterRegistryPolicyStatus struct {
	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// effective is the policy of a namespace without one of its own: what is built
	// in, with the spec over it.
	// +optional
	Effective *Policy `json:"effective,omitempty"`
	// conditions are Accepted and Ready.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
