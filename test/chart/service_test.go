package chart

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"
)

func TestService_saysWhatItsPortsSpeak(t *testing.T) {
	t.Parallel()
	port := func(name string, number int32, protocol string) corev1.ServicePort {
		return corev1.ServicePort{Name: name, Port: number, TargetPort: intstr.FromString(name), AppProtocol: &protocol}
	}
	metrics, webhook := port("metrics", 8080, "http"), port("webhook", 443, "https")
	tests := map[string]struct {
		values string
		want   []corev1.ServicePort
	}{
		"built in":     {"", []corev1.ServicePort{port("eureka", 8761, "http"), metrics, webhook}},
		"encrypted":    {"tls: {existingSecret: s}", []corev1.ServicePort{port("eureka", 8761, "https"), metrics, webhook}},
		"another port": {"service: {port: 80}", []corev1.ServicePort{port("eureka", 80, "http"), metrics, webhook}},
		"no webhook":   {"webhook: {enabled: false}", []corev1.ServicePort{port("eureka", 8761, "http"), metrics}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := render(t, tc.values)
			got := of[corev1.Service](o, "Service", systemNamespace+"/"+objectName).Spec
			if diff := cmp.Diff(tc.want, got.Ports); diff != "" {
				t.Errorf("ports differ (-want +got):\n%s", diff)
			}
			for _, p := range got.Ports {
				if !listens(container(o), p.TargetPort.StrVal) {
					t.Errorf("no port of the container is called %s", p.TargetPort.StrVal)
				}
			}
		})
	}
}

func listens(c *corev1.Container, port string) bool {
	for _, p := range c.Ports {
		if p.Name == port {
			return true
		}
	}
	return false
}

func TestService_findsThePod(t *testing.T) {
	t.Parallel()
	o := render(t, "service: {clusterIP: None, ipFamilyPolicy: PreferDualStack, ipFamilies: [IPv6], labels: {a: b}, annotations: {c: d}}")
	s := of[corev1.Service](o, "Service", objectName)
	for key, value := range s.Spec.Selector {
		if pod(o).Labels[key] != value {
			t.Errorf("the pod lacks the label %s=%s", key, value)
		}
	}
	if s.Spec.ClusterIP != "None" || *s.Spec.IPFamilyPolicy != "PreferDualStack" || s.Spec.IPFamilies[0] != "IPv6" || s.Labels["a"] != "b" || s.Annotations["c"] != "d" {
		t.Errorf("got %+v", s)
	}
	if !s.Spec.PublishNotReadyAddresses {
		t.Error("clients would be sent nowhere while the registry restarts")
	}
}

func TestService_hasAliasesInOtherNamespaces(t *testing.T) {
	t.Parallel()
	o := render(t, "{clusterDomain: example.internal, aliases: [{name: eureka, namespace: shop}, {name: eureka, namespace: play}]}")
	for _, namespace := range []string{"shop", "play"} {
		s := of[corev1.Service](o, "Service", namespace+"/eureka")
		if s.Spec.Type != corev1.ServiceTypeExternalName || s.Spec.ExternalName != "kureka.kureka-system.svc.example.internal" {
			t.Errorf("the alias in %s is %+v", namespace, s.Spec)
		}
	}
}

func TestNetworkPolicy_letsInWhoeverNeedsTo(t *testing.T) {
	t.Parallel()
	allow := func(from []networkingv1.NetworkPolicyPeer, ports ...string) networkingv1.NetworkPolicyIngressRule {
		rule := networkingv1.NetworkPolicyIngressRule{From: from}
		for _, name := range ports {
			rule.Ports = append(rule.Ports, networkingv1.NetworkPolicyPort{Port: new(intstr.FromString(name))})
		}
		return rule
	}
	labelled := func(labels map[string]string) []networkingv1.NetworkPolicyPeer {
		return []networkingv1.NetworkPolicyPeer{{NamespaceSelector: &metav1.LabelSelector{MatchLabels: labels}}}
	}
	tests := map[string]struct {
		values string
		want   []networkingv1.NetworkPolicyIngressRule
	}{
		"built in": {"", []networkingv1.NetworkPolicyIngressRule{
			allow(nil, "eureka"), allow(labelled(nil), "metrics"), allow(nil, "probes", "webhook"),
		}},
		"chosen": {
			"{networkPolicy: {apiFrom: [{namespaceSelector: {matchLabels: {team: shop}}}], metricsFrom: []}, webhook: {enabled: false}}",
			[]networkingv1.NetworkPolicyIngressRule{allow(labelled(map[string]string{"team": "shop"}), "eureka"), allow(nil, "metrics"), allow(nil, "probes")},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := render(t, tc.values)
			got := of[networkingv1.NetworkPolicy](o, "NetworkPolicy", objectName).Spec
			if diff := cmp.Diff(tc.want, got.Ingress); diff != "" {
				t.Errorf("who is let in differs (-want +got):\n%s", diff)
			}
			if len(got.PolicyTypes) != 1 || len(got.Egress) != 0 {
				t.Error("the way out is limited although nobody asked for that")
			}
		})
	}
}

