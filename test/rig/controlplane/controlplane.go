package controlplane

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	authorityFile         = "ca.crt"
	servingCertFile       = "apiserver.crt"
	servingKeyFile        = "apiserver.key"
	signingKeyFile        = "service-account.key"
	managerKubeconfigFile = "controller-manager.kubeconfig"

	// adminGroup passes every authorization check.
	adminGroup = "system:masters"
)

// ControlPlane is a running control plane. Its methods may be called from
// several goroutines.
type ControlPlane struct {
	options   Options
	dir       string
	authority authority
	etcdURL   string
	// etcdPeerURL is where nobody ever calls: there is one etcd.
	etcdPeerURL string
	port        string // of the API server
	admin       *rest.Config
	client      kubernetes.Interface

	mu        sync.Mutex // guards the processes
	etcd      *process
	apiServer *process
	manager   *process
}

// Start runs the control plane and returns once it serves and has its system
// namespaces. When a program does not come up, the error shows the end of its
// log and nothing is left running.
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	options = options.withDefaults()
	if options.Binaries == (Binaries{}) {
		binaries, err := Ensure(ctx, os.Stderr)
		if err != nil {
			return nil, err
		}
		options.Binaries = binaries
	}
	dir, err := workDir(options.Dir)
	if err != nil {
		return nil, err
	}
	c := &ControlPlane{options: options, dir: dir}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the control plane: %w", err), c.Stop())
	}
	return c, nil
}

func workDir(dir string) (string, error) {
	if dir == "" {
		dir, err := os.MkdirTemp("", "kureka-controlplane-")
		if err != nil {
			return "", fmt.Errorf("creating a temporary folder: %w", err)
		}
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("creating the folder of the control plane: %w", err)
	}
	return filepath.Abs(dir)
}

func (c *ControlPlane) start(ctx context.Context) error {
	if err := c.prepare(ctx); err != nil {
		return err
	}
	if err := c.startEtcd(ctx); err != nil {
		return err
	}
	if err := c.StartAPIServer(ctx); err != nil {
		return err
	}
	if err := c.waitNamespaces(ctx); err != nil {
		return err
	}
	if c.options.NoControllerManager {
		return nil
	}
	return c.startControllerManager(ctx)
}

// prepare makes everything that outlives a restart of the API server: port,
// certificates and keys.
func (c *ControlPlane) prepare(ctx context.Context) error {
	var err error
	if c.port, err = freePort(ctx, c.options.Address); err != nil {
		return err
	}
	if c.authority, err = newAuthority(); err != nil {
		return err
	}
	address := net.ParseIP(c.options.Address)
	if address == nil {
		return fmt.Errorf("address %q is not an IP address", c.options.Address)
	}
	if err := c.writeCertificates(address); err != nil {
		return err
	}
	if c.admin, err = c.AddUser("admin", adminGroup); err != nil {
		return err
	}
	c.client, err = kubernetes.NewForConfig(c.admin)
	return err
}

func (c *ControlPlane) writeCertificates(address net.IP) error {
	ca, err := c.authority.pem()
	if err != nil {
		return fmt.Errorf("encoding the authority: %w", err)
	}
	serving, err := c.authority.issue("kube-apiserver", nil, address)
	if err != nil {
		return err
	}
	signing, err := c.authority.issue("service-accounts", nil)
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{
		authorityFile:   ca,
		servingCertFile: serving.cert,
		servingKeyFile:  serving.key,
		signingKeyFile:  signing.key,
	} {
		if err := os.WriteFile(c.path(name), content, 0o600); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	return nil
}

func (c *ControlPlane) path(name string) string { return filepath.Join(c.dir, name) }

// LogDir is the folder with one log file per program.
func (c *ControlPlane) LogDir() string { return c.dir }

// Config returns a copy of an administrator's configuration without a client-side
// rate limit.
func (c *ControlPlane) Config() *rest.Config { return rest.CopyConfig(c.admin) }

// AddUser returns the configuration of a user with these groups. It has the
// rights RBAC gives it and no others. It may be called at any time and survives
// outages.
func (c *ControlPlane) AddUser(name string, groups ...string) (*rest.Config, error) {
	id, err := c.authority.issue(name, groups)
	if err != nil {
		return nil, fmt.Errorf("adding user %s: %w", name, err)
	}
	ca, err := c.authority.pem()
	if err != nil {
		return nil, fmt.Errorf("adding user %s: %w", name, err)
	}
	return &rest.Config{
		Host:            "https://" + hostPort(c.options.Address, c.port),
		TLSClientConfig: rest.TLSClientConfig{CAData: ca, CertData: id.cert, KeyData: id.key},
		QPS:             -1,
	}, nil
}

// ServingCertificate returns a certificate for a server that stands in for the API
// server on another address; whoever trusts the one trusts the other.
func (c *ControlPlane) ServingCertificate(address netip.Addr) (*tls.Certificate, error) {
	id, err := c.authority.issue("kube-apiserver", nil, address.AsSlice())
	if err != nil {
		return nil, err
	}
	certificate, err := tls.X509KeyPair(id.cert, id.key)
	if err != nil {
		return nil, fmt.Errorf("loading the certificate for %s: %w", address, err)
	}
	return &certificate, nil
}

// StopAPIServer kills the API server and returns when it is gone: connections
// break and new ones are refused, while etcd and the controller manager live on.
func (c *ControlPlane) StopAPIServer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.apiServer.kill()
}

// FreezeAPIServer stops the API server without closing anything: connections are
// accepted and stay silent. ThawAPIServer ends that.
func (c *ControlPlane) FreezeAPIServer() { c.signalAPIServer(syscall.SIGSTOP) }

// ThawAPIServer lets a frozen API server go on.
func (c *ControlPlane) ThawAPIServer() { c.signalAPIServer(syscall.SIGCONT) }

func (c *ControlPlane) signalAPIServer(sig syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.apiServer.signal(sig)
}

// Stop ends all programs and removes the folder unless Options.Dir named it.
// Stopping twice is fine.
func (c *ControlPlane) Stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.manager.kill()
	c.apiServer.kill()
	c.etcd.kill()
	if c.options.Dir != "" {
		return nil
	}
	if err := os.RemoveAll(c.dir); err != nil {
		return fmt.Errorf("removing the control plane's folder: %w", err)
	}
	return nil
}

// waitNamespaces waits for the namespaces the API server makes for itself, which
// appear a moment after it is ready.
func (c *ControlPlane) waitNamespaces(ctx context.Context) error {
	return c.apiServer.waitReady(ctx, func(ctx context.Context) error {
		for _, name := range []string{"default", "kube-system", "kube-node-lease"} {
			if _, err := c.client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{}); err != nil {
				return err
			}
		}
		return nil
	})
}

func hostPort(host, port string) string { return net.JoinHostPort(host, port) }
