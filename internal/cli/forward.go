package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream" //nolint:staticcheck // what client-go forwards ports with takes these types still
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
)

// forwarded finds the registry in the cluster and forwards a port of the loopback
// interface to it for as long as the command runs.
func (o *options) forwarded(ctx context.Context) (*api, error) {
	config, current, err := o.cluster()
	if err != nil {
		return nil, err
	}
	core, err := typedcorev1.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("reaching the API server: %w", err)
	}
	t, err := o.find(ctx, core, current)
	if err != nil {
		return nil, err
	}
	port, closer, err := forward(ctx, config, core, t)
	if err != nil {
		return nil, fmt.Errorf("forwarding a port to the pod %s/%s: %w", t.namespace, t.pod, err)
	}
	base := &url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", port)}
	if t.tls {
		base.Scheme = "https"
	}
	a, err := o.reader(base, t.service+"."+t.namespace, closer)
	if err != nil {
		closer()
		return nil, err
	}
	a.name = t.namespace + "/" + t.pod
	return a, nil
}

// forward opens the port and returns it once it can be used.
func forward(ctx context.Context, config *rest.Config, core typedcorev1.CoreV1Interface, t target) (port uint16, closer func(), err error) {
	dialer, err := dialerFor(config, core.RESTClient().Post().Resource(string(corev1.ResourcePods)).Namespace(t.namespace).Name(t.pod).SubResource("portforward").URL())
	if err != nil {
		return 0, nil, err
	}
	stop, ready := make(chan struct{}), make(chan struct{})
	var told bytes.Buffer // what it says about single connections when it ends
	f, err := portforward.NewOnAddresses(dialer, []string{"127.0.0.1"}, []string{fmt.Sprintf("0:%d", t.port)}, stop, ready, io.Discard, &told)
	if err != nil {
		return 0, nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- f.ForwardPorts() }()
	closer = func() {
		close(stop)
		<-ended //nolint:errcheck // it has been told to end
	}
	select {
	case err := <-ended:
		if why := strings.TrimSpace(told.String()); why != "" {
			err = errors.Join(err, errors.New(why))
		}
		return 0, nil, cmp.Or(err, errors.New("it ended at once"))
	case <-ctx.Done():
		closer()
		return 0, nil, ctx.Err()
	case <-ready:
	}
	ports, err := f.GetPorts()
	if err != nil {
		closer()
		return 0, nil, err
	}
	return ports[0].Local, closer, nil
}

// dialerFor speaks WebSocket, and SPDY where something between does not let that
// through, as kubectl does.
func dialerFor(config *rest.Config, target *url.URL) (httpstream.Dialer, error) {
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return nil, err
	}
	older := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, target)
	newer, err := portforward.NewSPDYOverWebsocketDialer(target, config)
	if err != nil {
		return nil, err
	}
	return portforward.NewFallbackDialer(newer, older, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	}), nil
}
