package manifest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kureka/kureka/internal/audit"
	"github.com/kureka/kureka/internal/audit/manifest"
)

const pods = "template: {spec: {containers: [{name: app}]}}"

// kinds is one of each kind that is looked at, with empty documents between.
const kinds = `# nothing
---

---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, namespace: own}
spec: {replicas: 3, ` + pods + `}
--- # what helm leaves of a template that is switched off
# Source: chart/templates/ingress.yaml
---
{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "b"}, "spec": {` + `"template": {"spec": {"containers": [{"name": "app"}]}}}}
---
apiVersion: v1
kind: List
items:
  - {apiVersion: apps/v1, kind: DaemonSet, metadata: {name: c}, spec: {` + pods + `}}
  - {apiVersion: batch/v1, kind: Job, metadata: {name: d}, spec: {` + pods + `}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: e}
spec: {jobTemplate: {spec: {` + pods + `}}}
---
apiVersion: v1
kind: Pod
metadata: {name: f}
spec: {containers: [{name: app}]}
---
apiVersion: v1
kind: Pod
metadata: {name: owned, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: x, uid: u, controller: true}]}
spec: {containers: [{name: app}]}
---
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: g}
spec: {replicas: 2, ` + pods + `}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: h}
spec: {template: {spec: "not of pods"}}
---
apiVersion: v1
kind: Service
metadata: {name: i}
spec: {replicas: what}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: j}
spec: {minReplicas: 4, scaleTargetRef: {apiVersion: apps/v1, kind: StatefulSet, name: b}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: k}
data: {text: "--- no separator"}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: kureka.dev/v1alpha1
kind: RegistryPolicy
metadata: {name: default}
spec: {drain: {mode: Sleep}}
---
apiVersion: kureka.dev/v1alpha1
kind: ClusterRegistryPolicy
metadata: {name: default}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: kureka}
webhooks: [{name: pods.drain.kureka.dev}]
---`

func TestRead_knowsTheKindsAndPassesOverTheOthers(t *testing.T) {
	t.Parallel()
	var in audit.Input
	if err := manifest.Read("all.yaml", []byte(kinds), "shop", &in); err != nil {
		t.Fatal(err)
	}
	got := make([]string, 0, len(in.Workloads))
	for _, w := range in.Workloads {
		if len(w.Template.Spec.Containers) != 1 {
			t.Errorf("%s has %d containers", w.Name, len(w.Template.Spec.Containers))
		}
		got = append(got, strings.Join([]string{w.Namespace, w.Kind, w.Name, w.Source}, " "))
	}
	want := []string{
		"own Deployment a all.yaml, document 3", "shop StatefulSet b all.yaml, document 5", "shop DaemonSet c all.yaml, document 6",
		"shop Job d all.yaml, document 6", "shop CronJob e all.yaml, document 7", "shop Pod f all.yaml, document 8", "shop Rollout g all.yaml, document 10",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("workloads (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]audit.Autoscaler{{Namespace: "shop", Kind: "StatefulSet", Name: "b", Least: 4}}, in.Autoscalers); diff != "" {
		t.Errorf("autoscalers (-want +got):\n%s", diff)
	}
	if len(in.ConfigMaps) != 1 || len(in.Namespaces) != 1 || len(in.Policies) != 1 || len(in.ClusterPolicies) != 1 || len(in.Webhooks) != 1 || in.Policies[0].Namespace != "shop" {
		t.Errorf("%d ConfigMaps, %d namespaces, %d and %d policies", len(in.ConfigMaps), len(in.Namespaces), len(in.Policies), len(in.ClusterPolicies))
	}
}

func TestRead_saysWhichDocumentIsBadAndWhy(t *testing.T) {
	t.Parallel()
	const good = "apiVersion: v1\nkind: Service\n---\n# nothing\n---\n"
	tests := map[string]struct{ document, want string }{
		"no YAML":                          {"a: [", "reading it as YAML"},
		"tabs":                             {"a:\n\tb: c", "reading it as YAML"},
		"a template":                       {"kind: {{ .Values.kind }}", "reading it as YAML"},
		"no object":                        {"- a\n- b", "reading what it is"},
		"no kind":                          {"a: b", "it has no kind"},
		"a field of another type":          {"apiVersion: apps/v1\nkind: Deployment\nspec: {replicas: many}", "reading the Deployment"},
		"a policy's field of another name": {"apiVersion: kureka.dev/v1alpha1\nkind: RegistryPolicy\nspec: {drain: {mod: Sleep}}", `unknown field "mod"`},
		"an item":                          {"apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Pod}, {apiVersion: v1, kind: Pod, spec: no}]", "item 2: reading the Pod"},
		"too large":                        {"a: " + strings.Repeat("x", 5<<20), "larger than 4 MiB"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := manifest.Read("orders.yaml", []byte(good+tc.document), "shop", &audit.Input{})
			bad, ok := errors.AsType[*manifest.Error](err)
			if !ok || bad.Document != 3 || bad.Line != 5 || !strings.HasPrefix(err.Error(), "orders.yaml, document 3 (line 5): ") || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("the error is %v, want document 3 in line 5 and %q", err, tc.want)
			}
		})
	}
}

