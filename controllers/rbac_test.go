package controllers

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kureka/kureka/test/rig/controlplane"
)

// The manifests are applied as they are, and a watcher with the rights of their
// service account, and no others, gets everything it needs.
func TestTheManifestsGrantWhatTheWatcherNeeds(t *testing.T) {
	api, err := client.New(plane.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range kustomized(t, filepath.Join("..", "config", "default")) {
		for _, obj := range manifests(t, name) {
			if err := api.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(obj), client.FieldOwner("test")); err != nil {
				t.Errorf("applying %s: %v", name, err)
			}
		}
	}
	w := newWorld(t)
	w.stop()
	cfg, err := plane.AddUser("system:serviceaccount:kureka-system:kureka", "system:serviceaccounts", "system:authenticated")
	w.must(err)
	w.watchCanary(cfg, CanaryOptions{Namespace: "kureka-system", Name: "kureka", Identity: "test"})
	w.eventually("every watch works", func() bool {
		states := w.watcher.States()
		for _, s := range states {
			if !s.Synced || s.Problem != "" {
				return false
			}
		}
		return len(states) == 6
	})
	node := w.node()
	w.eventually("the view is fresh", func() bool {
		w.renewNodeLease(node.Name)
		w.cluster.Tick(time.Now())
		return w.cluster.Fresh()
	})
	pod := w.runPod("a", "n1", "192.0.2.10")
	w.register(pod)
	events := NewEvents(w.watcher.opts.Client, "test", w.watcher.opts.Logger)
	w.deletePod("a", 0, pod.UID)
	w.must(events.send(t.Context(), <-w.changes))
}

// kustomized returns the files that a kustomization names. Kustomize takes files
// from its own folder only, and from elsewhere nothing but kustomizations.
func kustomized(t *testing.T, folder string) []string {
	t.Helper()
	var files []string
	for _, k := range manifests(t, filepath.Join(folder, "kustomization.yaml")) {
		resources, _, err := unstructured.NestedStringSlice(k.Object, "resources")
		if err != nil || len(resources) == 0 {
			t.Fatalf("%s names no resources: %v", folder, err)
		}
		for _, name := range resources {
			path := filepath.Join(folder, name)
			switch info, err := os.Stat(path); {
			case err != nil:
				t.Fatal(err)
			case info.IsDir():
				files = append(files, kustomized(t, path)...)
			case !filepath.IsLocal(name):
				t.Fatalf("%s names the file %s outside its folder, which kustomize refuses", folder, name)
			default:
				files = append(files, path)
			}
		}
	}
	return files
}

func manifests(t *testing.T, path string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := controlplane.Manifests(path)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}
