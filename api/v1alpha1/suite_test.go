package v1alpha1_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/test/rig/controlplane"
)

const (
	clusterPolicy   = "ClusterRegistryPolicy"
	namespacePolicy = "RegistryPolicy"
	registration    = "EurekaRegistration"
)

var (
	// plane is the API server that all tests of this package share.
	plane *controlplane.ControlPlane
	// admin may do everything there.
	admin dynamic.Interface
	// schemas are the schemas of the checked-in custom resources by kind.
	schemas = map[string]map[string]any{}
)

func TestMain(m *testing.M) {
	os.Exit(controlplane.Run(m, func(ctx context.Context, p *controlplane.ControlPlane) error {
		plane = p
		return install(ctx)
	}))
}

// install creates the checked-in custom resources and waits until they are served.
func install(ctx context.Context) error {
	var err error
	if admin, err = dynamic.NewForConfig(plane.Config()); err != nil {
		return fmt.Errorf("making the client: %w", err)
	}
	files, err := filepath.Glob("../../config/crd/bases/*.yaml")
	if err != nil || len(files) == 0 {
		return fmt.Errorf("finding the custom resources: %d files, %w", len(files), err)
	}
	for _, file := range files {
		if err := installFile(ctx, file); err != nil {
			return fmt.Errorf("installing %s: %w", file, err)
		}
	}
	return nil
}

func installFile(ctx context.Context, file string) error {
	objects, err := controlplane.Manifests(file)
	if err != nil {
		return err
	}
	api := admin.Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	})
	for _, crd := range objects {
		if _, err := api.Create(ctx, crd, metav1.CreateOptions{FieldValidation: "Strict"}); err != nil {
			return err
		}
		err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			seen, err := api.Get(ctx, crd.GetName(), metav1.GetOptions{})
			return err == nil && conditionOf(seen, "Established") == "True", err
		})
		if err != nil {
			return fmt.Errorf("waiting until %s is served: %w", crd.GetName(), err)
		}
		kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
		versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
		schemas[kind], _, _ = unstructured.NestedMap(versions[0].(map[string]any), "schema", "openAPIV3Schema")
	}
	return nil
}

func conditionOf(o *unstructured.Unstructured, kind string) string {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		if c := c.(map[string]any); c["type"] == kind {
			return c["status"].(string)
		}
	}
	return ""
}

// resources are the names of the kinds in addresses.
func resources() map[string]string {
	return map[string]string{
		clusterPolicy: "clusterregistrypolicies", namespacePolicy: "registrypolicies", registration: "eurekaregistrations",
	}
}

// apiFor is the client for an object's kind, in its namespace if it has one.
func apiFor(o *unstructured.Unstructured) dynamic.ResourceInterface {
	api := admin.Resource(v1alpha1.GroupVersion().WithResource(resources()[o.GetKind()]))
	if o.GetNamespace() == "" {
		return api
	}
	return api.Namespace(o.GetNamespace())
}

// minimal is the smallest valid object of a kind.
func minimal(kind string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetGroupVersionKind(v1alpha1.GroupVersion().WithKind(kind))
	o.SetName(v1alpha1.PolicyName)
	if kind != clusterPolicy {
		o.SetNamespace("default")
	}
	if kind == registration {
		o.Object["spec"] = map[string]any{"app": "demo", "serviceName": "demo", "port": int64(8080), "securePort": int64(8443)}
	}
	return o
}

// create stores an object until the test ends: the name of a policy is free for
// the next test then.
func create(t *testing.T, o *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	stored, err := apiFor(o).Create(t.Context(), o, metav1.CreateOptions{FieldValidation: "Strict"})
	if err != nil {
		t.Fatalf("creating %s %s: %v", o.GetKind(), o.GetName(), err)
	}
	t.Cleanup(func() {
		if err := apiFor(o).Delete(context.WithoutCancel(t.Context()), o.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	return stored
}

func ensureNamespace(t *testing.T, name string) {
	t.Helper()
	ns := &unstructured.Unstructured{Object: map[string]any{}}
	ns.SetAPIVersion("v1")
	ns.SetKind("Namespace")
	ns.SetName(name)
	_, err := admin.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).
		Apply(t.Context(), name, ns, metav1.ApplyOptions{FieldManager: "test"})
	if err != nil {
		t.Fatal(err)
	}
}
