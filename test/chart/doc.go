// Package chart proves the Helm chart: what each template renders, that it is what
// the program and config/ understand, and a release from its installation to its
// end on a real control plane, whose node runs the program as the rendered
// Deployment says.
//
// Helm and kustomize are the real programs, built from hack/helm. They have a
// module of their own: in the product's they would bring a hundred requirements,
// in hack/tools they would choose the versions that the linter is built with.
package chart
