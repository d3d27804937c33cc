package chart

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestChart_passesTheLinter(t *testing.T) {
	t.Parallel()
	if out, err := helm(t, "", "lint", "--strict", chartPath); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestChart_rendersTheSameTwice(t *testing.T) {
	t.Parallel()
	values := "{webhook: {certificate: {certManager: {enabled: true}}}, snapshot: {persistentVolumeClaim: {enabled: true}}, serviceMonitor: {enabled: true}, prometheusRule: {enabled: true}, grafanaDashboard: {enabled: true}, aliases: [{name: a, namespace: b}]}"
	first, err := templated(t, values)
	if err != nil {
		t.Fatalf("%v\n%s", err, first)
	}
	if second, err := templated(t, values); err != nil || second != first {
		t.Errorf("the second text differs from the first (%v)", err)
	}
	random := regexp.MustCompile(`\b(lookup|rand\w+|uuidv4|now|date|genCA\w*|genSelfSigned\w*|genSigned\w*|genPrivateKey|htpasswd|bcrypt|getHostByName)\b`)
	paths, err := filepath.Glob(chartPath + "/templates/*")
	if err != nil || len(paths) < 10 {
		t.Fatalf("found %d templates: %v", len(paths), err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, action := range regexp.MustCompile(`(?s){{-? [^/].*?}}`).FindAllString(string(text), -1) {
			if found := random.FindString(action); found != "" {
				t.Errorf("%s uses %s, so two renders may differ: %s", filepath.Base(path), found, action)
			}
		}
	}
}

// Every object can be told apart from others in the cluster.
func TestChart_labelsAndAnnotatesEveryObject(t *testing.T) {
	t.Parallel()
	o := render(t, `
commonLabels: {team: platform, app.kubernetes.io/name: other}
commonAnnotations: {contact: "7"}
serviceMonitor: {enabled: true}
prometheusRule: {enabled: true}
grafanaDashboard: {enabled: true}
webhook: {certificate: {certManager: {enabled: true}}}
snapshot: {persistentVolumeClaim: {enabled: true}}
aliases: [{name: a, namespace: b}]`)
	for _, obj := range o.all {
		l := obj.GetLabels()
		if l["team"] != "platform" || l["app.kubernetes.io/name"] != "kureka" || l["app.kubernetes.io/instance"] != release ||
			l["app.kubernetes.io/managed-by"] != "Helm" || obj.GetAnnotations()["contact"] != "7" {
			t.Errorf("%s %s has labels %v and annotations %v", obj.GetKind(), obj.GetName(), l, obj.GetAnnotations())
		}
	}
}

func TestChart_hasLabelsThatTheAPIServerTakes(t *testing.T) {
	t.Parallel()
	o := render(t, "image: {tag: "+strings.Repeat("a", 62)+"-b}")
	for _, obj := range o.all {
		if v := obj.GetLabels()["app.kubernetes.io/version"]; v != strings.Repeat("a", 62) {
			t.Fatalf("the version is %q", v)
		}
	}
}

func TestSchema_refusesWhatWouldNotWork(t *testing.T) {
	t.Parallel()
	for _, values := range []string{
		"replicas: 2",
		"replicaCount: 1",
		"mode: Watch",
		"startGate: Off", // a boolean in YAML
		"startGate: soon",
		"shutdownDelaySeconds: 301",
		"maxInstances: 0",
		"trustedProxies: [proxy.example]",
		"registryClass: Blue",
		"rbac: {scope: namespaces}",
		"rbac: {scope: none}",
		"webhook: {failurePolicy: Fail}",
		"webhook: {timeoutSeconds: 31}",
		"webhook: {certificate: {certManager: {duration: 90d}}}",
		"webhook: {certificate: {certManager: {issuerRef: {kind: clusterissuer}}}}",
		"image: {digest: latest}",
		"image: {pullPolicy: Sometimes}",
		"image: {repository: ''}",
		"service: {type: LoadBalancer}",
		"aliases: [{name: eureka}]",
		"auth: {basic: {password: secret}}",
		"snapshot: {emptyDir: {sizeLimit: much}}",
		"extraArgs: [manager]",
		"livenessProbe: {httpGet: {path: /}}",
		"podLabels: {a: 1}",
		"prober: {enabled: 'On'}",
		"unknown: true",
	} {
		t.Run(values, func(t *testing.T) {
			t.Parallel()
			out, err := templated(t, values)
			if err == nil || !strings.Contains(out, "schema") {
				t.Errorf("got %v, %.300s", err, out)
			}
		})
	}
}

// A chart that has this one as a part hands it its own globals and a condition.
func TestSchema_allowsWhatAParentChartHandsDown(t *testing.T) {
	t.Parallel()
	render(t, "{enabled: true, global: {storageClass: fast}}")
}

func TestSchema_knowsEveryValue(t *testing.T) {
	t.Parallel()
	var schema, values map[string]any
	for name, into := range map[string]*map[string]any{"values.schema.json": &schema, "values.yaml": &values} {
		text, err := os.ReadFile(filepath.Join(chartPath, name))
		if err != nil {
			t.Fatal(err)
		}
		if text, err = yaml.YAMLToJSON(text); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	compare(t, "", schema, values)
}

// unlisted are properties without a built-in value: the chart then leaves them to
// Kubernetes, or to the chart that this one is a part of.
func unlisted() []string {
	return []string{"enabled", "snapshot.emptyDir.medium", "resources.claims"}
}

// compare walks through the values and the properties of their schema.
func compare(t *testing.T, path string, schema, values map[string]any) {
	t.Helper()
	properties, _ := schema["properties"].(map[string]any)
	if properties == nil {
		return // it may hold anything
	}
	if path != "global." && schema["additionalProperties"] != false {
		t.Errorf("%sadditional values are allowed", path)
	}
	for name, property := range properties {
		value, listed := values[name]
		if !listed && !slices.Contains(unlisted(), path+name) {
			t.Errorf("%s%s is in the schema and not in values.yaml", path, name)
		}
		inner, isMap := value.(map[string]any)
		if object, ok := property.(map[string]any); ok && isMap {
			compare(t, path+name+".", object, inner)
		}
	}
	for name := range values {
		if properties[name] == nil {
			t.Errorf("%s%s is in values.yaml and not in the schema", path, name)
		}
	}
}

func TestDocuments_nameValuesThatExist(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile(chartPath + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)`").FindAllStringSubmatch(string(table), -1)
	known, groups := make([]string, 0, len(rows)), map[string]bool{}
	for _, row := range rows {
		known = append(known, row[1])
		group, _, _ := strings.Cut(row[1], ".")
		groups[group] = true
	}
	named := regexp.MustCompile("`([a-zA-Z]+(?:\\.[a-zA-Z]+)*)(?:=[^`]*)?`")
	for _, name := range []string{"README.md", "docs/install.md", "docs/drain.md", "docs/rbac.md"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range named.FindAllStringSubmatch(string(text), -1) {
			path := found[1]
			group, _, nested := strings.Cut(path, ".")
			exists := slices.ContainsFunc(known, func(k string) bool { return k == path || strings.HasPrefix(path, k+".") })
			if nested && groups[group] && !exists {
				t.Errorf("%s names the value %s, which the chart does not have", name, path)
			}
		}
	}
}
