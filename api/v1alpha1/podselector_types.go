package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PodSelector chooses pods by their labels. It reads like the selector of a
// Deployment and is checked when it is written; one without terms would choose
// every pod and is refused. All terms must hold.
//
// +kubebuilder:validation:XValidation:rule="(has(self.matchLabels) && size(self.matchLabels) > 0) || (has(self.matchExpressions) && size(self.matchExpressions) > 0)",message="a selector needs a label or an expression, or it would choose every pod"
type PodSelector struct {
	// matchLabels are labels a pod must have. At most 32.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(key, key.matches('^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'))",message="the key of a label is a name of at most 63 characters, after a prefix and a slash or alone"
	MatchLabels map[string]LabelValue `json:"matchLabels,omitempty"`
	// matchExpressions are conditions on labels. At most 32.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	MatchExpressions []PodSelectorRequirement `json:"matchExpressions,omitempty"`
}

// LabelValue is the value of a label: at most 63 characters.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`
type LabelValue string

// PodSelectorRequirement is a condition on one label.
//
// +kubebuilder:validation:XValidation:rule="self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0 : !has(self.values) || size(self.values) == 0",message="In and NotIn need values, Exists and DoesNotExist have none"
type PodSelectorRequirement struct {
	// key of the label, at most 317 characters: a name, or prefix/name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	Key string `json:"key"`
	// operator is what is asked of the label.
	// +required
	// +kubebuilder:validation:Enum=In;NotIn;Exists;DoesNotExist
	Operator metav1.LabelSelectorOperator `json:"operator"`
	// values that In and NotIn compare with. At most 32.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Values []LabelValue `json:"values,omitempty"`
}

// LabelSelector returns the selector in the form that apimachinery compiles. The
// result shares nothing with the receiver.
func (s *PodSelector) LabelSelector() *metav1.LabelSelector {
	out := &metav1.LabelSelector{}
	for key, value := range s.MatchLabels {
		metav1.AddLabelToSelector(out, key, string(value))
	}
	for _, r := range s.MatchExpressions {
		req := metav1.LabelSelectorRequirement{Key: r.Key, Operator: r.Operator}
		for _, v := range r.Values {
			req.Values = append(req.Values, string(v))
		}
		out.MatchExpressions = append(out.MatchExpressions, req)
	}
	return out
}
