package truth

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kureka/kureka/internal/cluster"
)

// tape records what an operator was told, as a scenario of package cluster.
type tape struct {
	on    bool
	w     *world
	op    *operator
	base  time.Duration // when the operator began
	last  time.Duration
	lines []string
}

// begin starts anew with an operator that knows nothing.
func (t *tape) begin(op *operator) {
	t.op, t.base, t.last, t.lines = op, op.w.now, 0, nil
	if t.w.plan.unprotected {
		t.line(t.base, "selfpreservation off")
	}
	if t.w.plan.probing {
		t.line(t.base, "prober on")
	}
}

func (t *tape) line(now time.Duration, format string, args ...any) {
	if !t.on {
		return
	}
	if at := now - t.base; at != t.last {
		t.last = at
		t.lines = append(t.lines, "at "+at.String())
	}
	t.lines = append(t.lines, fmt.Sprintf(format, args...))
}

func (t *tape) step(op *operator) { t.line(op.w.now, "step") }

func (t *tape) register(now time.Duration, c *client) {
	t.line(now, "register %s ip=%s%s host=%s port=%d interval=%d dirty=%d", c.key, c.rec.IPAddr, from(c), c.rec.HostName,
		c.rec.Port.Number, int(c.load.interval/time.Second), c.rec.Dirty)
}

func (t *tape) renew(now time.Duration, c *client) {
	dirty := ""
	if !c.load.timeless {
		dirty = fmt.Sprintf(" dirty=%d", c.rec.Dirty)
	}
	t.line(now, "renew %s%s status=UP%s", c.key, from(c), dirty)
}

func (t *tape) cancel(now time.Duration, c *client) { t.line(now, "cancel %s%s", c.key, from(c)) }

func from(c *client) string {
	if c.source.IsValid() {
		return " from=" + c.source.String()
	}
	return ""
}

// sinceBegin is a moment that somebody wrote, by the operator's clock.
func (t *tape) sinceBegin(at time.Time) int {
	return int((at.Sub(wall(0, 0)) - t.base - t.op.stepped).Round(time.Second) / time.Second)
}

func (t *tape) pod(now time.Duration, o *corev1.Pod) {
	if !t.on {
		return
	}
	words := slices.Concat([]string{
		"pod", o.Name, "ns=" + o.Namespace, "uid=" + string(o.UID), "labels=" + pairs(o.Labels), "annotations=" + pairs(o.Annotations), "node=" + o.Spec.NodeName, "ip=" + o.Status.PodIP,
		fmt.Sprintf("version=%s created=%d", o.ResourceVersion, t.sinceBegin(o.CreationTimestamp.Time)), "phase=" + string(o.Status.Phase), "disruption=" + disruption(o),
		"owner=" + string(o.OwnerReferences[0].UID), "containers=" + t.containers(o), "quiet",
	}, flags(map[string]bool{
		"ready": condition(o, corev1.PodReady), "containersready": condition(o, corev1.ContainersReady),
		"deleting": o.DeletionTimestamp != nil, "hostnet": o.Spec.HostNetwork,
	}))
	t.line(now, "%s", strings.Join(words, " "))
}

func flags(set map[string]bool) []string {
	out := slices.Sorted(maps.Keys(set))
	for i, word := range out {
		if !set[word] {
			out[i] = "-" + word
		}
	}
	return out
}

func disruption(o *corev1.Pod) string {
	if condition(o, corev1.DisruptionTarget) {
		return "yes"
	}
	return "none"
}

func (t *tape) containers(o *corev1.Pod) string {
	port := 0
	for _, p := range o.Spec.Containers[0].Ports {
		port = int(p.ContainerPort)
	}
	id, state, finished, began := "", "down", "", ""
	for _, s := range o.Status.ContainerStatuses {
		id = s.ContainerID
		end := s.LastTerminationState.Terminated
		if s.State.Running != nil {
			state, began = "run", fmt.Sprintf(":%d", t.sinceBegin(s.State.Running.StartedAt.Time))
		} else {
			end = s.State.Terminated
		}
		if end != nil {
			finished = fmt.Sprintf(":%d", t.sinceBegin(end.FinishedAt.Time))
		}
	}
	if finished == "" && began != "" {
		finished = ":"
	}
	return fmt.Sprintf("app:%d:%s:%s%s%s", port, id, state, finished, began)
}

func (t *tape) node(now time.Duration, o *corev1.Node) {
	if !t.on {
		return
	}
	c := readiness(o)
	keys := make([]string, 0, len(o.Spec.Taints))
	for _, taint := range o.Spec.Taints {
		keys = append(keys, taint.Key)
	}
	t.line(now, "node %s quiet version=%s ready=%s message=%s taint=%s cidr=%s zone=%s addr=%s kubelet=%d", o.Name, o.ResourceVersion, c.Status, strings.ReplaceAll(c.Message, " ", "_"),
		strings.Join(keys, ","), strings.Join(o.Spec.PodCIDRs, ","), o.Labels[corev1.LabelTopologyZone], o.Status.Addresses[0].Address, o.Status.DaemonEndpoints.KubeletEndpoint.Port)
}

// recorded is the cluster with a tape, and with the model's eyes on what live reads
// brought.
type recorded struct {
	*cluster.Cluster
	op *operator
}

// PodGone implements feed.Target.
func (r recorded) PodGone(now time.Time, uid string) {
	if p := r.op.w.pod(uid); p != nil && r.op.w.api.pod(p) == nil { // what the product believes is no excuse
		r.op.loses(uid)
	}
	r.op.tape.line(r.op.w.now, "podgone %s", uid)
	r.Cluster.PodGone(now, uid)
	r.op.w.checkGone(r.op, uid)
}

// NodeGone implements feed.Target.
func (r recorded) NodeGone(now, sent time.Time, name string) {
	if r.op.w.wasMissing(name) {
		r.op.view.missing[name] = true
	}
	r.op.tape.line(r.op.w.now, "nodegone %s sent=%s", name, sent.Sub(now))
	r.Cluster.NodeGone(now, sent, name)
	r.op.w.check()
}

// ObserveLease implements feed.Target.
func (r recorded) ObserveLease(now time.Time, name string, renewed time.Time, lasts time.Duration) {
	r.op.tape.line(r.op.w.now, "lease %s ahead=%s", name, renewed.Sub(now.Round(0)))
	r.Cluster.ObserveLease(now, name, renewed, lasts)
}

// ObserveCanary implements feed.Target.
func (r recorded) ObserveCanary(now, written time.Time) {
	r.op.tape.line(r.op.w.now, "canary sent=%s", written.Sub(now.Round(0)))
	r.Cluster.ObserveCanary(now, written)
}
