package chart

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kureka/kureka/test/rig/controlplane"
)

// granted are all permissions of the roles, a line for each verb on each resource,
// sorted. Every role must be bound to the service account of this name.
func granted(o objects, account string) []string {
	o.t.Helper()
	var all []string
	for _, obj := range o.all {
		kind := obj.GetKind()
		if kind != "Role" && kind != "ClusterRole" {
			continue
		}
		role := typed[rbacv1.ClusterRole](o.t, obj)
		for _, r := range role.Rules {
			all = append(all, lines(role.Namespace, r)...)
		}
		name := obj.GetName()
		if obj.GetNamespace() != "" {
			name = obj.GetNamespace() + "/" + name
		}
		binding := of[rbacv1.ClusterRoleBinding](o, kind+"Binding", name)
		want := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: obj.GetName()}
		subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Name: account, Namespace: systemNamespace}}
		if binding.RoleRef != want || !slices.Equal(binding.Subjects, subjects) {
			o.t.Errorf("%s %s is bound to %v by %v", kind, name, binding.Subjects, binding.RoleRef)
		}
	}
	slices.Sort(all)
	return all
}

func lines(namespace string, r rbacv1.PolicyRule) (all []string) {
	for _, group := range r.APIGroups {
		for _, resource := range r.Resources {
			for _, verb := range r.Verbs {
				all = append(all, fmt.Sprintf("%s %s.%s %v in %q", verb, resource, group, r.ResourceNames, namespace))
			}
		}
	}
	return all
}

// inConfig is what config/ grants.
func inConfig(t *testing.T) []string {
	t.Helper()
	roles, err := controlplane.Manifests(root + "/config/rbac/role.yaml")
	if err != nil {
		t.Fatal(err)
	}
	bindings, err := controlplane.Manifests(root + "/config/rbac/role_binding.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return granted(objects{t, append(roles, bindings...)}, objectName)
}

func without(all []string, part string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(line string) bool { return strings.Contains(line, part) })
}

func TestRBAC_grantsWhatConfigGrants(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(inConfig(t), granted(render(t, ""), objectName)); diff != "" {
		t.Errorf("permissions differ (-config +chart):\n%s", diff)
	}
}

func TestRBAC_grantsNothingForAWebhookThatNeedsNothing(t *testing.T) {
	want := without(inConfig(t), "mutatingwebhookconfigurations")
	for _, values := range []string{"webhook: {enabled: false}", "webhook: {certificate: {existingSecret: s}}", "webhook: {certificate: {certManager: {enabled: true}}}"} {
		if diff := cmp.Diff(want, granted(render(t, values), objectName)); diff != "" {
			t.Errorf("permissions with %s differ (-want +got):\n%s", values, diff)
		}
	}
}

// What concerns namespaces is granted in those that are watched, and nowhere else.
func TestRBAC_staysInTheNamespacesThatAreWatched(t *testing.T) {
	t.Parallel()
	var want []string
	for _, line := range inConfig(t) {
		if !strings.HasSuffix(line, `in ""`) || strings.Contains(line, " nodes.") || strings.Contains(line, "clusterregistry") || strings.Contains(line, "mutating") {
			want = append(want, line)
			continue
		}
		for _, namespace := range []string{"shop", "play"} {
			want = append(want, strings.Replace(line, `in ""`, fmt.Sprintf("in %q", namespace), 1))
		}
	}
	want = append(want, `create events.events.k8s.io [] in "default"`)
	slices.Sort(want)
	got := granted(render(t, "{rbac: {scope: namespaces}, watchNamespaces: [shop, play]}"), objectName)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("permissions differ (-want +got):\n%s", diff)
	}
}

// The own namespace and those of Kubernetes may be watched as any other.
func TestRBAC_givesEveryRoleANameOfItsOwn(t *testing.T) {
	t.Parallel()
	o := render(t, "{rbac: {scope: namespaces}, watchNamespaces: [default, kureka-system, kube-node-lease]}")
	seen := map[string]bool{}
	for _, obj := range o.all {
		id := obj.GetKind() + " " + obj.GetNamespace() + "/" + obj.GetName()
		if seen[id] {
			t.Errorf("there are two of %s", id)
		}
		seen[id] = true
	}
}

func TestRBAC_namesTheObjectsOfThisInstallation(t *testing.T) {
	t.Parallel()
	want := inConfig(t)
	for i, line := range want {
		want[i] = strings.Replace(line, "[kureka]", "[blue]", 1)
	}
	if diff := cmp.Diff(want, granted(render(t, "fullnameOverride: blue"), "blue")); diff != "" {
		t.Errorf("permissions differ (-want +got):\n%s", diff)
	}
}

func TestRBAC_neverGrantsSecrets(t *testing.T) {
	t.Parallel()
	for _, certificate := range []string{"existingSecret: s", "certManager: {enabled: true}"} {
		o := render(t, "{auth: {basic: {existingSecret: s}}, tls: {existingSecret: s}, webhook: {certificate: {"+certificate+"}}}")
		for _, line := range granted(o, objectName) {
			if strings.Contains(line, "secrets") || strings.Contains(line, "*") {
				t.Errorf("with %s it grants %s", certificate, line)
			}
		}
	}
}

func TestServiceAccount_isTheOneThatIsBoundAndUsed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ values, want, made string }{
		"its own":           {"", objectName, objectName},
		"with another name": {"serviceAccount: {name: blue}", "blue", "blue"},
		"one that exists":   {"serviceAccount: {create: false, name: mine}", "mine", ""},
		"the default one":   {"serviceAccount: {create: false}", "default", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := render(t, tc.values)
			granted(o, tc.want)
			if got := pod(o).Spec.ServiceAccountName; got != tc.want {
				t.Errorf("the pod uses %s, want %s", got, tc.want)
			}
			made := o.named("ServiceAccount", tc.want)
			if (made != nil) != (tc.made != "") {
				t.Errorf("made: %v", made)
			}
		})
	}
	o := render(t, "{rbac: {create: false}, serviceAccount: {annotations: {a: b}}}")
	if len(granted(o, objectName)) != 0 || of[corev1.ServiceAccount](o, "ServiceAccount", objectName).Annotations["a"] != "b" {
		t.Error("roles are there although they are not to be created, or the annotation is not")
	}
}
