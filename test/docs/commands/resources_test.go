package commands

import (
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kureka/kureka/test/rig/controlplane"
	"github.com/kureka/kureka/test/rig/markdown"
	"github.com/kureka/kureka/test/rig/netns"
)

// Every custom resource that a document shows is one that the API server accepts, as
// it stands.
func TestEveryCustomResourceIsAccepted(t *testing.T) {
	netns.Require(t)
	documents, err := markdown.ReadAll(root)
	if err != nil {
		t.Fatal(err)
	}
	api := apiServer(t)
	for _, d := range documents {
		for _, b := range d.Blocks {
			if !strings.Contains(b.Text, "apiVersion: kureka.dev/") {
				continue
			}
			objects, err := controlplane.DecodeManifests(strings.NewReader(b.Text))
			if err != nil {
				t.Errorf("%s:%d: %v", d.Path, b.Line, err)
			}
			for _, object := range objects {
				if object.GetNamespace() == "" && object.GetKind() != "ClusterRegistryPolicy" {
					object.SetNamespace(metav1.NamespaceDefault) // as kubectl does
				}
				if err := api.Create(t.Context(), object, client.DryRunAll, client.FieldValidation("Strict")); err != nil {
					t.Errorf("%s:%d: %v", d.Path, b.Line, err)
				}
			}
		}
	}
}

// apiServer runs one that has the custom resources and the namespace of the examples.
func apiServer(t *testing.T) client.Client {
	t.Helper()
	plane := controlplane.StartFor(t, controlplane.Options{NoControllerManager: true})
	_, err := envtest.InstallCRDs(plane.Config(), envtest.CRDInstallOptions{
		Paths: []string{filepath.Join(root, "config", "crd", "bases")}, ErrorIfPathMissing: true,
	})
	if err != nil {
		t.Fatalf("installing the custom resources: %v", err)
	}
	api, err := client.New(plane.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := api.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}); err != nil {
		t.Fatal(err)
	}
	return api
}
