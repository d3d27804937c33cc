package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group is the API group of the custom resources.
const Group = "kureka.dev"

// PolicyName is the only name a policy may have: there is one per cluster and
// one per namespace.
const PolicyName = "default"

// GroupVersion returns the group and version of the types in this package.
func GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: Group, Version: "v1alpha1"}
}

// AddToScheme adds the types of this package to a scheme. It returns no error;
// the result is there for runtime.SchemeBuilder.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion(),
		&ClusterRegistryPolicy{}, &ClusterRegistryPolicyList{},
		&RegistryPolicy{}, &RegistryPolicyList{},
		&EurekaRegistration{}, &EurekaRegistrationList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion())
	return nil
}
