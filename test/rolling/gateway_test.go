package rolling

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kureka/kureka/test/rig/java"
	"github.com/kureka/kureka/test/rig/stage"
)

const (
	gatewayName = "gateway"
	// controlPort is where the gateway tells what it knows.
	controlPort = 8090
)

// gateway is a Spring Cloud Gateway in a pod.
type gateway struct {
	page    string // of the application, through the gateway
	control string // base URL
	client  *http.Client
}

// startGateway starts it on the node that has no instances and returns when it
// answers.
func (w *world) startGateway() *gateway {
	w.Helper()
	pods := w.Rig.Client.CoreV1().Pods(w.Namespace)
	_, err := pods.Create(w.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: gatewayName, Labels: map[string]string{"app": gatewayName, "kureka.dev/drain": "Disabled"}},
		Spec: corev1.PodSpec{NodeName: w.Nodes[workers].Name, Containers: []corev1.Container{{
			Name: "app", Image: gatewayImage, Env: gatewayEnv(w.timing),
			Ports:          []corev1.ContainerPort{{ContainerPort: java.Port}},
			ReadinessProbe: probe("/actuator/health"),
		}}},
	}, metav1.CreateOptions{})
	w.must(err)
	w.Cleanup(func() {
		if w.Failed() {
			w.Logf("end of the gateway's log:\n%s", w.java.Log(w.Namespace+"/"+gatewayName))
		}
	})
	var ip string
	w.eventually("the gateway to be ready", func(ctx context.Context) (bool, error) {
		pod, err := pods.Get(ctx, gatewayName, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		ip = pod.Status.PodIP
		return ready(pod), nil
	})
	return &gateway{
		page:    "http://" + net.JoinHostPort(ip, strconv.Itoa(java.Port)) + "/orders",
		control: "http://" + net.JoinHostPort(ip, strconv.Itoa(controlPort)),
		client:  &http.Client{Timeout: 5 * time.Second},
	}
}

// gatewayEnv makes a gateway with one route of the lane of the conformance tests. It
// says why a call failed; all else is as it comes.
func gatewayEnv(at timing) []corev1.EnvVar {
	seconds := func(d time.Duration) string { return strconv.Itoa(wholeSeconds(d)) }
	return environ(map[string]string{
		"LANE_CLIENT": "gateway", "LANE_CONTROL": fmt.Sprintf("$(POD_IP):%d", controlPort),
		"LANE_APP": gatewayName, "LANE_ID": "$(POD_NAME)", "LANE_HOST": "$(POD_NAME)", "LANE_IP": "$(POD_IP)",
		"LANE_PORT": strconv.Itoa(java.Port), "LANE_SECURE_PORT": "8443", "LANE_VIP": gatewayName, "LANE_METADATA": "{}",
		"LANE_RENEW_SECONDS": seconds(at.renew), "LANE_LEASE_SECONDS": seconds(at.lease), "LANE_FETCH_SECONDS": seconds(at.fetch), "LANE_DELTA": "on",

		"SERVER_ADDRESS": "$(POD_IP)", "SERVER_PORT": strconv.Itoa(java.Port),
		"SPRING_CLOUD_LOADBALANCER_CACHE_TTL":                           seconds(at.cache) + "s",
		"SPRING_CLOUD_GATEWAY_SERVER_WEBFLUX_DISCOVERY_LOCATOR_ENABLED": "false",
		"SPRING_CLOUD_GATEWAY_SERVER_WEBFLUX_ROUTES_0_ID":               app,
		"SPRING_CLOUD_GATEWAY_SERVER_WEBFLUX_ROUTES_0_URI":              "lb://" + app,
		"SPRING_CLOUD_GATEWAY_SERVER_WEBFLUX_ROUTES_0_PREDICATES_0":     "Path=/orders",
		"SPRING_WEB_ERROR_INCLUDEMESSAGE":                               "always",
	})
}

func ready(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// knows are the instances of the application that the gateway's client holds as UP.
func (g *gateway) knows(ctx context.Context) (ids []string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, g.control+"/registry", nil)
	if err != nil {
		return nil, fmt.Errorf("building a request: %w", err)
	}
	res, err := g.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("asking the gateway: %w", err)
	}
	defer res.Body.Close()
	var apps map[string]map[string]struct{ Status string }
	if err := json.NewDecoder(io.LimitReader(res.Body, 4<<20)).Decode(&apps); err != nil {
		return nil, fmt.Errorf("reading the gateway's answer: %w", err)
	}
	for id, instance := range apps[strings.ToUpper(app)] {
		if instance.Status == "UP" {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// known watches how many instances a gateway knows.
type known struct {
	gateway *gateway
	fewest  int
}

func newKnown(g *gateway, now int) *known { return &known{gateway: g, fewest: now} }

// run watches until ctx ends. A gateway that is too busy to answer is asked again.
func (k *known) run(ctx context.Context) {
	for ctx.Err() == nil {
		if ids, err := k.gateway.knows(ctx); err == nil {
			k.fewest = min(k.fewest, len(ids))
		}
		_ = stage.Pass(ctx, 200*time.Millisecond) // the loop ends with ctx, too
	}
}
