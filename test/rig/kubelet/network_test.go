package kubelet_test

import (
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kureka/kureka/test/rig/kubelet"
	"github.com/kureka/kureka/test/rig/netns"
)

func TestNodeWithoutPowerAnswersNothingAtItsKubeletsPort(t *testing.T) {
	netns.Require(t)
	r := newRig(t, "port", 28, func(o *kubelet.Options) { o.Port, o.Vanish = 10250, netns.BlackHole })
	node := waitNode(t, "port", "there", func(*corev1.Node) bool { return true })
	port := node.Status.DaemonEndpoints.KubeletEndpoint.Port
	if port != 10250 {
		t.Fatalf("the node names port %d", port)
	}
	dial := func() error {
		conn, err := (&net.Dialer{Timeout: 200 * time.Millisecond}).DialContext(t.Context(), "tcp", net.JoinHostPort("10.99.0.28", strconv.Itoa(int(port))))
		if err == nil {
			err = conn.Close()
		}
		return err
	}
	if err := dial(); err != nil {
		t.Errorf("on: %v", err)
	}
	r.PowerOff()
	if err := dial(); !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("off: %v, want no answer", err)
	}
	r.PowerOn()
	if err := dial(); err != nil {
		t.Errorf("on again: %v", err)
	}
}
