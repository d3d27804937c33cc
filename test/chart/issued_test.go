package chart

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kureka/kureka/test/rig/controlplane"
	"github.com/kureka/kureka/test/rig/netns"
)

// kindsOfCertManager let the API server take objects for cert-manager, which is not
// there: the test does what it does.
func kindsOfCertManager() string {
	var all strings.Builder
	for kind, plural := range map[string]string{"Certificate": "certificates", "Issuer": "issuers"} {
		fmt.Fprintf(&all, `
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[2]s.cert-manager.io}
spec:
  group: cert-manager.io
  scope: Namespaced
  names: {kind: %[1]s, plural: %[2]s}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`, kind, plural)
	}
	return all.String()
}

// The registry does not wait for the certificate of its webhook, takes it when it is
// issued, and leaves to cert-manager who trusts it.
func TestRelease_worksBeforeAndAfterItsCertificateIsIssued(t *testing.T) {
	t.Parallel()
	netns.Require(t)
	w := newWorld(t)
	w.namespace(shop, map[string]string{"kureka.dev/drain": "Enabled"})
	w.certManagersKinds()
	values := []string{"--namespace", systemNamespace, "--set", "webhook.certificate.certManager.enabled=true,startGate=0s,shutdownDelaySeconds=0", "--wait"}
	w.helm(append([]string{"install", objectName, chartPath, "--create-namespace"}, values...)...)
	w.must(w.api.Create(t.Context(), sleepFor(9)))
	w.works("")
	w.eventually("the log says what is waited for", func() error {
		if !strings.Contains(w.node.latest(), "Waiting for the webhook's certificate") {
			return errors.New("it does not")
		}
		return nil
	})
	if len(w.bundle()) != 0 {
		t.Error("Kureka made a certificate of its own")
	}

	w.issue()
	w.drains(9)
	trusted := w.issue() // and nobody trusts the one before
	w.drains(9)
	w.helm(append([]string{"upgrade", objectName, chartPath}, values...)...)
	w.drains(9)
	if !bytes.Equal(w.bundle(), trusted) {
		t.Error("somebody else has written what is trusted, too")
	}
}

func (w *world) certManagersKinds() {
	w.t.Helper()
	all, err := controlplane.DecodeManifests(strings.NewReader(kindsOfCertManager()))
	w.must(err)
	for _, obj := range all {
		w.must(w.api.Create(w.t.Context(), obj))
	}
	w.eventually("the kinds are served", func() error {
		list, err := w.client.Discovery().ServerResourcesForGroupVersion("cert-manager.io/v1")
		if err == nil && len(list.APIResources) != len(all) {
			err = errors.New("some are missing")
		}
		return err
	})
}

// issue does what cert-manager does when a certificate is wanted or renewed: it writes
// the Secret, and its authority into the configuration whose annotation asks for it.
func (w *world) issue() (authority []byte) {
	w.t.Helper()
	authority, key, err := cert.GenerateSelfSignedCertKey(objectName+"."+systemNamespace+".svc", nil, nil)
	w.must(err)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: systemNamespace, Name: objectName + "-webhook"}, Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{"tls.crt": authority, "tls.key": key, "ca.crt": authority},
	}
	err = w.api.Create(w.t.Context(), secret)
	if apierrors.IsAlreadyExists(err) {
		err = w.api.Update(w.t.Context(), secret)
	}
	w.must(err)
	webhooks := w.client.AdmissionregistrationV1().MutatingWebhookConfigurations()
	config, err := webhooks.Get(w.t.Context(), objectName, metav1.GetOptions{})
	w.must(err)
	if want := client.ObjectKeyFromObject(secret).String(); config.Annotations[injectFrom] != want {
		w.t.Fatalf("the authority of %q is asked for, not that of %s", config.Annotations[injectFrom], want)
	}
	for i := range config.Webhooks {
		config.Webhooks[i].ClientConfig.CABundle = authority
	}
	_, err = webhooks.Update(w.t.Context(), config, metav1.UpdateOptions{})
	w.must(err)
	return authority
}
