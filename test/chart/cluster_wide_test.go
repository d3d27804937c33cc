package chart

import (
	"encoding/base64"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kureka/kureka/test/rig/controlplane"
)

func TestCRDs_areThoseOfConfigAndAreKept(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(root + "/config/crd/bases/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no definitions: %v", err)
	}
	o := render(t, "")
	for _, path := range paths {
		made, err := controlplane.Manifests(path)
		if err != nil {
			t.Fatal(err)
		}
		got := o.named("CustomResourceDefinition", made[0].GetName())
		if got == nil {
			t.Errorf("%s is missing", made[0].GetName())
			continue
		}
		if diff := cmp.Diff(made[0].Object["spec"], got.Object["spec"]); diff != "" {
			t.Errorf("%s differs (-config +chart):\n%s", got.GetName(), diff)
		}
		if got.GetAnnotations()["helm.sh/resource-policy"] != "keep" {
			t.Errorf("%s would go with the release, and with it what people decided", got.GetName())
		}
	}
	for _, obj := range render(t, "crds: {install: false}").all {
		if obj.GetKind() == "CustomResourceDefinition" {
			t.Errorf("%s is there although it is not to be installed", obj.GetName())
		}
	}
}

func TestWebhook_isThatOfConfig(t *testing.T) {
	t.Parallel()
	made, err := controlplane.Manifests(root + "/config/webhook/webhook.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := typed[admissionregistrationv1.MutatingWebhookConfiguration](t, made[0])
	got := of[admissionregistrationv1.MutatingWebhookConfiguration](render(t, ""), "MutatingWebhookConfiguration", objectName)
	if diff := cmp.Diff(want.Webhooks, got.Webhooks); diff != "" {
		t.Errorf("webhooks differ (-config +chart):\n%s", diff)
	}
}

// The authority is Kureka's to write, unless somebody else's certificate is used.
func TestWebhook_hasACABundleOnlyIfThereIsOne(t *testing.T) {
	t.Parallel()
	const name = "MutatingWebhookConfiguration"
	o := render(t, "webhook: {timeoutSeconds: 5, annotations: {cert-manager.io/inject-ca-from: a/b}, certificate: {existingSecret: s, caBundle: PEM}}")
	got := of[admissionregistrationv1.MutatingWebhookConfiguration](o, name, objectName)
	for _, w := range got.Webhooks {
		if string(w.ClientConfig.CABundle) != "PEM" || *w.TimeoutSeconds != 5 {
			t.Errorf("%s has %s and waits %d s", w.Name, base64.StdEncoding.EncodeToString(w.ClientConfig.CABundle), *w.TimeoutSeconds)
		}
	}
	if got.Annotations["cert-manager.io/inject-ca-from"] != "a/b" {
		t.Error("the annotation is missing")
	}
	own := of[admissionregistrationv1.MutatingWebhookConfiguration](render(t, "webhook: {certificate: {caBundle: PEM}}"), name, objectName)
	if own.Webhooks[0].ClientConfig.CABundle != nil {
		t.Error("Helm and Kureka both write the authority")
	}
	if render(t, "webhook: {enabled: false}").named(name, objectName) != nil {
		t.Error("there is one although it is disabled")
	}
}
