package cluster

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/registry"
)

// history plays random events against a view and checks after each that what is
// in force follows from the current state alone, and that nothing is left behind:
// what cannot be seen from outside. What the view does to the living and the dead is
// tested in test/truth.
type history struct {
	t    *rapid.T
	c    *Cluster
	reg  *registry.Engine
	now  time.Time
	pods []*evidence.Pod
	seq  int
}

func TestWhatIsInForceFollowsFromTheState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &history{t: t, now: time.Unix(1_700_000_000, 0)}
		policy := registry.DefaultPolicy()
		policy.SelfPreservation = false // or the last lease would be held for ever
		h.reg = registry.New(h.now, registry.Options{Policy: policy})
		h.c = New(h.reg, Options{AllNamespaces: true})
		h.c.SetPodsReadable(h.now, true)
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			h.step()
			h.check()
			h.now = h.now.Add(time.Millisecond)
		}
		h.end()
	})
}

func TestNothingIsLeftBehindWhereVerdictsDoNotAct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &history{t: t, now: time.Unix(1_700_000_000, 0)}
		h.start(nil)
		policy := h.c.fallback
		policy.Observe = true
		h.c.SetPolicies(h.now, policy, nil)
		h.c.SetPodsReadable(h.now, true)
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			h.step()
			h.checkKnown()
			h.now = h.now.Add(time.Millisecond)
		}
		h.end()
	})
}

func (h *history) step() {
	steps := []func(){
		h.newPod, h.newPod, h.newPod, h.changePod, h.changePod, h.changePod, h.gone, h.gone,
		h.register, h.register, h.register, h.anyInstance, h.node, h.tick,
	}
	steps[rapid.IntRange(0, len(steps)-1).Draw(h.t, "step")]()
}

func (h *history) ip() netip.Addr {
	return netip.AddrFrom4([4]byte{10, 1, 0, byte(rapid.IntRange(1, 5).Draw(h.t, "ip"))})
}

func (h *history) newPod() {
	h.seq++
	p := &evidence.Pod{
		UID: "u" + strconv.Itoa(h.seq), Namespace: "ns", Name: "p" + strconv.Itoa(h.seq), Created: h.now, Phase: evidence.Running,
		Node: "n" + strconv.Itoa(rapid.IntRange(0, 2).Draw(h.t, "node")), IPs: []netip.Addr{h.ip()},
		Containers: []evidence.Container{{Name: "app", Ports: []uint16{8080}, ID: "c0", Running: true}},
	}
	if rapid.IntRange(0, 2).Draw(h.t, "stateful") == 0 { // a name that comes back replaces its pod unseen
		p.Name = "web-" + strconv.Itoa(rapid.IntRange(0, 1).Draw(h.t, "ordinal"))
		h.pods = slices.DeleteFunc(h.pods, func(o *evidence.Pod) bool { return o.Name == p.Name })
	}
	h.pods = append(h.pods, p)
	h.c.ObservePod(h.now, *p)
}

func (h *history) pick() *evidence.Pod {
	if len(h.pods) == 0 {
		return nil
	}
	return h.pods[rapid.IntRange(0, len(h.pods)-1).Draw(h.t, "pod")]
}

func (h *history) changePod() {
	p := h.pick()
	if p == nil {
		return
	}
	next := *p
	next.Containers = slices.Clone(p.Containers)
	switch rapid.IntRange(0, 6).Draw(h.t, "change") {
	case 0:
		next.Deleting = true
	case 1:
		next.Phase = evidence.Failed
	case 2:
		next.Ready = !next.Ready
	case 3:
		next.Containers[0].Running = false
	case 4:
		next.Containers[0] = evidence.Container{
			Name: "app", Ports: []uint16{8080}, ID: "c" + strconv.Itoa(rapid.IntRange(1, 99).Draw(h.t, "id")), Running: true, Finished: h.now,
		}
	case 5:
		next.IPs = []netip.Addr{h.ip()}
	case 6:
		next.IPs = nil
	}
	*p = next
	h.c.ObservePod(h.now, next)
}

