package policy

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kureka/kureka/api/v1alpha1"
)

func TestTheModeThatIsBuiltInHoldsWhereNobodyNamesAnother(t *testing.T) {
	const ns = "shop"
	tests := map[string]struct {
		builtIn, cluster, namespace v1alpha1.PolicyMode
		denied                      bool // the cluster decides for namespaces
		wantFallback, want          bool // whether verdicts are only shown
	}{
		"nobody says anything":               {},
		"only observe":                       {builtIn: v1alpha1.Observe, wantFallback: true, want: true},
		"the cluster acts":                   {builtIn: v1alpha1.Observe, cluster: v1alpha1.Enforce},
		"the namespace acts":                 {builtIn: v1alpha1.Observe, namespace: v1alpha1.Enforce, wantFallback: true},
		"the namespace may not act":          {builtIn: v1alpha1.Observe, namespace: v1alpha1.Enforce, denied: true, wantFallback: true, want: true},
		"the cluster only observes":          {builtIn: v1alpha1.Enforce, cluster: v1alpha1.Observe, wantFallback: true, want: true},
		"the namespace only observes":        {builtIn: v1alpha1.Enforce, namespace: v1alpha1.Observe, want: true},
		"the cluster without a built-in one": {cluster: v1alpha1.Observe, wantFallback: true, want: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var cluster *v1alpha1.ClusterRegistryPolicy
			if tc.cluster != "" || tc.denied {
				cluster = &v1alpha1.ClusterRegistryPolicy{}
				cluster.Spec.Mode = tc.cluster
			}
			if tc.denied {
				cluster.Spec.NamespaceOverrides = &v1alpha1.NamespaceOverrides{Denied: []v1alpha1.NamespaceSetting{v1alpha1.SettingMode}}
			}
			own := v1alpha1.RegistryPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: ns}, Spec: v1alpha1.RegistryPolicySpec{Mode: tc.namespace}}
			_, fallback, namespaces, _ := decide(cluster, []v1alpha1.RegistryPolicy{own}, tc.builtIn)
			if fallback.Observe != tc.wantFallback || namespaces[ns].Observe != tc.want {
				t.Errorf("only shown: everywhere %v, there %v; want %v and %v", fallback.Observe, namespaces[ns].Observe, tc.wantFallback, tc.want)
			}
			if cluster != nil && cluster.Spec.Mode != tc.cluster {
				t.Error("the object of the cache was changed")
			}
		})
	}
}
