package cli

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"

	"github.com/kureka/kureka/test/rig/stage"
)

// kubeletForwarding is a kubelet that can do nothing but forward ports, all of them to one
// address.
func kubeletForwarding(t *testing.T, address, to string) (port int32) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := shared.rig.Plane.ServingCertificate(netip.MustParseAddr(address))
	if err != nil {
		t.Fatal(err)
	}
	//nolint:contextcheck // what is relayed outlives the request that upgraded the connection
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { forwardPort(t, w, r, to) }))
	s.Listener, s.TLS = l, &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{*certificate}}
	s.StartTLS()
	t.Cleanup(s.Close)
	return int32(netip.MustParseAddrPort(l.Addr().String()).Port())
}

// forwardPort answers as a kubelet does: for every connection a stream of errors, which
// stays empty, and one of data.
func forwardPort(t *testing.T, w http.ResponseWriter, r *http.Request, to string) {
	t.Helper()
	if _, err := httpstream.Handshake(r, w, []string{"portforward.k8s.io"}); err != nil {
		t.Error(err)
		return
	}
	streams := make(chan httpstream.Stream, 8)
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, _ <-chan struct{}) error {
		streams <- s
		return nil
	})
	if conn == nil {
		return
	}
	defer func() { _ = conn.Close() }() // it is over
	for {
		select {
		case <-conn.CloseChan():
			return
		case s := <-streams:
			if s.Headers().Get(corev1.StreamType) == corev1.StreamTypeData {
				go relay(t, s, to)
			} else {
				_ = s.Close() // there are no errors
			}
		}
	}
}

func relay(t *testing.T, s httpstream.Stream, to string) {
	t.Helper()
	upstream, err := (&net.Dialer{}).DialContext(context.WithoutCancel(t.Context()), "tcp", to)
	if err != nil {
		t.Error(err)
		return
	}
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(upstream, s) // ends with the client
		_ = upstream.Close()
	})
	both.Go(func() {
		_, _ = io.Copy(s, upstream)
		_ = s.Close()
	})
	both.Wait()
}

// install makes a pod of Kureka as the chart does, on a node whose kubelet forwards
// to the shared operator.
func install(t *testing.T) {
	t.Helper()
	to, err := url.Parse(shared.operator.Base())
	must(t, err)
	address := shared.rig.ServerAddress()
	core := shared.rig.Client.CoreV1()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "forwards"}}
	_, err = core.Nodes().Create(t.Context(), node, metav1.CreateOptions{})
	must(t, err)
	patch := fmt.Sprintf(`{"status":{"addresses":[{"type":"InternalIP","address":%q}],"daemonEndpoints":{"kubeletEndpoint":{"Port":%d}}}}`,
		address, kubeletForwarding(t, address, to.Host))
	_, err = core.Nodes().Patch(t.Context(), node.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
	must(t, err)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "kureka-5d8f", Labels: map[string]string{"app.kubernetes.io/name": "kureka"}},
		Spec: corev1.PodSpec{NodeName: node.Name, Containers: []corev1.Container{{
			Name: "kureka", Image: "kureka", Args: []string{"manager", "--canary-lease=kureka"},
			Ports: []corev1.ContainerPort{{Name: "eureka", ContainerPort: 8761}},
		}}},
	}
	_, err = core.Pods(stage.SystemNamespace).Create(t.Context(), pod, metav1.CreateOptions{})
	must(t, err)
	_, err = core.Pods(stage.SystemNamespace).Patch(t.Context(), pod.Name, types.MergePatchType, []byte(`{"status":{"phase":"Running"}}`), metav1.PatchOptions{}, "status")
	must(t, err)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		now := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
		must(t, core.Pods(stage.SystemNamespace).Delete(ctx, pod.Name, now))
		must(t, core.Nodes().Delete(ctx, node.Name, now))
	})
}

// allow lets a user do in the namespace of Kureka what docs/cli.md says, and nothing
// else.
func allow(t *testing.T, user string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	rbac := shared.rig.Client.RbacV1()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: rules}
	_, err := rbac.Roles(stage.SystemNamespace).Create(t.Context(), role, metav1.CreateOptions{})
	must(t, err)
	_, err = rbac.RoleBindings(stage.SystemNamespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
	}, metav1.CreateOptions{})
	must(t, err)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestForward_findsKurekaAndForwardsAPort(t *testing.T) {
	install(t)
	sees := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}}
	forwards := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods/portforward"}, Verbs: []string{"create", "get"}}
	allow(t, "able", sees, forwards)
	allow(t, "bound", sees)
	elsewhere := []string{"--kureka-namespace", "default"}
	tests := map[string]struct {
		user string
		args []string
		code int
		want string
	}{
		"with the permissions":        {"able", nil, 0, "server     kureka-system/kureka-5d8f"},
		"with the namespace":          {"able", []string{"--kureka-namespace", stage.SystemNamespace}, 0, "server     kureka-system/kureka-5d8f"},
		"in another namespace":        {"able", elsewhere, 2, "looking for Kureka: pods is forbidden"},
		"without permission to list":  {"blind", nil, 2, "no Kureka found in any namespace you may list; pass --kureka-namespace or --server"},
		"without permission to reach": {"bound", nil, 2, "forwarding a port to the pod kureka-system/kureka-5d8f"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := command(t, append([]string{"--as", tc.user, "status"}, tc.args...)...)
			if got.code != tc.code || !strings.Contains(got.out+got.err, tc.want) {
				t.Errorf("it says (%d)\n%s%s\nwant (%d) %q", got.code, got.out, got.err, tc.code, tc.want)
			}
		})
	}
}