// gone removes a pod. Once that is proven, and verdicts act, what was bound to it is
// gone or turned out to be another's.
func (h *history) gone() {
	p := h.pick()
	if p == nil {
		return
	}
	var bound []*instance
	for _, in := range h.c.insts {
		if in.pod != nil && in.pod.UID == p.UID {
			bound = append(bound, in)
		}
	}
	h.pods = slices.DeleteFunc(h.pods, func(o *evidence.Pod) bool { return o == p })
	h.c.PodGone(h.now, p.UID)
	for _, in := range bound {
		if !h.c.fallback.Observe && h.c.pods[p.UID] == nil && h.c.insts[in.key] == in && in.pod == nil {
			h.t.Fatalf("%v is left of %s", in.key, p.UID)
		}
	}
}

func (h *history) register() {
	p := h.pick()
	if p == nil || len(p.IPs) == 0 {
		return
	}
	id := p.Name
	if rapid.IntRange(0, 4).Draw(h.t, "shared") == 0 {
		id = "same"
	}
	ip, host := p.IPs[0].String(), ""
	if rapid.IntRange(0, 4).Draw(h.t, "by name") == 0 {
		ip, host = "172.17.0.1", p.Name
	}
	h.c.Register(h.now, p.IPs[0], &registry.Record{
		App: "A" + strconv.Itoa(rapid.IntRange(0, 1).Draw(h.t, "app")), ID: id, IPAddr: ip, HostName: host,
		Port: registry.Port{Number: 8080, Enabled: true},
	})
}

func (h *history) anyInstance() {
	keys := make([]registry.Key, 0, len(h.c.insts))
	for key := range h.c.insts {
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return
	}
	slices.SortFunc(keys, func(a, b registry.Key) int { return cmpStrings(a.String(), b.String()) })
	key := keys[rapid.IntRange(0, len(keys)-1).Draw(h.t, "key")]
	src := h.c.insts[key].source
	switch rapid.IntRange(0, 3).Draw(h.t, "request") {
	case 0:
		h.c.Renew(h.now, src, key, registry.Beat{Status: registry.Up})
	case 1:
		h.c.Cancel(h.now, src, key)
	case 2:
		h.c.SetOverride(h.now, src, key, registry.OutOfService)
	case 3:
		h.c.ClearOverride(h.now, src, key)
	}
}

func cmpStrings(a, b string) int {
	if a < b {
		return -1
	}
	return 1
}

func (h *history) node() {
	n := evidence.Node{
		Name:       "n" + strconv.Itoa(rapid.IntRange(0, 2).Draw(h.t, "node")),
		Conditions: []evidence.Condition{{Type: "Ready", Status: rapid.SampledFrom([]string{"True", "True", "Unknown"}).Draw(h.t, "ready")}},
	}
	switch rapid.IntRange(0, 5).Draw(h.t, "taint") {
	case 0:
		n.Taints = []evidence.Taint{{Key: "aws-node-termination-handler/spot-itn"}}
	case 1:
		n.Taints = []evidence.Taint{{Key: "node.kubernetes.io/out-of-service"}}
	case 2:
		h.c.NodeGone(h.now, h.now, n.Name)
		return
	}
	h.c.ObserveNode(h.now, n)
}

func (h *history) tick() {
	for range rapid.IntRange(1, 40).Draw(h.t, "seconds") {
		h.now = h.now.Add(time.Second)
		h.c.ObserveCanary(h.now, h.now)
		h.c.Touch(h.now)
		h.c.Tick(h.now)
	}
}

// check states what must hold at any time.
func (h *history) check() {
	listed := 0
	for view := range h.c.Snapshot().All() {
		listed++
		in := h.c.insts[view.Key()]
		if in == nil {
			h.t.Fatalf("%v is in the registry only", view.Key())
		}
		h.checkInstance(in, view)
	}
	for _, in := range h.c.insts {
		if in.unlisted {
			listed++
		}
	}
	if listed != len(h.c.insts) {
		h.t.Fatalf("%d listed or unlisted, %d known", listed, len(h.c.insts))
	}
	h.checkKnown()
	for a, p := range h.c.owners {
		if p.rank() == ended {
			continue
		}
		caller := registry.Caller{Addr: a.Addr(), PodUID: p.UID}
		if h.reg.Renew(h.now, caller, registry.NewKey("none", "none"), registry.Beat{}).Outcome == registry.Fenced {
			h.t.Fatalf("%v is fenced although %s owns it", a, p.UID)
		}
		if _, fenced := h.reg.FencedSince(p.UID); fenced {
			h.t.Fatalf("%s is fenced although it lives", p.UID)
		}
	}
}

