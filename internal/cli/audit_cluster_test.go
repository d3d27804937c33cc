package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/kureka/kureka/test/rig/controlplane"
)

// apply creates objects, those of namespaces in default, one after the other.
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
		var of dynamic.ResourceInterface = client.Resource(mapping.Resource)
		if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
			of = client.Resource(mapping.Resource).Namespace(metav1.NamespaceDefault)
		}
		if _, err := of.Create(ctx, o, metav1.CreateOptions{}); err != nil {
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
func auditAs(t *testing.T, config *rest.Config, args ...string) (answerOfOthers, int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := controlplane.WriteKubeconfig(config, path); err != nil {
		t.Fatal(err)
	}
	got := run(t, "", append([]string{"audit", "--kubeconfig", path, "-o", "json"}, args...)...)
	return answerIn(t, got.out), got.code
}

// answerOfOthers is the answer as others read it.
type answerOfOthers struct {
	Findings []struct{ Rule, Kind, Name, Advice string }
	Notes    []string
}

func answerIn(t *testing.T, out string) (a answerOfOthers) {
	t.Helper()
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return a
}

func (a *answerOfOthers) rules() []string {
	rules := make([]string, 0, len(a.Findings))
	for _, f := range a.Findings {
		rules = append(rules, f.Kind+" "+f.Name+" "+f.Rule)
	}
	return rules
}

// advice is what a rule advises, empty if it does not speak.
func (a *answerOfOthers) advice(rule string) string {
	for _, f := range a.Findings {
		if f.Rule == rule {
			return f.Advice
		}
	}
	return ""
}

// mayNotList reports whether notes say so of each resource.
func (a *answerOfOthers) mayNotList(resources ...string) bool {
	notes := strings.Join(a.Notes, "; ")
	for _, r := range resources {
		if !strings.Contains(notes, "you may not list "+r+": ") {
			return false
		}
	}
	return true
}

// manifests reads what is in files of this repository.
func manifests(t *testing.T, pattern string) []*unstructured.Unstructured {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files %s, %v", len(files), pattern, err)
	}
	var all []*unstructured.Unstructured
	for _, file := range files {
		objects, err := controlplane.Manifests(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, objects...)
	}
	return all
}

// TestAudit_findsInAClusterWhatItFindsInFiles puts the rendered chart into a real API
// server, first without anything of Kureka, then with its policy, then with its webhook.
func TestAudit_findsInAClusterWhatItFindsInFiles(t *testing.T) {
	t.Parallel()
	plane := controlplane.StartFor(t, controlplane.Options{NoControllerManager: true})
	admin := plane.Config()
	apply(t.Context(), t, admin, manifests(t, ordersFile))

	out, _ := auditing(t, "", "-f", ordersFile, "-o", "json") // which finds something, and says so
	offline := answerIn(t, out)
	for name, args := range map[string][]string{"everywhere": nil, "in its namespace": {"-n", metav1.NamespaceDefault}} {
		got, code := auditAs(t, admin, args...)
		if diff := cmp.Diff(offline.rules(), got.rules()); diff != "" || len(got.Notes) > 0 || code != exitFound {
			t.Errorf("%s, notes %q, exit code %d (-files +cluster):\n%s", name, got.Notes, code, diff)
		}
	}
	few, _ := auditAs(t, viewer(t.Context(), t, plane), "-n", metav1.NamespaceDefault)
	if len(few.Findings) == 0 || !few.mayNotList("configmaps", "namespaces", "replicationcontrollers") {
		t.Errorf("who may read little is told %q, notes %q", few.rules(), few.Notes)
	}

	apply(t.Context(), t, admin, manifests(t, "../../config/crd/bases/*.yaml"))
	policy, err := controlplane.DecodeManifests(strings.NewReader(strings.SplitN(drainOn, "---", 2)[1]))
	if err != nil {
		t.Fatal(err)
	}
	applyPolicy(t.Context(), t, admin, policy)
	got, _ := auditAs(t, admin)
	if advice := got.advice("PreStopSleep"); !strings.Contains(advice, "install Kureka's webhook") || !strings.Contains(advice, "eep the hook") {
		t.Errorf("without a webhook it advises %q", advice)
	}
	apply(t.Context(), t, admin, manifests(t, "../../config/webhook/webhook.yaml"))
	got, _ = auditAs(t, admin)
	if advice := got.advice("PreStopSleep"); !strings.HasPrefix(advice, "Remove the whole hook") {
		t.Errorf("with the drain on it advises %q", advice)
	}
}

