package drain

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// delay is how the end of a pod is delayed.
type delay struct {
	seconds int64 // at most
	how     string
	token   string // by which the pod is known while it is held, empty if it sleeps
	// hook makes the preStop hook of a pod that has a grace period for itself.
	hook func(graceSeconds int64) *corev1.LifecycleHandler
}

func sleepFor(seconds int64, how string) delay {
	return delay{seconds: seconds, how: how, hook: func(int64) *corev1.LifecycleHandler {
		return &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: seconds}}
	}}
}

// Hold says where a kubelet is to ask that holds the end of a pod until everybody
// knows of it: kubelets ask from their nodes, which know no names of Services.
type Hold struct {
	// Path is asked for a pod that is known by a token, is held for so many seconds
	// at most and has so many for itself after that.
	Path func(token string, seconds, graceSeconds int64) string
	// Address is host:port. Empty: that of the port RegistryPort of a Service.
	Address            string
	Namespace, Service string
	TLS                bool
}

// holder has pods held.
type holder struct {
	Hold
	found atomic.Pointer[target]
}

type target struct {
	host string
	port int32
	err  error // why there is none
}

// RegistryPort names the port of the Service by which clients reach the registry.
const RegistryPort = "eureka"

// followEvery is how often the Service's address is read.
const followEvery = 30 * time.Second

var errNotAsked = errors.New("the address of Kureka's Service is not known yet")

// upTo returns the delay of a pod that is held for so many seconds at most.
func (h *holder) upTo(seconds int64) (delay, error) {
	t := h.found.Load()
	switch {
	case t == nil:
		return delay{}, errNotAsked
	case t.err != nil:
		return delay{}, t.err
	}
	token, scheme := rand.Text(), corev1.URISchemeHTTP
	if h.TLS {
		scheme = corev1.URISchemeHTTPS
	}
	return delay{
		seconds: seconds, how: "until every consumer has fetched, limited by drain.maxSeconds", token: token,
		hook: func(grace int64) *corev1.LifecycleHandler {
			return &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{
				Host: t.host, Port: intstr.FromInt32(t.port), Scheme: scheme, Path: h.Path(token, seconds, grace),
			}}
		},
	}, nil
}

// follow keeps the address until the context ends.
func (h *holder) follow(ctx context.Context, client kubernetes.Interface, log logr.Logger) {
	if h.Address != "" {
		h.found.Store(parseTarget(h.Address))
		return
	}
	wait.UntilWithContext(ctx, func(ctx context.Context) { h.look(ctx, client, log) }, followEvery)
}

func (h *holder) look(ctx context.Context, client kubernetes.Interface, log logr.Logger) {
	t := h.ask(ctx, client)
	if before := h.found.Swap(t); t.err != nil && (before == nil || before.err == nil) {
		log.Info("Pods whose policy says drain.mode Hold get a sleep", "cause", t.err.Error())
	}
}

func parseTarget(address string) *target {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return &target{err: fmt.Errorf("reading the address that kubelets are to ask: %w", err)}
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return &target{err: fmt.Errorf("reading the address that kubelets are to ask: %w", err)}
	}
	return &target{host: host, port: int32(port)}
}

// ask reads the Service's address. It lists, because that is what Kureka may do with
// Services anyway.
func (h *holder) ask(ctx context.Context, client kubernetes.Interface) *target {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	list, err := client.CoreV1().Services(h.Namespace).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, h.Service).String(),
	})
	switch {
	case err != nil:
		return &target{err: fmt.Errorf("reading the Service %s/%s: %w", h.Namespace, h.Service, err)}
	case len(list.Items) == 0:
		return &target{err: fmt.Errorf("there is no Service %s/%s", h.Namespace, h.Service)}
	}
	return targetOf(&list.Items[0])
}

func targetOf(s *corev1.Service) *target {
	if ip := s.Spec.ClusterIP; ip == "" || ip == corev1.ClusterIPNone {
		return &target{err: fmt.Errorf("the Service %s/%s has no address of its own", s.Namespace, s.Name)}
	}
	for _, p := range s.Spec.Ports {
		if p.Name == RegistryPort {
			return &target{host: s.Spec.ClusterIP, port: p.Port}
		}
	}
	return &target{err: fmt.Errorf("the Service %s/%s has no port named %q", s.Namespace, s.Name, RegistryPort)}
}
