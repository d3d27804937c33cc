// Package v1alpha1 owns the custom resources of the group kureka.dev: their
// fields, the bounds and rules the API server checks, and the names of
// conditions and reasons. It holds no behaviour and must import nothing but
// k8s.io/apimachinery, so that others can use the types at that price.
//
// A field that is not set stays not set: the API server fills in no defaults. So
// a policy says only what somebody decided, a better built-in value reaches
// everybody who did not decide, and status.effective shows what is in force.
//
// +groupName=kureka.dev
// +kubebuilder:object:generate=true
package v1alpha1
