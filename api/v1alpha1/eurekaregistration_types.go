package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// EurekaRegistration registers the pods of its namespace that have no Eureka
// client. They follow readiness and send no heartbeats. Where a pod registers
// itself under the same application too, its own record is listed.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=ereg,categories=kureka
// +kubebuilder:printcolumn:name="App",type=string,JSONPath=`.spec.app`
// +kubebuilder:printcolumn:name="Pods",type=integer,JSONPath=`.status.matchedPods`
// +kubebuilder:printcolumn:name="Registered",type=integer,JSONPath=`.status.registeredInstances`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Service",type=string,priority=1,JSONPath=`.spec.serviceName`
// +kubebuilder:printcolumn:name="Port",type=string,priority=1,JSONPath=`.spec.port`
// +kubebuilder:printcolumn:name="Vip",type=string,priority=1,JSONPath=`.spec.vipAddress`
// +kubebuilder:printcolumn:name="Class",type=string,priority=1,JSONPath=`.spec.registryClassName`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type EurekaRegistration struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec says which pods are registered and as what.
	// +required
	Spec EurekaRegistrationSpec `json:"spec"`
	// status says what became of it.
	// +optional
	Status EurekaRegistrationStatus `json:"status,omitzero"`
}

// EurekaRegistrationList is a list of registrations.
//
// +kubebuilder:object:root=true
type EurekaRegistrationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	Items []EurekaRegistration `json:"items"`
}

// EurekaRegistrationSpec says which pods are registered and as what.
//
// +kubebuilder:validation:XValidation:rule="has(self.selector) != has(self.serviceName)",message="set exactly one of selector and serviceName"
// +kubebuilder:validation:XValidation:rule="has(self.port) || has(self.securePort)",message="set port, securePort or both"
// +kubebuilder:validation:XValidation:rule="!has(self.secureVipAddress) || has(self.securePort)",message="secureVipAddress needs a securePort"
type EurekaRegistrationSpec struct {
	// app is the application's name; clients see it in upper case. 1 to 128
	// letters, digits, dots, underscores and hyphens.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9._-]*$`
	App string `json:"app"`
	// selector chooses the pods by their labels.
	// +optional
	Selector *PodSelector `json:"selector,omitempty"`
	// serviceName chooses the pods behind a Service of the namespace; a pod that
	// leaves the Service goes out of service.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	ServiceName string `json:"serviceName,omitempty"`
	// port is a number from 1 to 65535 or the name of a container port. Unset, the
	// instance has no plain port.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 && self <= 65535 : size(self) <= 15 && self.matches('^[a-z0-9]+(-[a-z0-9]+)*$') && self.matches('[a-z]')",message="port is a number from 1 to 65535 or the name of a container port"
	Port *intstr.IntOrString `json:"port,omitempty"`
	// securePort is a number from 1 to 65535 or the name of a container port. Unset,
	// the instance has no secure port.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 && self <= 65535 : size(self) <= 15 && self.matches('^[a-z0-9]+(-[a-z0-9]+)*$') && self.matches('[a-z]')",message="securePort is a number from 1 to 65535 or the name of a container port"
	SecurePort *intstr.IntOrString `json:"securePort,omitempty"`
	// managementPort is a number from 1 to 65535 or the name of a container port. It
	// becomes the metadata management.port and the port of the status and health
	// pages. Unset, they are on the instance's own port.
	// +optional
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 && self <= 65535 : size(self) <= 15 && self.matches('^[a-z0-9]+(-[a-z0-9]+)*$') && self.matches('[a-z]')",message="managementPort is a number from 1 to 65535 or the name of a container port"
	ManagementPort *intstr.IntOrString `json:"managementPort,omitempty"`
	// vipAddress is the name, or names with commas between, that clients look
	// instances up by; at most 255 characters. Unset, the app in lower case.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9._:,-]+$`
	VIPAddress string `json:"vipAddress,omitempty"`
	// secureVipAddress is the same for the secure port. Unset, the vipAddress if
	// there is a securePort.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9._:,-]+$`
	SecureVIPAddress string `json:"secureVipAddress,omitempty"`
	// metadata of every instance: at most 64 pairs, names of at most 128 letters,
	// digits, dots, underscores and hyphens, values of at most 1024 characters.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(name, size(name) <= 128 && name.matches('^[A-Za-z_][A-Za-z0-9._-]*$'))",message="a metadata name has at most 128 letters, digits, dots, underscores and hyphens and begins with a letter or underscore"
	Metadata map[string]MetadataValue `json:"metadata,omitempty"`
	// metadataFromLabels copies labels of the pod into its metadata; a pair of
	// metadata with the same name wins. At most 32.
	// +optional
	// +listType=map
	// +listMapKey=label
	// +kubebuilder:validation:MaxItems=32
	MetadataFromLabels []MetadataFromLabel `json:"metadataFromLabels,omitempty"`
	// paths of the instance's pages.
	// +optional
	Paths *Paths `json:"paths,omitempty"`
	// hostName is the form of the host name. Unset, PodIP.
	// +optional
	HostName HostNameForm `json:"hostName,omitempty"`
	// registryClassName names the installation this registration is for; unset,
	// every one.
	// +optional
	RegistryClassName RegistryClass `json:"registryClassName,omitempty"`
}

// MetadataValue is the value of a pair of metadata: at most 1024 characters.
//
// +kubebuilder:validation:MaxLength=1024
type MetadataValue string

// MetadataFromLabel copies one label of a pod into its metadata.
//
// +kubebuilder:validation:XValidation:rule="has(self.name) || !self.label.contains('/')",message="a label with a prefix needs a name, because metadata names have no slash"
type MetadataFromLabel struct {
	// label is the label's key. A pod without it gets no metadata from here.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	Label string `json:"label"`
	// name of the metadata; unset, the label's key.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9._-]*$`
	Name string `json:"name,omitempty"`
}

// Paths of an instance's pages, each beginning with a slash and of at most 1024
// characters. Unset, clients see no address of that page.
type Paths struct {
	// homePage is the path of the home page.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/[!-~]*$`
	HomePage string `json:"homePage,omitempty"`
	// statusPage is the path of the status page.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/[!-~]*$`
	StatusPage string `json:"statusPage,omitempty"`
	// healthCheck is the path of the health check. Nobody but the clients asks it.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/[!-~]*$`
	HealthCheck string `json:"healthCheck,omitempty"`
}

// HostNameForm is the form of an instance's host name.
//
// +kubebuilder:validation:Enum=PodIP;PodDNS
type HostNameForm string

// Forms of host names.
const (
	// HostNamePodIP is the pod's address.
	HostNamePodIP HostNameForm = "PodIP"
	// HostNamePodDNS is hostname.subdomain.namespace.svc for a pod that has a
	// subdomain, as those of a StatefulSet do, and the address for any other.
	HostNamePodDNS HostNameForm = "PodDNS"
)

// EurekaRegistrationStatus says what became of a registration.
type EurekaRegistrationStatus struct {
	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// matchedPods is how many pods the selector or Service chooses.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MatchedPods *int32 `json:"matchedPods,omitempty"`
	// registeredInstances is how many of them are listed by this registration.
	// Those that registered themselves are not counted.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RegisteredInstances *int32 `json:"registeredInstances,omitempty"`
	// conditions are Accepted and Ready.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
