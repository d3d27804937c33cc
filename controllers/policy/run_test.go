package policy

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/internal/verdict"
)

func TestAnEditOfAPolicyReachesTheTargetAndTheStatus(t *testing.T) {
	w := newWorld(t)
	w.installResources()
	ns := w.namespace()
	w.run(plane.Config())
	w.eventually("the target has the built-in policy", func() bool {
		p, own, ok := w.policyOf(ns)
		return ok && !own && p.Equal(verdict.DefaultPolicy())
	})

	cluster := clusterPolicy(v1alpha1.ClusterRegistryPolicySpec{Policy: v1alpha1.Policy{
		Breaker: &v1alpha1.Breaker{MinInServicePercent: new(int32(40))},
	}})
	w.create(cluster)
	own := namespacePolicy(ns, v1alpha1.RegistryPolicySpec{Leases: &v1alpha1.Leases{DefaultDurationSeconds: new(int32(60))}})
	w.create(own)
	w.eventually("both policies are in force", func() bool {
		p, own, _ := w.policyOf(ns)
		return own && p.DefaultDuration == time.Minute && p.MinInServicePercent == 40
	})
	w.eventually("the status of the cluster's policy shows it", func() bool {
		w.must(w.admin.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster))
		s := cluster.Status
		return s.ObservedGeneration == 1 && *s.Effective.Breaker.MinInServicePercent == 40 &&
			meta.IsStatusConditionTrue(s.Conditions, v1alpha1.ConditionAccepted) &&
			meta.IsStatusConditionTrue(s.Conditions, v1alpha1.ConditionReady)
	})

	w.must(w.admin.Get(t.Context(), client.ObjectKeyFromObject(own), own))
	before := own.DeepCopy()
	own.Spec.Leases.DefaultDurationSeconds = new(int32(50))
	w.must(w.admin.Patch(t.Context(), own, client.MergeFrom(before)))
	w.eventually("the edit is in force", func() bool {
		p, _, _ := w.policyOf(ns)
		return p.DefaultDuration == 50*time.Second
	})
	w.eventually("the status shows the edit", func() bool {
		w.must(w.admin.Get(t.Context(), client.ObjectKeyFromObject(own), own))
		return own.Status.ObservedGeneration == 2
	})
	want := v1alpha1.RegistryPolicyStatus{
		ObservedGeneration: 2,
		Figures: &v1alpha1.LeaseFigures{
			Leases: 4, Expected: 8, Received: 3, Held: 2, SelfPreservation: v1alpha1.SelfPreservationEngaged,
		},
		Conditions: []metav1.Condition{
			{Type: "Accepted", Status: "True", ObservedGeneration: 2, Reason: "Accepted", Message: "Every field is in use"},
			{Type: "Ready", Status: "True", ObservedGeneration: 2, Reason: "InForce", Message: "The policy in status.effective decides"},
		},
	}
	effective, _, _ := Merge(&cluster.Spec, &own.Spec)
	want.Effective = &effective
	if diff := cmp.Diff(want, own.Status, cmpopts.IgnoreFields(metav1.Condition{}, "LastTransitionTime")); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}

	w.must(w.admin.Delete(t.Context(), own))
	w.eventually("the namespace has the fallback", func() bool {
		p, own, _ := w.policyOf(ns)
		return !own && p.MinInServicePercent == 40
	})
	w.must(w.admin.Delete(t.Context(), cluster))
	w.eventually("everything is as built in", func() bool {
		p, _, _ := w.policyOf(ns)
		return p.Equal(verdict.DefaultPolicy())
	})
	if lines := w.logged(); len(lines) > 0 {
		t.Errorf("logged: %q", lines)
	}
}

func TestWhatTheClusterDoesNotAllowIsShownAndTheRestIsUsed(t *testing.T) {
	w := newWorld(t)
	w.installResources()
	ns := w.namespace()
	w.create(clusterPolicy(v1alpha1.ClusterRegistryPolicySpec{NamespaceOverrides: &v1alpha1.NamespaceOverrides{
		Denied: []v1alpha1.NamespaceSetting{v1alpha1.SettingMode},
		Ranges: &v1alpha1.NamespaceRanges{MaxEvictionPercent: &v1alpha1.Range{Max: new(int32(30))}},
	}}))
	own := namespacePolicy(ns, v1alpha1.RegistryPolicySpec{
		Mode:   v1alpha1.Observe,
		Leases: &v1alpha1.Leases{MaxEvictionPercent: new(int32(31)), ReadyGraceSeconds: new(int32(7))},
	})
	w.create(own)
	w.run(plane.Config())
	w.eventually("what is allowed is in force", func() bool {
		p, own, _ := w.policyOf(ns)
		return own && !p.Observe && p.MaxEvictionPercent == 15 && p.ReadyGrace == 7*time.Second
	})
	w.eventually("the status says what is not", func() bool {
		w.must(w.admin.Get(t.Context(), client.ObjectKeyFromObject(own), own))
		return meta.IsStatusConditionFalse(own.Status.Conditions, v1alpha1.ConditionAccepted)
	})
	got := meta.FindStatusCondition(own.Status.Conditions, v1alpha1.ConditionAccepted)
	want := "mode: Observe is not used, the cluster decides everything in Mode; Enforce holds instead; " +
		"leases.maxEvictionPercent: 31 is above 30, the most that the cluster allows; 15 holds instead"
	if got.Reason != v1alpha1.ReasonDenied || got.Message != want {
		t.Errorf("Accepted is %s: %s\nwant %s: %s", got.Reason, got.Message, v1alpha1.ReasonDenied, want)
	}
	if !meta.IsStatusConditionTrue(own.Status.Conditions, v1alpha1.ConditionReady) {
		t.Error("the policy is in force and not Ready")
	}
}