func TestNetworkPolicy_limitsTheWayOutIfAskedTo(t *testing.T) {
	t.Parallel()
	got := of[networkingv1.NetworkPolicy](render(t, "networkPolicy: {egress: [{ports: [{port: 443}]}]}"), "NetworkPolicy", objectName).Spec
	if len(got.PolicyTypes) != 2 || got.Egress[0].Ports[0].Port.IntVal != 443 {
		t.Errorf("got %+v", got)
	}
	if render(t, "networkPolicy: {enabled: false}").named("NetworkPolicy", objectName) != nil {
		t.Error("there is one although it is disabled")
	}
}

func TestServiceMonitor_isThereIfAskedFor(t *testing.T) {
	t.Parallel()
	if render(t, "").named("ServiceMonitor", objectName) != nil {
		t.Error("there is one although nobody asked for it")
	}
	o := render(t, `
serviceMonitor:
  {enabled: true, namespace: monitoring, labels: {prometheus: main}, annotations: {a: b}, interval: 15s, scrapeTimeout: 5s,
   relabelings: [{action: labeldrop}], metricRelabelings: [{action: keep}]}`)
	m := o.named("ServiceMonitor", "monitoring/"+objectName)
	if m == nil || m.GetLabels()["prometheus"] != "main" || m.GetAnnotations()["a"] != "b" {
		t.Fatalf("got %v", m)
	}
	service := of[corev1.Service](o, "Service", objectName)
	selected, _, err := unstructured.NestedStringMap(m.Object, "spec", "selector", "matchLabels")
	if err != nil || len(selected) == 0 {
		t.Fatalf("it selects %v: %v", selected, err)
	}
	for key, value := range selected {
		if service.Labels[key] != value {
			t.Errorf("the Service lacks the label %s=%s", key, value)
		}
	}
	endpoints, _, err := unstructured.NestedSlice(m.Object, "spec", "endpoints")
	if err != nil {
		t.Fatal(err)
	}
	want := []any{map[string]any{
		"port": "metrics", "honorLabels": true, "interval": "15s", "scrapeTimeout": "5s",
		"relabelings": []any{map[string]any{"action": "labeldrop"}}, "metricRelabelings": []any{map[string]any{"action": "keep"}},
	}}
	if diff := cmp.Diff(want, endpoints); diff != "" {
		t.Errorf("endpoints differ (-want +got):\n%s", diff)
	}
}

func TestPrometheusRule_isTheFileOfAlertsWithTheRunbooksOfTheOperator(t *testing.T) {
	t.Parallel()
	if render(t, "").named("PrometheusRule", objectName) != nil {
		t.Error("there is one although nobody asked for it")
	}
	o := render(t, "prometheusRule: {enabled: true, namespace: monitoring, labels: {prometheus: main}, annotations: {a: b}, runbooks: https://docs.example/runbooks}")
	m := o.named("PrometheusRule", "monitoring/"+objectName)
	if m == nil || m.GetLabels()["prometheus"] != "main" || m.GetAnnotations()["a"] != "b" {
		t.Fatalf("got %v", m)
	}
	text, err := os.ReadFile(chartPath + "/files/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(string(text), "docs/runbooks.md", "https://docs.example/runbooks")), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, m.Object["spec"]); diff != "" {
		t.Errorf("rules differ (-want +got):\n%s", diff)
	}
}

func TestGrafanaDashboard_isTheFile(t *testing.T) {
	t.Parallel()
	const name = objectName + "-dashboard"
	if render(t, "").named("ConfigMap", name) != nil {
		t.Error("there is one although nobody asked for it")
	}
	o := render(t, "grafanaDashboard: {enabled: true, namespace: monitoring, annotations: {folder: registry}}")
	m := of[corev1.ConfigMap](o, "ConfigMap", "monitoring/"+name)
	text, err := os.ReadFile(chartPath + "/files/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	if m.Labels["grafana_dashboard"] != "1" || m.Annotations["folder"] != "registry" || m.Data["kureka.json"] != strings.TrimSpace(string(text)) {
		t.Errorf("labels %v, annotations %v, %d bytes of %d", m.Labels, m.Annotations, len(m.Data["kureka.json"]), len(text))
	}
}