// apiServer answers the lists that have to be there, with the given objects for some
// paths, and says with which limit each was asked for.
func apiServer(t *testing.T, objects map[string]string) (config *rest.Config, limits *sync.Map) {
	t.Helper()
	limits = new(sync.Map)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limits.Store(r.URL.Path, r.URL.Query().Get("limit"))
		w.Header().Set("Content-Type", "application/json")
		if objects[r.URL.Path] == "" && strings.Contains(r.URL.Path, "argoproj.io") {
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprintf(w, `{"kind":"List","apiVersion":"v1","metadata":{},"items":[%s]}`, objects[r.URL.Path])
	}))
	t.Cleanup(s.Close)
	return &rest.Config{Host: s.URL}, limits
}

func TestAudit_ofAClusterSaysWhatItDoesNotLookAt(t *testing.T) {
	t.Parallel()
	const client = `"spec":{"containers":[{"name":"app","env":[{"name":"EUREKA_URL","value":"x"}]}]}`
	pod := func(name, apiVersion, kind string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"shop","ownerReferences":[{"apiVersion":%q,"kind":%q,"name":"x","uid":"u","controller":true}]},%s}`, name, apiVersion, kind, client)
	}
	of := func(apiVersion, kind string) string {
		return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"alone","namespace":"shop"},"spec":{"replicas":1,"template":{%s}}}`, apiVersion, kind, client)
	}
	config, limits := apiServer(t, map[string]string{
		"/api/v1/pods": strings.Join([]string{
			pod("a", "example.com/v1", "App"), pod("b", "apps.kruise.io/v1beta1", "CloneSet"), pod("c", "apps/v1", "ReplicaSet"), pod("d", "v1", "ReplicationController"),
		}, ","),
		"/apis/apps/v1/replicasets":      of("apps/v1", "ReplicaSet"),
		"/api/v1/replicationcontrollers": of("v1", "ReplicationController"),
	})
	got, _ := auditAs(t, config)
	if diff := cmp.Diff([]string{"2 pods belong to kinds that are not looked at: App.example.com, CloneSet.apps.kruise.io"}, got.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	for _, want := range []string{"ReplicaSet alone SingleReplica", "ReplicationController alone SingleReplica"} {
		if !slices.Contains(got.rules(), want) {
			t.Errorf("it finds %q, and not %s", got.rules(), want)
		}
	}
	for path, want := range map[string]string{"/api/v1/pods": "500", "/api/v1/configmaps": "40"} {
		if limit, _ := limits.Load(path); limit != want {
			t.Errorf("%s is read in pages of %v, want %s", path, limit, want)
		}
	}
}

// applyPolicy opts the namespace default in and creates a policy in it as soon as its
// kind is served.
func applyPolicy(ctx context.Context, t *testing.T, config *rest.Config, policy []*unstructured.Unstructured) {
	t.Helper()
	client := kubernetes.NewForConfigOrDie(config)
	patch := []byte(`{"metadata":{"labels":{"kureka.dev/drain":"Enabled"}}}`)
	if _, err := client.CoreV1().Namespaces().Patch(ctx, metav1.NamespaceDefault, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		list, err := client.Discovery().ServerResourcesForGroupVersion(policy[0].GetAPIVersion())
		served := func(r metav1.APIResource) bool { return r.Kind == policy[0].GetKind() }
		return err == nil && slices.ContainsFunc(list.APIResources, served), nil
	})
	if err != nil {
		t.Fatalf("waiting for the policies to be served: %v", err)
	}
	apply(ctx, t, config, policy)
}
