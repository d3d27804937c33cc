package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/internal/audit"
	"github.com/kureka/kureka/internal/audit/manifest"
)

const (
	// maxFiles is how many manifests a folder may have.
	maxFiles = 10_000
	// usualPage is how many objects the API server is asked for at once, and mapsPage
	// how many ConfigMaps: each may have 1 MiB, a third more in JSON, and a page has to
	// stay below manifest.MaxBytes.
	usualPage = 500
	mapsPage  = 40
)

// readFiles reads manifests. Objects that name no namespace are in that of
// --namespace, or in default.
func (a *auditOptions) readFiles(stdin io.Reader, in *audit.Input) error {
	namespace := cmp.Or(a.namespace(), metav1.NamespaceDefault)
	for _, name := range a.files {
		if name == "-" {
			if err := readManifest("standard input", stdin, namespace, in); err != nil {
				return err
			}
			continue
		}
		paths, err := manifestsAt(name)
		if err != nil {
			return err
		}
		for _, path := range paths {
			if err := readManifestFile(path, namespace, in); err != nil {
				return err
			}
		}
	}
	return nil
}

func readManifestFile(path, namespace string, in *audit.Input) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("reading manifests: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return readManifest(path, f, namespace, in)
}

// readManifest reads one byte more than is allowed, which is then refused.
func readManifest(name string, from io.Reader, namespace string, in *audit.Input) error {
	text, err := io.ReadAll(io.LimitReader(from, manifest.MaxBytes+1))
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	return manifest.Read(name, text, namespace, in)
}

// manifestsAt lists a file, or the manifests below a folder.
func manifestsAt(name string) ([]string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("reading manifests: %w", err)
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	var paths []string
	err = filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)) {
			paths = append(paths, path)
		}
		if len(paths) > maxFiles {
			return fmt.Errorf("there are more than %d", maxFiles)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the manifests below %s: %w", name, err)
	}
	return paths, nil
}

// resource is what is listed of the API server.
type resource struct {
	group, name string // the group with its version
	cluster     bool   // belongs to no namespace
	page        int    // how many are asked for at once, usualPage if 0
	// without says what follows where it cannot be listed; empty if nothing can be said
	// then.
	without string
	// listed is called once it was listed; may be nil.
	listed func(*audit.Input)
}

func auditResources() []resource {
	const core, apps = "api/v1", "apis/apps/v1"
	kureka := "apis/" + v1alpha1.Group + "/" + v1alpha1.GroupVersion().Version
	return []resource{
		{group: apps, name: "deployments"},
		{group: apps, name: "statefulsets"},
		{group: apps, name: "daemonsets"},
		{group: apps, name: "replicasets", without: "those that nothing else made were not looked at"},
		{group: "apis/batch/v1", name: "jobs"},
		{group: "apis/batch/v1", name: "cronjobs"},
		{group: core, name: "pods"},
		{group: core, name: "replicationcontrollers", without: "they were not looked at"},
		{group: "apis/argoproj.io/v1alpha1", name: "rollouts", without: "rollouts were not looked at"},
		{group: "apis/autoscaling/v2", name: "horizontalpodautoscalers", without: "a workload counts with the replicas that it has"},
		{group: core, name: "configmaps", page: mapsPage, without: "settings in ConfigMaps are not known"},
		{group: core, name: "namespaces", cluster: true, without: "namespaces count as not opted in to the drain"},
		{
			group: "apis/admissionregistration.k8s.io/v1", name: "mutatingwebhookconfigurations", cluster: true,
			without: "it is taken that Kureka's webhook is there", listed: func(in *audit.Input) { in.WebhooksKnown = true },
		},
		{group: kureka, name: "clusterregistrypolicies", cluster: true, without: "the cluster's policy counts as built in"},
		{group: kureka, name: "registrypolicies", without: "namespaces count as without a policy"},
	}
}

// readCluster lists everything that is looked at. Notes say what could not be.
func (a *auditOptions) readCluster(ctx context.Context, in *audit.Input) (notes []string, err error) {
	config, _, err := a.cluster()
	if err != nil {
		return nil, err
	}
	core, err := typedcorev1.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("reaching the API server: %w", err)
	}
	for _, r := range auditResources() {
		err := r.list(ctx, core.RESTClient(), a.namespace(), in)
		switch {
		case err == nil && r.listed != nil:
			r.listed(in)
		case err == nil:
		case apierrors.IsNotFound(err) && r.without != "": // nobody has installed it
		case apierrors.IsForbidden(err) && r.without != "":
			notes = append(notes, fmt.Sprintf("you may not list %s: %s", r.name, r.without))
		default:
			return nil, fmt.Errorf("listing %s: %w", r.name, err)
		}
	}
	return notes, nil
}

// list reads a resource page by page.
func (r *resource) list(ctx context.Context, client rest.Interface, namespace string, in *audit.Input) error {
	var next struct {
		metav1.ListMeta `json:"metadata"`
	}
	for {
		req := client.Get().AbsPath(r.path(namespace)...).Param("limit", strconv.Itoa(cmp.Or(r.page, usualPage)))
		if next.Continue != "" {
			req = req.Param("continue", next.Continue)
		}
		text, err := req.Do(ctx).Raw()
		if err != nil {
			return err
		}
		if err := manifest.ReadList("the API server", text, in); err != nil {
			return err
		}
		next.Continue = ""
		if err := json.Unmarshal(text, &next); err != nil {
			return fmt.Errorf("reading the list: %w", err)
		}
		if next.Continue == "" {
			return nil
		}
	}
}

func (r *resource) path(namespace string) []string {
	if namespace == "" || r.cluster && r.name != "namespaces" {
		return []string{r.group, r.name}
	}
	if r.cluster {
		return []string{r.group, r.name, namespace}
	}
	return []string{r.group, "namespaces", namespace, r.name}
}
