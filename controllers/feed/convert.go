package feed

import (
	"net/netip"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kureka/kureka/api/v1alpha1"
	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/verdict"
)

// podEvidence reduces a pod to what the rules ask about.
func podEvidence(p *corev1.Pod) evidence.Pod {
	out := evidence.Pod{
		UID: string(p.UID), Namespace: p.Namespace, Name: p.Name,
		Version: version(p),
		Labels:  evidence.NewLabels(p.Labels), Annotations: addressed(p.Annotations),
		Hostname: p.Spec.Hostname, Subdomain: p.Spec.Subdomain,
		Node:        p.Spec.NodeName,
		HostNetwork: p.Spec.HostNetwork,
		Created:     p.CreationTimestamp.Time,
		Phase:       evidence.Phase(p.Status.Phase),
		DrainToken:  p.Annotations[v1alpha1.DrainHoldAnnotation],
		Deleting:    p.DeletionTimestamp != nil,
		Forced:      p.DeletionGracePeriodSeconds != nil && *p.DeletionGracePeriodSeconds == 0,
	}
	if p.DeletionGracePeriodSeconds != nil {
		out.Grace = time.Duration(*p.DeletionGracePeriodSeconds) * time.Second
	}
	if owner := metav1.GetControllerOf(p); owner != nil {
		out.Owner = string(owner.UID)
	}
	for _, ip := range p.Status.PodIPs {
		out.IPs = appendAddr(out.IPs, ip.IP)
	}
	if len(out.IPs) == 0 {
		out.IPs = appendAddr(out.IPs, p.Status.PodIP)
	}
	out.AwaitsRegistration, out.GateUnmet = gateEvidence(p)
	out.Ready, out.ContainersReady = conditionTrue(p, corev1.PodReady), conditionTrue(p, corev1.ContainersReady)
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			out.Disruption = c.Reason
			if out.Disruption == "" {
				out.Disruption = string(c.Type)
			}
		}
	}
	for i := range p.Spec.Containers {
		out.Containers = append(out.Containers, containerEvidence(&p.Spec.Containers[i], p.Status.ContainerStatuses))
	}
	return out
}

// gateEvidence tells the readiness gate that waits for the registry from others.
func gateEvidence(p *corev1.Pod) (awaits, unmet bool) {
	for _, gate := range p.Spec.ReadinessGates {
		switch {
		case conditionTrue(p, gate.ConditionType):
		case gate.ConditionType == v1alpha1.PodRegistered:
			awaits = true
		default:
			unmet = true
		}
	}
	return awaits, unmet
}

// version reads the resource version, which the API server lets grow with every
// write and promises to be a number.
func version(o metav1.Object) uint64 {
	v, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return v
}

func conditionTrue(p *corev1.Pod, kind corev1.PodConditionType) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == kind {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func containerEvidence(c *corev1.Container, statuses []corev1.ContainerStatus) evidence.Container {
	out := evidence.Container{Name: c.Name}
	out.Ports, out.PortNames = portEvidence(c)
	for _, s := range statuses {
		if s.Name != c.Name {
			continue
		}
		out.ID = s.ContainerID
		if running := s.State.Running; running != nil {
			out.Running, out.Started = true, running.StartedAt.Time
		}
		if end := endOf(&s); end != nil {
			out.Ended, out.Finished = true, end.FinishedAt.Time
		}
	}
	return out
}

// portEvidence returns the TCP ports of a container and, if any has one, their names.
func portEvidence(c *corev1.Container) (ports []uint16, names []string) {
	named := false
	for _, port := range c.Ports {
		tcp := port.Protocol == "" || port.Protocol == corev1.ProtocolTCP
		if tcp && port.ContainerPort > 0 && port.ContainerPort <= 65535 {
			ports = append(ports, uint16(port.ContainerPort))
			names = append(names, port.Name)
			named = named || port.Name != ""
		}
	}
	if !named {
		names = nil
	}
	return ports, names
}

// addressed keeps the annotations of a pod that are for Kureka.
func addressed(all map[string]string) map[string]string {
	var out map[string]string
	for key, value := range all {
		if !cluster.IsPodAnnotation(key) {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[key] = value
	}
	return out
}

// endOf is the end of the latest incarnation of a container that ended, nil if none
// did.
func endOf(s *corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	if s.State.Terminated != nil {
		return s.State.Terminated
	}
	return s.LastTerminationState.Terminated
}

// nodeEvidence reduces a node to what the rules ask about.
func nodeEvidence(n *corev1.Node) evidence.Node {
	out := evidence.Node{
		Name: n.Name, Version: version(n), Deleting: n.DeletionTimestamp != nil, Annotations: asked(n.Annotations), Zone: n.Labels[corev1.LabelTopologyZone],
		BootID: n.Status.NodeInfo.BootID,
	}
	if port := n.Status.DaemonEndpoints.KubeletEndpoint.Port; port > 0 && port <= 65535 {
		out.KubeletPort = uint16(port)
	}
	for _, a := range n.Status.Addresses {
		if a.Type == corev1.NodeInternalIP || a.Type == corev1.NodeExternalIP {
			out.Addresses = appendAddr(out.Addresses, a.Address)
		}
	}
	ranges := n.Spec.PodCIDRs
	if len(ranges) == 0 && n.Spec.PodCIDR != "" {
		ranges = []string{n.Spec.PodCIDR}
	}
	for _, r := range ranges {
		if prefix, err := netip.ParsePrefix(r); err == nil {
			out.PodCIDRs = append(out.PodCIDRs, prefix.Masked())
		}
	}
	for _, t := range n.Spec.Taints {
		out.Taints = append(out.Taints, evidence.Taint{Key: t.Key, Value: t.Value, Effect: string(t.Effect)})
	}
	for _, c := range n.Status.Conditions {
		out.Conditions = append(out.Conditions, evidence.Condition{
			Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message,
		})
	}
	return out
}

// asked keeps the annotations that checks ask about.
func asked(all map[string]string) map[string]string {
	var out map[string]string
	for _, key := range verdict.Annotations() {
		value, ok := all[key]
		if !ok {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[key] = value
	}
	return out
}

// sliceEvidence reduces a slice to its endpoints that refer to pods. A missing
// terminating condition means false; the other conditions are not asked, because
// with publishNotReadyAddresses they say ready of pods that are not.
func sliceEvidence(s *discoveryv1.EndpointSlice) []cluster.Endpoint {
	var out []cluster.Endpoint
	if s.AddressType == discoveryv1.AddressTypeFQDN {
		return nil
	}
	service := s.Labels[discoveryv1.LabelServiceName]
	for i := range s.Endpoints {
		e := &s.Endpoints[i]
		if e.TargetRef == nil || e.TargetRef.Kind != "Pod" || e.TargetRef.UID == "" {
			continue
		}
		end := cluster.Endpoint{Service: service, UID: string(e.TargetRef.UID), Terminating: e.Conditions.Terminating != nil && *e.Conditions.Terminating}
		for _, a := range e.Addresses {
			end.IPs = appendAddr(end.IPs, a)
		}
		out = append(out, end)
	}
	return out
}

func appendAddr(list []netip.Addr, s string) []netip.Addr {
	a, err := netip.ParseAddr(s)
	if err != nil || slices.Contains(list, a.Unmap()) {
		return list
	}
	return append(list, a.Unmap())
}