// checkKnown looks for pods that are forgotten and have something all the same.
func (h *history) checkKnown() {
	for a, p := range h.c.owners {
		if h.c.pods[p.UID] != p {
			h.t.Fatalf("%v belongs to the forgotten pod %s", a, p.UID)
		}
	}
	for _, in := range h.c.insts {
		if in.pod != nil && h.c.pods[in.pod.UID] != in.pod {
			h.t.Fatalf("%v is bound to the forgotten pod %s", in.key, in.pod.UID)
		}
	}
}

func (h *history) checkInstance(in *instance, view *registry.Instance) {
	uid := ""
	if in.pod != nil {
		uid = in.pod.UID
		h.checkBound(in)
	}
	if view.PodUID != uid {
		h.t.Fatalf("%v is bound to %q here and to %q in the registry", in.key, uid, view.PodUID)
	}
	if want := h.c.inForce(in); view.Verdict != want && view.Verdict.Reason != registry.ReasonHeldExpired {
		h.t.Fatalf("%v has %+v in force, want %+v", in.key, view.Verdict, want)
	}
	stays := in.byAddress || in.pod != nil && (in.pod.gone != nil || len(in.pod.IPs) == 0)
	if p, why := h.c.lateCandidate(h.now, in); in.sharer == nil && p != in.pod && !stays {
		h.t.Fatalf("%v is bound to %q (%s), the state says %s", in.key, uid, in.unbound, why)
	}
	h.checkUsers(in)
}

func (h *history) checkUsers(in *instance) {
	for _, p := range in.users {
		if _, known := p.ids[in]; !known {
			h.t.Fatalf("%v is used by %s, which does not know", in.key, p.UID)
		}
	}
	if in.sharer != nil && (!in.sharer.alive() || len(livingOf(in.users)) < 2) {
		h.t.Fatalf("%v counts as shared; registrant alive: %v, living users: %d", in.key, in.sharer.alive(), len(livingOf(in.users)))
	}
}

func (h *history) checkBound(in *instance) {
	if _, member := in.pod.insts[in]; !member {
		h.t.Fatalf("pod %s does not know %v", in.pod.UID, in.key)
	}
	if again := h.again(in); again != in.decided.Reason {
		h.t.Fatalf("%v was decided %q, the state says %q", in.key, in.decided.Reason, again)
	}
}

// again decides anew without leaving a trace.
func (h *history) again(in *instance) string {
	saved := *in
	due, waiting := h.c.due[in.pod]
	h.c.decide(h.now, in)
	reason := in.decided.Reason
	*in = saved
	delete(h.c.due, in.pod)
	if waiting {
		h.c.due[in.pod] = due
	}
	return reason
}

// end lets everything go and checks that nothing is left behind.
func (h *history) end() {
	for _, p := range h.pods {
		h.c.PodGone(h.now, p.UID)
	}
	for n := range 3 {
		h.c.NodeGone(h.now, h.now, "n"+strconv.Itoa(n))
	}
	for range 1200 {
		h.now = h.now.Add(time.Second)
		h.c.Touch(h.now)
		h.c.Tick(h.now)
	}
	c := h.c
	left := map[string]int{
		"pods": len(c.pods), "names": len(c.names), "claims": len(c.claims), "owners": len(c.owners), "instances": len(c.insts),
		"addresses": len(c.byIP), "noticed": len(c.noticed), "due": len(c.due), "nodes": len(c.nodes), "last": len(c.last),
		"orphans": len(c.orphans), "orphaned": len(c.orphaned),
	}
	for what, n := range left {
		if n != 0 {
			h.t.Fatalf("%d %s left over of %s", n, what, fmt.Sprint(left))
		}
	}
}
