package cli

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/kureka/kureka/test/rig/controlplane"
)

// apply creates objects in the namespace default, one after the other.
func apply(ctx context.Context, t *testing.T, config *rest.Config, objects []*unstructured.Unstructured) {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kubernetes.NewForConfigOrDie(config).Discovery()))
	for _, o := range objects {
		kind := o.GroupVersionKind()
		mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Resource(mapping.Resource).Namespace(metav1.NamespaceDefault).Create(ctx, o, metav1.CreateOptions{}); err != nil {
			t.Fatalf("creating %s %s: %v", kind.Kind, o.GetName(), err)
		}
	}
}

// viewer may read what is looked at in one namespace, and nothing of the cluster.
func viewer(ctx context.Context, t *testing.T, plane *controlplane.ControlPlane) *rest.Config {
	t.Helper()
	config, err := plane.AddUser("viewer")
	if err != nil {
		t.Fatal(err)
	}
	api := kubernetes.NewForConfigOrDie(plane.Config()).RbacV1()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "viewer"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"apps", "batch", "autoscaling"}, Resources: []string{"*"}, Verbs: []string{"list"}},
		{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}},
	}}
	if _, err := api.Roles(metav1.NamespaceDefault).Create(ctx, role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: role.ObjectMeta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: "viewer"}},
	}
	if _, err := api.RoleBindings(metav1.NamespaceDefault).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return config
}

// auditAs runs the command as whoever a configuration is for.
func auditAs(t *testing.T, config *rest.Config, args ...string) (rules []string, notes string, code int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := controlplane.WriteKubeconfig(config, path); err != nil {
		t.Fatal(err)
	}
	got := run(t, "", append([]string{"audit", "--kubeconfig", path, "-o", "json"}, args...)...)
	var answer answerOfOthers
	if err := json.Unmarshal([]byte(got.out), &answer); err != nil {
		t.Fatalf("%v: %s%s", err, got.out, got.err)
	}
	for _, f := range answer.Findings {
		rules = append(rules, f.Kind+" "+f.Name+" "+f.Rule)
	}
	return rules, strings.Join(answer.Notes, "; "), got.code
}

// answerOfOthers is the answer as others read it.
type answerOfOthers struct {
	Findings []struct{ Rule, Kind, Name string }
	Notes    []string
}

// TestAudit_findsInAClusterWhatItFindsInFiles puts the rendered chart into a real API
// server. Nothing is installed there of what may be missing.
func TestAudit_findsInAClusterWhatItFindsInFiles(t *testing.T) {
	t.Parallel()
	plane := controlplane.StartFor(t, controlplane.Options{NoControllerManager: true})
	objects, err := controlplane.Manifests(ordersFile)
	if err != nil {
		t.Fatal(err)
	}
	apply(t.Context(), t, plane.Config(), objects)

	offline, err := auditing(t, "", "-f", ordersFile, "-o", "json")
	if offline == "" {
		t.Fatal(err)
	}
	var want answerOfOthers
	if err := json.Unmarshal([]byte(offline), &want); err != nil {
		t.Fatal(err)
	}
	rules := make([]string, 0, len(want.Findings))
	for _, f := range want.Findings {
		rules = append(rules, f.Kind+" "+f.Name+" "+f.Rule)
	}
	for name, args := range map[string][]string{"everywhere": nil, "in its namespace": {"-n", metav1.NamespaceDefault}} {
		got, notes, code := auditAs(t, plane.Config(), args...)
		if diff := cmp.Diff(rules, got); diff != "" || notes != "" || code != exitFound {
			t.Errorf("%s, notes %q, exit code %d (-files +cluster):\n%s", name, notes, code, diff)
		}
	}

	got, notes, _ := auditAs(t, viewer(t.Context(), t, plane), "-n", metav1.NamespaceDefault)
	if len(got) == 0 || !strings.Contains(notes, "you may not list configmaps") || !strings.Contains(notes, "you may not list namespaces") {
		t.Errorf("who may read little is told %q, notes %q", got, notes)
	}
}