func TestRead_refusesMoreThanItsLimits(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"bytes": strings.Repeat("x", manifest.MaxBytes+1), "documents": strings.Repeat("---\n", 30_000),
	} {
		if err := manifest.Read("much.yaml", []byte(text), "shop", &audit.Input{}); err == nil || !strings.Contains(err.Error(), "much.yaml: it ") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

func TestReadList_takesTheKindFromTheList(t *testing.T) {
	t.Parallel()
	var in audit.Input
	const list = `{"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{},"items":[{"metadata":{"name":"a","namespace":"shop"},"spec":{"template":{"spec":{"containers":[{"name":"app"}]}}}}]}`
	if err := manifest.ReadList("the API server", []byte(list), &in); err != nil {
		t.Fatal(err)
	}
	if len(in.Workloads) != 1 || in.Workloads[0].Kind != "Deployment" || in.Workloads[0].Source != "" {
		t.Errorf("workloads %+v", in.Workloads)
	}
}

// FuzzRead reads any text and lets every rule look at what comes of it.
func FuzzRead(f *testing.F) {
	f.Add([]byte(kinds))
	f.Add([]byte("apiVersion: apps/v1\nkind: Deployment\nspec:\n  strategy: {rollingUpdate: {maxUnavailable: 50%}}\n  template:\n    spec:\n      containers:\n      - {name: a, env: [{name: EUREKA_X, value: '${A:}'}], lifecycle: {preStop: {exec: {command: [sh, -c, sleep 1e9h | kill 1]}}}, readinessProbe: {exec: {}}}\n"))
	f.Add([]byte("a: &a [*a]\n---\nkind: List\nitems: [null, {kind: List, items: []}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 16<<10 {
			t.Skip("longer texts find nothing else")
		}
		in := audit.Input{EveryWorkload: true}
		if err := manifest.Read("fuzz", text, "shop", &in); err != nil && !strings.HasPrefix(err.Error(), "fuzz") {
			t.Errorf("the error does not name the file: %v", err)
		}
		audit.Check(&in)
	})
}

// made is an object that something of another kind made.
func made(apiVersion, kind, name, spec, maker string) string {
	return "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {name: " + name + ", ownerReferences: [" + maker + ", uid: u, name: x, controller: true}]}\nspec: {" + spec + "}\n---\n"
}

func TestRead_looksAtWhatAKindMadeThatIsNotLookedAt(t *testing.T) {
	t.Parallel()
	const operator, clone = "{apiVersion: example.com/v1, kind: App", "{apiVersion: apps.kruise.io/v1beta1, kind: StatefulSet"
	text := made("apps/v1", "Deployment", "of-an-operator", pods, operator) +
		made("apps/v1", "ReplicaSet", "revision", "replicas: 2, "+pods, operator) +
		made("apps/v1", "ReplicaSet", "old-revision", "replicas: 0, "+pods, operator) +
		made("apps/v1", "ReplicaSet", "of-a-deployment", "replicas: 2, "+pods, "{apiVersion: apps/v1, kind: Deployment") +
		made("v1", "Pod", "a", "containers: [{name: app}]", operator) +
		made("v1", "Pod", "b", "containers: [{name: app}]", clone) +
		made("v1", "Pod", "c", "containers: [{name: app}]", clone) +
		made("v1", "Pod", "d", "containers: [{name: app}]", "{apiVersion: v1, kind: ReplicationController")
	var in audit.Input
	if err := manifest.Read("all.yaml", []byte(text), "shop", &in); err != nil {
		t.Fatal(err)
	}
	got := make([]string, 0, len(in.Workloads))
	for _, w := range in.Workloads {
		got = append(got, w.Kind+" "+w.Name)
	}
	if diff := cmp.Diff([]string{"Deployment of-an-operator", "ReplicaSet revision"}, got); diff != "" {
		t.Errorf("workloads (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"App.example.com": 1, "StatefulSet.apps.kruise.io": 2}, in.Unseen); diff != "" {
		t.Errorf("pods that are not looked at (-want +got):\n%s", diff)
	}
}
