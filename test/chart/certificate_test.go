package chart

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// injectFrom names the Certificate whose authority is written into the webhooks.
const injectFrom = "cert-manager.io/inject-ca-from"

// byCertManager are values with which cert-manager makes the certificate.
func byCertManager(more string) string {
	return "webhook: {certificate: {certManager: {enabled: true" + more + "}}}"
}

// field is a text, or a list of texts, of an object's spec.
func field(t *testing.T, obj *unstructured.Unstructured, path ...string) any {
	t.Helper()
	value, found, err := unstructured.NestedFieldNoCopy(obj.Object, append([]string{"spec"}, path...)...)
	if err != nil || !found {
		t.Fatalf("%s %s has no %s: %v", obj.GetKind(), obj.GetName(), strings.Join(path, "."), err)
	}
	return value
}

func TestCertificate_isForTheNameByWhichTheAPIServerCalls(t *testing.T) {
	t.Parallel()
	o := render(t, "{clusterDomain: example.internal, "+byCertManager("")+"}")
	config := of[admissionregistrationv1.MutatingWebhookConfiguration](o, "MutatingWebhookConfiguration", objectName)
	namespace, name, _ := strings.Cut(config.Annotations[injectFrom], "/")
	c := o.named("Certificate", namespace+"/"+name)
	if c == nil {
		t.Fatalf("the authority is that of %s/%s, which is not there", namespace, name)
	}
	for _, w := range config.Webhooks {
		s := w.ClientConfig.Service
		want := []any{s.Name + "." + s.Namespace + ".svc", s.Name + "." + s.Namespace + ".svc.example.internal"}
		if diff := cmp.Diff(want, field(t, c, "dnsNames")); diff != "" {
			t.Errorf("names differ (-want +got):\n%s", diff)
		}
		if w.ClientConfig.CABundle != nil {
			t.Error("Helm and cert-manager both write the authority")
		}
	}
	if usages, _ := field(t, c, "usages").([]any); !slices.Contains(usages, any("server auth")) {
		t.Errorf("it is for %v", usages)
	}
	i := slices.IndexFunc(pod(o).Spec.Volumes, func(v corev1.Volume) bool { return v.Name == "webhook" })
	if i < 0 {
		t.Fatal("it is not mounted")
	}
	mounted := pod(o).Spec.Volumes[i].Secret
	if mounted.SecretName != field(t, c, "secretName") || mounted.Optional == nil || !*mounted.Optional {
		t.Errorf("the pod mounts %+v, and waits for it", mounted)
	}
}

// The authority stays when a certificate is renewed, and what it has signed stays
// valid when the authority is.
func TestCertificate_hasAnAuthorityThatOutlivesIt(t *testing.T) {
	t.Parallel()
	o := render(t, byCertManager(""))
	c := o.named("Certificate", systemNamespace+"/kureka-webhook")
	issuer := issuerOf(t, o, c)
	authority := o.named("Certificate", systemNamespace+"/kureka-webhook-ca")
	if field(t, issuer, "ca", "secretName") != field(t, authority, "secretName") || field(t, authority, "isCA") != true {
		t.Errorf("%v does not sign with %v", issuer.Object["spec"], authority.Object["spec"])
	}
	field(t, issuerOf(t, o, authority), "selfSigned")
	if field(t, authority, "privateKey", "rotationPolicy") != "Never" || field(t, authority, "secretName") == field(t, c, "secretName") {
		t.Error("the authority is another one after it was renewed")
	}
	lives, renewed := length(t, c, "duration"), length(t, c, "renewBefore")
	if renewed <= 0 || renewed >= lives {
		t.Errorf("valid for %s and renewed %s before its end", lives, renewed)
	}
	if length(t, authority, "renewBefore") <= lives || length(t, authority, "renewBefore") >= length(t, authority, "duration") {
		t.Error("a certificate may outlive its authority")
	}
}

func issuerOf(t *testing.T, o objects, certificate *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	name, _ := field(t, certificate, "issuerRef", "name").(string)
	issuer := o.named("Issuer", systemNamespace+"/"+name)
	if issuer == nil || field(t, certificate, "issuerRef", "kind") != "Issuer" || field(t, certificate, "issuerRef", "group") != "cert-manager.io" {
		t.Fatalf("%s has the issuer %v, which is not there", certificate.GetName(), field(t, certificate, "issuerRef"))
	}
	return issuer
}

func length(t *testing.T, certificate *unstructured.Unstructured, name string) time.Duration {
	t.Helper()
	text, _ := field(t, certificate, name).(string)
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestCertificate_isOfAnIssuerThatExistsIfOneIsNamed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		ref  string
		want map[string]any
	}{
		"in the namespace":   {"{name: own}", map[string]any{"group": "cert-manager.io", "kind": "Issuer", "name": "own"}},
		"of the cluster":     {"{name: all, kind: ClusterIssuer}", map[string]any{"group": "cert-manager.io", "kind": "ClusterIssuer", "name": "all"}},
		"of another program": {"{name: a, kind: AWSPCAIssuer, group: awspca.example}", map[string]any{"group": "awspca.example", "kind": "AWSPCAIssuer", "name": "a"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := render(t, byCertManager(", duration: 72h, renewBefore: 24h0m, issuerRef: "+tc.ref))
			c := o.named("Certificate", objectName+"-webhook")
			if diff := cmp.Diff(tc.want, field(t, c, "issuerRef")); diff != "" {
				t.Errorf("the issuer differs (-want +got):\n%s", diff)
			}
			if field(t, c, "duration") != "72h" || field(t, c, "renewBefore") != "24h0m" {
				t.Errorf("it is %v", c.Object["spec"])
			}
			if got := kinds(o, "Certificate", "Issuer"); len(got) != 1 {
				t.Errorf("there are %v", got)
			}
		})
	}
}

// kinds are the names of the objects of some kinds.
func kinds(o objects, kinds ...string) (names []string) {
	for _, obj := range o.all {
		if slices.Contains(kinds, obj.GetKind()) {
			names = append(names, obj.GetKind()+" "+obj.GetName())
		}
	}
	return names
}

func TestCertificate_isNotThereUnlessAskedFor(t *testing.T) {
	t.Parallel()
	for _, values := range []string{"", "webhook: {enabled: false, certificate: {certManager: {enabled: true}}}", "webhook: {certificate: {existingSecret: s}}"} {
		if got := kinds(render(t, values), "Certificate", "Issuer"); len(got) != 0 {
			t.Errorf("with %q there are %v", values, got)
		}
	}
}

func TestCertificate_isMadeByOneOnly(t *testing.T) {
	t.Parallel()
	for _, more := range []string{
		"webhook.certificate.existingSecret=s", "webhook.certificate.caBundle=PEM", `webhook.annotations.cert-manager\.io/inject-ca-from=a/b`,
	} {
		t.Run(more, func(t *testing.T) {
			t.Parallel()
			out, err := helm(t, byCertManager(""), "template", release, chartPath, "--values", "-", "--set", more)
			named, _, _ := strings.Cut(strings.ReplaceAll(more, `\`, ""), "=")
			named = strings.TrimPrefix(named, "webhook.annotations.")
			if err == nil || !strings.Contains(out, "webhook.certificate.certManager.enabled and "+named) {
				t.Errorf("got %v, %s", err, out)
			}
		})
	}
}