func TestAPolicyForAnotherInstallationIsIgnored(t *testing.T) {
	w := newWorld(t)
	w.installResources()
	theirs, ours := w.namespace(), w.namespace()
	w.create(namespacePolicy(theirs, v1alpha1.RegistryPolicySpec{Mode: v1alpha1.Observe, RegistryClassName: "theirs"}))
	w.create(namespacePolicy(ours, v1alpha1.RegistryPolicySpec{Mode: v1alpha1.Observe, RegistryClassName: "ours"}))
	w.run(plane.Config())
	w.eventually("our policy is in force", func() bool {
		p, own, _ := w.policyOf(ours)
		return own && p.Observe
	})
	if p, own, _ := w.policyOf(theirs); own || p.Observe {
		t.Errorf("the policy of another installation is in force: %+v", p)
	}
}

func TestCustomResourcesThatAreInstalledLaterArePickedUp(t *testing.T) {
	w := newWorld(t)
	w.uninstallResources()
	w.run(plane.Config())
	w.eventually("the missing kinds are told", func() bool { return len(w.logged()) > 0 })
	if lines := w.logged(); len(lines) != 1 || !strings.Contains(lines[0], "kubectl apply -k config/crd") {
		t.Errorf("logged: %q", lines)
	}
	if _, _, ok := w.policyOf("any"); ok {
		t.Error("the target was told policies that nobody could read")
	}
	w.installResources()
	w.create(clusterPolicy(v1alpha1.ClusterRegistryPolicySpec{Policy: v1alpha1.Policy{Mode: v1alpha1.Observe}}))
	w.eventually("the policy is in force", func() bool {
		p, _, _ := w.policyOf("any")
		return p.Observe
	})
	if lines := w.logged(); len(lines) != 1 {
		t.Errorf("logged: %q", lines)
	}
}

func TestAMissingPermissionIsToldOnceAndPickedUp(t *testing.T) {
	w := newWorld(t)
	w.installResources()
	user := w.namespace() // a name that nothing else has
	cfg, err := plane.AddUser(user)
	w.must(err)
	w.create(clusterPolicy(v1alpha1.ClusterRegistryPolicySpec{Policy: v1alpha1.Policy{Mode: v1alpha1.Observe}}))
	w.run(cfg)
	w.eventually("the missing permission is told", func() bool { return len(w.logged()) > 0 })
	w.create(&rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})
	w.eventually("the policy is in force", func() bool {
		p, _, _ := w.policyOf("any")
		return p.Observe
	})
	if lines := w.logged(); len(lines) != 1 || !strings.Contains(lines[0], "forbidden") {
		t.Errorf("logged: %q", lines)
	}
}

// The manifests are applied as they are; their service account has no other rights.
func TestTheManifestsGrantWhatIsNeeded(t *testing.T) {
	w := newWorld(t)
	w.installResources()
	w.install("manager/namespace.yaml", "rbac/service_account.yaml", "rbac/role.yaml", "rbac/role_binding.yaml")
	cfg, err := plane.AddUser("system:serviceaccount:kureka-system:kureka", "system:serviceaccounts", "system:authenticated")
	w.must(err)
	cluster := clusterPolicy(v1alpha1.ClusterRegistryPolicySpec{})
	w.create(cluster)
	own := namespacePolicy(w.namespace(), v1alpha1.RegistryPolicySpec{})
	w.create(own)
	w.run(cfg)
	w.eventually("both statuses are written", func() bool {
		w.must(w.admin.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster))
		w.must(w.admin.Get(t.Context(), client.ObjectKeyFromObject(own), own))
		return cluster.Status.ObservedGeneration == 1 && own.Status.ObservedGeneration == 1
	})
}

// uninstallResources makes the API server forget the custom resources.
func (w *world) uninstallResources() {
	w.t.Helper()
	for _, name := range []string{"clusterregistrypolicies", "registrypolicies", "eurekaregistrations"} {
		crd := &unstructured.Unstructured{}
		crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
		crd.SetName(name + "." + v1alpha1.Group)
		w.must(client.IgnoreNotFound(w.admin.Delete(w.t.Context(), crd)))
		w.eventually(name+" is gone", func() bool {
			return apierrors.IsNotFound(w.admin.Get(context.WithoutCancel(w.t.Context()), client.ObjectKeyFromObject(crd), crd))
		})
	}
}
