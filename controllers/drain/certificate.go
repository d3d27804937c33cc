package drain

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/retry"
)

const (
	// renewEvery is how old a certificate gets; it is valid for a year.
	renewEvery = 30 * 24 * time.Hour
	// checkEvery is how often the bundle is looked at: what installs the webhook may
	// write it anew without one.
	checkEvery = 30 * time.Second
	// callTimeout bounds one call to the API server.
	callTimeout = 10 * time.Second
)

// certificate is a certificate of our own making. Nothing of it is kept: a process
// that starts makes another, and until the API server is told of it, pods are
// created as they are.
type certificate struct {
	names  []string // DNS names, the first is its subject
	clock  func() time.Time
	serves atomic.Pointer[tls.Certificate]

	made   time.Time
	fresh  *tls.Certificate // made and not trusted yet
	bundle []byte           // what clients are to trust, also of the certificate before
}

// get implements tls.Config's GetCertificate.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if s := c.serves.Load(); s != nil {
		return s, nil
	}
	return nil, errors.New("no certificate has been made yet")
}

// renew makes a certificate if there is none or it is old, and none waits already.
func (c *certificate) renew() error {
	now := c.clock()
	if c.fresh != nil || !c.made.IsZero() && now.Sub(c.made) < renewEvery {
		return nil
	}
	chain, key, err := cert.GenerateSelfSignedCertKey(c.names[0], nil, c.names[1:])
	if err != nil {
		return fmt.Errorf("making a certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return fmt.Errorf("reading the new certificate: %w", err)
	}
	c.made, c.fresh, c.bundle = now, &pair, append(authority(chain), newest(c.bundle)...)
	return nil
}

// use serves the new certificate, if one waits.
func (c *certificate) use() {
	if c.fresh != nil {
		c.serves.Store(c.fresh)
		c.fresh = nil
	}
}

// authority returns the last certificate of a chain, which signed the others.
func authority(chain []byte) []byte {
	var last []byte
	for {
		block, rest := pem.Decode(chain)
		if block == nil {
			return last
		}
		last, chain = pem.EncodeToMemory(block), rest
	}
}

// newest returns the first certificate of a bundle.
func newest(bundle []byte) []byte {
	block, _ := pem.Decode(bundle)
	if block == nil {
		return nil
	}
	return pem.EncodeToMemory(block)
}

// keep makes certificates and has the API server trust them until the context
// ends. What goes wrong is logged when it begins.
func (c *certificate) keep(ctx context.Context, client kubernetes.Interface, name string, log logr.Logger) {
	ticker := time.NewTicker(checkEvery)
	defer ticker.Stop()
	failing := false
	for {
		err := c.publish(ctx, client, name)
		if ctx.Err() != nil {
			return
		}
		if failing != (err != nil) {
			failing = err != nil
			if failing {
				log.Error(err, "Cannot tell the API server which certificate to trust; pods are created without a drain. "+
					"Kureka's service account needs get and update on this webhook configuration", "name", name)
			} else {
				log.Info("The API server trusts the webhook's certificate", "name", name)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// publish renews the certificate if it is time, has it trusted and then used.
func (c *certificate) publish(ctx context.Context, client kubernetes.Interface, name string) error {
	if err := c.renew(); err != nil {
		return err
	}
	if c.serves.Load() == nil {
		c.use() // nobody is served by another one
	}
	if err := trust(ctx, client, name, c.bundle); err != nil {
		return err
	}
	c.use()
	return nil
}

// trust writes the bundle into every webhook of a configuration.
func trust(ctx context.Context, client kubernetes.Interface, name string, bundle []byte) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	api := client.AdmissionregistrationV1().MutatingWebhookConfigurations()
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		config, err := api.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading the webhook configuration: %w", err)
		}
		if !setBundle(config, bundle) {
			return nil
		}
		if _, err = api.Update(ctx, config, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("writing the webhook configuration: %w", err)
		}
		return nil
	})
}

func setBundle(config *admissionregistrationv1.MutatingWebhookConfiguration, bundle []byte) (changed bool) {
	for i := range config.Webhooks {
		c := &config.Webhooks[i].ClientConfig
		if !bytes.Equal(c.CABundle, bundle) {
			c.CABundle, changed = bundle, true
		}
	}
	return changed
}
