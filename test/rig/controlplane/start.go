package controlplane

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

func (c *ControlPlane) startEtcd(ctx context.Context) error {
	clientPort, err := freePort(ctx, c.options.Address)
	if err != nil {
		return err
	}
	peerPort, err := freePort(ctx, c.options.Address)
	if err != nil {
		return err
	}
	c.etcdURL = "http://" + hostPort(c.options.Address, clientPort)
	c.etcdPeerURL = "http://" + hostPort(c.options.Address, peerPort)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.runEtcd(ctx)
}

// runEtcd runs etcd on its ports and its data; c.mu is held.
func (c *ControlPlane) runEtcd(ctx context.Context) error {
	p, err := startProcess(etcdName, c.options.Binaries.Etcd, c.etcdArgs(), c.dir)
	if err != nil {
		return err
	}
	c.etcd = p
	return p.waitReady(ctx, healthy(c.etcdURL+"/health"))
}

// StartAPIServer starts the API server again after StopAPIServer, on the same
// port, with the same data and certificates, and returns once it is ready.
func (c *ControlPlane) StartAPIServer(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.apiServer.running() {
		return errors.New("starting the API server: it is running")
	}
	p, err := startProcess(apiServerName, c.options.Binaries.APIServer, c.apiServerArgs(), c.dir)
	if err != nil {
		return err
	}
	c.apiServer = p
	return p.waitReady(ctx, func(ctx context.Context) error {
		return c.client.CoreV1().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	})
}

func (c *ControlPlane) startControllerManager(ctx context.Context) error {
	config, err := c.AddUser("system:kube-controller-manager", adminGroup)
	if err != nil {
		return err
	}
	if err := WriteKubeconfig(config, c.path(managerKubeconfigFile)); err != nil {
		return err
	}
	port, err := freePort(ctx, c.options.Address)
	if err != nil {
		return err
	}
	p, err := startProcess(controllerManagerName, c.options.Binaries.ControllerManager, c.controllerManagerArgs(port), c.dir)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.manager = p
	c.mu.Unlock()
	return p.waitReady(ctx, healthy("https://"+hostPort(c.options.Address, port)+"/healthz"))
}

// healthy asks an endpoint of a program we have just started on a port of our
// own, so its self-signed certificate proves nothing and is not looked at.
func healthy(url string) func(context.Context) error {
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // see above
		DisableKeepAlives: true,
	}}
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return fmt.Errorf("building the health request: %w", err)
		}
		res, err := client.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answered %s", url, res.Status)
		}
		return nil
	}
}

// Kubeconfig writes the administrator's kubeconfig to path.
func (c *ControlPlane) Kubeconfig(path string) error {
	return WriteKubeconfig(c.admin, path)
}

// WriteKubeconfig writes a kubeconfig to path that is as good as config.
func WriteKubeconfig(config *rest.Config, path string) error {
	const name = "kureka"
	file := clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{name: {
			Server:                   config.Host,
			CertificateAuthorityData: config.CAData,
		}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {
			ClientCertificateData: config.CertData,
			ClientKeyData:         config.KeyData,
		}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}
	if err := clientcmd.WriteToFile(file, path); err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	return nil
}
