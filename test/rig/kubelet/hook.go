package kubelet

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// hookTarget is whose hook it is and from where it is called.
type hookTarget struct {
	container *corev1.Container
	process   Process
	ip        string
	source    string // the node's address
}

// runHook runs a preStop hook to its end or until ctx ends; the grace period is
// the caller's business, because a kubelet stops waiting for a hook but does not
// cancel it. Whatever the hook says, also that it failed, the pod goes on ending.
func runHook(ctx context.Context, hook *corev1.LifecycleHandler, target hookTarget) {
	switch {
	case hook.Sleep != nil:
		timer := time.NewTimer(time.Duration(hook.Sleep.Seconds) * time.Second)
		defer timer.Stop()
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
	case hook.HTTPGet != nil:
		callHook(ctx, hook.HTTPGet, target)
	case hook.Exec != nil:
		if executor, ok := target.process.(Executor); ok {
			_ = executor.Exec(ctx, hook.Exec.Command)
		}
	}
}

// callHook waits for an answer and ignores what it says, as a kubelet does; it
// follows redirects on the same host only and does not try again.
func callHook(ctx context.Context, get *corev1.HTTPGetAction, target hookTarget) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, hookURL(get, target), nil)
	if err != nil {
		return
	}
	req.Header.Set("User-Agent", "kube-lifecycle/1.37")
	for _, header := range get.HTTPHeaders {
		if http.CanonicalHeaderKey(header.Name) == "Host" {
			req.Host = header.Value
			continue
		}
		req.Header.Add(header.Name, header.Value)
	}
	client := &http.Client{
		Transport: &http.Transport{
			DialContext:       dialFrom(ctx, target.source),
			DisableKeepAlives: true,
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // as a kubelet does
		},
		CheckRedirect: sameHost,
	}
	res, err := client.Do(req)
	if err != nil {
		return
	}
	res.Body.Close()
}

func sameHost(req *http.Request, via []*http.Request) error {
	const most = 10
	if req.URL.Hostname() != via[0].URL.Hostname() || len(via) >= most {
		return http.ErrUseLastResponse
	}
	return nil
}

func hookURL(get *corev1.HTTPGetAction, target hookTarget) string {
	host := get.Host
	if host == "" {
		host = target.ip
	}
	scheme := "http"
	if get.Scheme == corev1.URISchemeHTTPS {
		scheme = "https"
	}
	u, err := url.Parse(get.Path)
	if err != nil {
		u = &url.URL{Path: get.Path}
	}
	u.Scheme, u.Host = scheme, net.JoinHostPort(host, hookPort(get.Port, target.container))
	return u.String()
}

func hookPort(port intstr.IntOrString, container *corev1.Container) string {
	if port.Type == intstr.Int {
		return strconv.Itoa(int(port.IntVal))
	}
	for _, declared := range container.Ports {
		if declared.Name == port.StrVal {
			return strconv.Itoa(int(declared.ContainerPort))
		}
	}
	return port.StrVal
}

// dialFrom calls from the node's address where this machine has it, because that
// is where a kubelet's calls come from.
func dialFrom(ctx context.Context, source string) func(context.Context, string, string) (net.Conn, error) {
	dialer := &net.Dialer{}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(source, "0"))
	if err == nil && listener.Close() == nil {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(source)}
	}
	return dialer.DialContext
}
