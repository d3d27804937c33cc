package truth

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kureka/kureka/controllers/feed"
	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/gate"
	"github.com/kureka/kureka/internal/registry"
)

// operator is one process of the product: the real feed, cluster, registry and
// gate, with its clock, its link and its watches.
type operator struct {
	w       *world
	clock   clock
	dice    dice
	reg     *registry.Engine
	cluster *cluster.Cluster
	feed    *feed.Feed
	gate    *gate.Gate
	tape    *tape

	running    bool
	vanished   bool          // while it does not run, nobody even refuses
	resumes    time.Duration // paused until then
	stepped    time.Duration // of the wall clock
	lag        time.Duration // of the watches
	late       int           // faults that delay them
	born       time.Duration
	connected  bool // the watches are open
	since      time.Duration
	confirming bool
	backoff    time.Duration

	view    view
	evicted map[string][]eviction    // by partition
	held    map[string]time.Duration // when self-preservation certainly held one last
}

// view is what has been delivered to the operator: the objects as it saw them
// last. The model compares with it what the operator may believe.
type view struct {
	next    struct{ pods, nodes, leases, canary int } // writes that have been delivered
	listed  bool
	pods    map[string]seenPod // by UID
	nodes   map[string]*corev1.Node
	missing map[string]bool          // nodes that a live read did not find
	leases  map[string]time.Duration // when the Lease of a node was delivered last
	anyAt   time.Duration            // when any was
	written time.Duration            // when the canary that was delivered last had been written
	stale   time.Duration            // since when they are not
	fresh   time.Duration            // since when the watches are in time; -1 while they are not
}

type seenPod struct {
	obj      *corev1.Pod
	first    time.Duration // when it was delivered first
	shown    time.Duration // since when its address is
	off      time.Duration // how far the operator's clock was off then
	at       time.Duration // when the container last changed
	lived    bool          // it was not shown as ended only
	awaited  bool          // it was seen to end with a grace period
	gone     bool
	goneAt   time.Duration
	nodeLost bool // when it went, its node was seen missing or Unknown
}

type eviction struct {
	at time.Duration
	of int
}

func (w *world) newOperator() *operator {
	op := &operator{
		w: w, clock: w.clock, dice: newDice(w.plan.seed, "operator"), running: true, born: w.now, lag: w.plan.lag,
		evicted: map[string][]eviction{}, held: map[string]time.Duration{}, backoff: time.Second, tape: w.tape,
		view: view{
			pods: map[string]seenPod{}, nodes: map[string]*corev1.Node{}, missing: map[string]bool{}, leases: map[string]time.Duration{},
			stale: w.now, anyAt: -time.Hour, written: -time.Hour, fresh: -1,
		},
	}
	return op
}

// start begins a process that knows nothing.
func (op *operator) start(stepped time.Duration) {
	w := op.w
	op.stepped = stepped
	now := op.now()
	numbers := registry.DefaultPolicy()
	numbers.SelfPreservation = !w.plan.unprotected
	op.reg = registry.New(now, registry.Options{Policy: numbers})
	op.cluster = cluster.New(op.reg, cluster.Options{AllNamespaces: true})
	op.tape.begin(op)
	op.feed = feed.New(recorded{op.cluster, op}, op.now)
	op.gate = gate.New(now, -1)
	w.every(time.Second, time.Second, func() bool { return op.unlessPaused(op.tick) })
	w.every(200*time.Millisecond, 5*time.Second, func() bool { return op.unlessPaused(op.renewCanary) })
	w.every(500*time.Millisecond, time.Second, func() bool {
		if op.running && !op.connected && !op.paused() && op.reachesAPI() {
			op.connect(max(w.plan.relistAge, w.listAge))
		}
		return op.running
	})
	op.learnAbsence()
}

func (op *operator) now() time.Time   { return op.clock.read(op.w.now, op.stepped) }
func (op *operator) paused() bool     { return op.w.now < op.resumes }
func (op *operator) reachesAPI() bool { return op.running && op.w.api.up() && op.w.cutWatch == 0 }

// unlessPaused does something if the process runs at all, and reports whether it is
// to be done again.
func (op *operator) unlessPaused(do func()) bool {
	if op.running && !op.paused() {
		do()
	}
	return op.running
}

// settled reports whether the watches have been in time for long.
func (op *operator) settled() bool {
	return op.view.fresh >= 0 && op.w.now-op.view.fresh > 20*time.Second && op.lag < time.Second
}

// steady is since when the operator has been able to learn everything.
func (op *operator) steady() time.Duration {
	if !op.connected || !op.reachesAPI() || op.paused() {
		return op.w.now
	}
	return max(op.since, op.resumes)
}

func (op *operator) learnAbsence() {
	if !op.running {
		return
	}
	if !op.reachesAPI() || op.paused() {
		op.w.after(2*time.Second, op.learnAbsence)
		return
	}
	var age time.Duration
	if o := op.w.api.canary.live["kureka-system/kureka"]; o != nil {
		age = max(0, op.gate.Opened().Sub(o.Spec.RenewTime.Time))
	}
	op.gate.Away(age, op.w.listsFrom)
	op.w.listsFrom = op.gate.ListsFrom().Round(0)
}

func (op *operator) renewCanary() {
	if !op.reachesAPI() {
		return
	}
	renewed := metav1.NewMicroTime(op.now().Round(0))
	op.w.api.canary.write(op.w.now, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kureka-system", Name: "kureka"},
		Spec:       coordinationv1.LeaseSpec{RenewTime: &renewed},
	}, false)
	op.expect()
}

func (op *operator) tick() {
	op.tape.step(op)
	w := op.w
	op.measure()
	w.suspect()
	before, listed := op.silentNow(), op.cluster.Snapshot()
	w.noteHolds(op, before)
	ticked := op.cluster.Tick(op.now())
	w.checkWander(listed)
	for _, e := range ticked.Evicted {
		w.checkEviction(op, e, before)
	}
	w.check()
	w.checkEverySecond()
}

// measure follows by the model's own eyes whether the watches deliver in time.
func (op *operator) measure() {
	v := &op.view
	inTime := v.listed && op.w.now-v.written <= cluster.FreshFor && op.w.now-v.anyAt <= cluster.FreshFor
	switch {
	case !inTime:
		if v.fresh >= 0 {
			v.stale = op.w.now
		}
		v.fresh = -1
	case v.fresh < 0:
		v.fresh = op.w.now
	}
}

// expect has what was written delivered when its time has come.
func (op *operator) expect() {
	if op == nil || !op.running {
		return
	}
	op.w.after(op.lag, op.deliver)
}

// deliver hands on what the watches have brought.
func (op *operator) deliver() {
	if !op.running || !op.connected {
		return
	}
	if op.paused() {
		op.w.after(op.resumes-op.w.now, op.deliver)
		return
	}
	if !op.reachesAPI() {
		return
	}
	a, v, upTo := &op.w.api, &op.view, op.w.now-op.lag
	for n := a.nodes.upTo(upTo); v.next.nodes < n; v.next.nodes++ {
		op.deliverNode(a.nodes.history[v.next.nodes])
	}
	for n := a.pods.upTo(upTo); v.next.pods < n; v.next.pods++ {
		op.deliverPod(a.pods.history[v.next.pods])
	}
	for n := a.leases.upTo(upTo); v.next.leases < n; v.next.leases++ {
		l := a.leases.history[v.next.leases].obj
		if _, known := v.nodes[l.Name]; known {
			v.leases[l.Name] = op.w.now
		}
		v.anyAt = op.w.now
		op.feed.LeaseSeen(l)
	}
	for n := a.canary.upTo(upTo); v.next.canary < n; v.next.canary++ {
		v.written = a.canary.history[v.next.canary].at
		op.feed.CanarySeen(a.canary.history[v.next.canary].obj)
	}
	op.doubts()
}

func (op *operator) deliverNode(change written[*corev1.Node]) {
	if change.gone {
		op.feed.NodeGone(change.obj)
		return
	}
	op.noteReasons(change.obj.Name) // one that ends now counted until now
	op.seeNode(change.obj)
	op.noteReasons(change.obj.Name)
	op.feed.NodeSeen(change.obj)
	op.w.check()
}

// noteReasons notes what may remove the records of a node's clients, if only for a
// moment.
func (op *operator) noteReasons(node string) {
	for _, c := range op.w.clients {
		if c.node != nil && c.node.name == node {
			op.w.excuse(c)
		}
	}
}

func (op *operator) deliverPod(change written[*corev1.Pod]) {
	if change.gone {
		op.loses(string(change.obj.UID))
		op.feed.PodGone(change.obj)
		op.w.checkGone(op, string(change.obj.UID))
	} else {
		op.seePod(change.obj)
		op.feed.PodSeen(change.obj)
	}
	op.w.check()
}

func (op *operator) seeNode(o *corev1.Node) {
	op.tape.node(op.w.now, o)
	if old := op.view.nodes[o.Name]; old != nil && past(o, old) {
		return // a list from the past tells nothing new
	}
	op.view.nodes[o.Name] = o
	delete(op.view.missing, o.Name)
}

func (op *operator) seePod(o *corev1.Pod) {
	op.tape.pod(op.w.now, o)
	old, known := op.view.pods[string(o.UID)]
	if old.gone || known && past(o, old.obj) {
		return
	}
	next := old
	next.obj, next.lived = o, old.lived || !ended(o)
	next.awaited = old.awaited || o.DeletionTimestamp != nil && *o.DeletionGracePeriodSeconds > 0
	if !known {
		next.first = op.w.now
	}
	if !known || old.obj.Status.PodIP != o.Status.PodIP {
		next.shown, next.off = op.w.now, op.stepped
	}
	if known && container(old.obj) != container(o) {
		next.at = op.w.now
	}
	op.view.pods[string(o.UID)] = next
}

// past reports whether an object is older than another state of it.
func past(o, than metav1.Object) bool {
	v, _ := strconv.Atoi(o.GetResourceVersion())
	newer, _ := strconv.Atoi(than.GetResourceVersion())
	return v < newer
}

// changes tells the last things that the cluster caused.
func (op *operator) changes(n int) string {
	var b strings.Builder
	for _, ch := range op.cluster.Changes(n, func(cluster.Change) bool { return true }) {
		fmt.Fprintf(&b, "%s before: %s %s by %s\n", op.now().Sub(ch.At), ch.Key, ch.Effect, ch.Reason)
	}
	return b.String()
}

// container is the pod's container and whether it runs.
func container(o *corev1.Pod) string {
	if len(o.Status.ContainerStatuses) == 0 {
		return ""
	}
	s := o.Status.ContainerStatuses[0]
	if s.State.Running == nil {
		return s.ContainerID + " down"
	}
	return s.ContainerID
}

// loses remembers that a pod was found gone.
func (op *operator) loses(uid string) {
	p, known := op.view.pods[uid]
	if !known || p.gone {
		return
	}
	n := op.view.nodes[p.obj.Spec.NodeName]
	p.gone, p.goneAt = true, op.w.now
	p.nodeLost = op.view.missing[p.obj.Spec.NodeName] || n != nil && readiness(n).Status == corev1.ConditionUnknown
	op.view.pods[uid] = p
}

// connect opens the watches: where they were, or with a list that may be from the
// past.
func (op *operator) connect(age time.Duration) {
	a, v := &op.w.api, &op.view
	op.connected, op.since = true, op.w.now
	if v.listed && !op.w.expired {
		op.deliver()
		return
	}
	op.w.expired, op.w.listAge = false, 0
	at := op.w.now - age
	v.next.nodes, v.next.pods = a.nodes.upTo(at), a.pods.upTo(at)
	v.next.leases, v.next.canary = a.leases.upTo(at), a.canary.upTo(at)
	nodes, pods := a.nodes.list(v.next.nodes), a.pods.list(v.next.pods)
	for _, n := range nodes {
		op.seeNode(n)
	}
	op.feed.NodesListed(nodes)
	for _, p := range pods {
		op.seePod(p)
		op.feed.PodListed(p.DeepCopy())
	}
	op.feed.PodListComplete("", pods)
	v.listed = true
	op.tape.line(op.w.now, "readable yes")
	op.cluster.SetPodsReadable(op.now(), true)
	op.cluster.SetNodesReadable(true)
	op.doubts()
	op.w.check()
	op.deliver()
}

// doubts has what is doubted read live.
func (op *operator) doubts() {
	select {
	case <-op.feed.Doubted():
		op.w.after(10*time.Millisecond, op.confirm)
	default:
	}
}

func (op *operator) confirm() {
	if !op.running {
		return
	}
	if op.confirming || op.paused() {
		op.w.after(time.Second, op.confirm)
		return
	}
	op.confirming = true
	err := op.feed.Confirm(context.Background(), live{op})
	op.confirming = false
	if err == nil {
		op.backoff = time.Second
		op.doubts()
		return
	}
	op.w.after(op.backoff, op.confirm)
	op.backoff = min(2*op.backoff, 5*time.Second)
}

func (op *operator) register(c *client) registry.Outcome {
	rec := c.rec
	op.tape.register(op.w.now, c)
	outcome := op.cluster.Register(op.now(), c.source, &rec)
	c.told = op.w.now
	if c.registered < op.born {
		c.gaps = nil
	}
	if outcome == registry.Done {
		c.registered, c.cancelled = op.w.now, false
		c.misplaced = op.misplaces(c)
	} else {
		op.refuses(c)
	}
	return outcome
}

// refuses notes that a request had no effect, and whether it may have had none: then
// its client comes back with the next one.
func (op *operator) refuses(c *client) {
	c.asked = op.w.now
	if op.w.excuse(c) != "" {
		c.lost = op.w.now
	}
}

func (op *operator) renew(c *client) registry.Outcome {
	op.tape.renew(op.w.now, c)
	beat := registry.Beat{Status: registry.Up}
	if !c.load.timeless {
		beat.Dirty, beat.HasDirty = c.rec.Dirty, true
	}
	outcome := op.cluster.Renew(op.now(), c.source, c.key, beat)
	if outcome == registry.Fenced {
		op.refuses(c)
	}
	if outcome == registry.Done || outcome == registry.Newer {
		c.noteGap(op.w.now - c.heard)
	}
	return outcome
}

func (op *operator) cancel(c *client) registry.Outcome {
	op.tape.cancel(op.w.now, c)
	c.cancelled = true
	outcome := op.cluster.Cancel(op.now(), c.source, c.key)
	if seen := op.view.pods[c.uid]; seen.obj == nil || !seenRight(seen, c) {
		for _, other := range op.w.clients {
			if other.key == c.key { // whose address was never shown cannot be told from anybody
				other.lost = op.w.now
			}
		}
	}
	return outcome
}

// misplaces reports whether the operator must take the client's address for
// somebody else's, by what it has been shown.
func (op *operator) misplaces(c *client) bool {
	own := op.view.pods[c.uid]
	shown := !own.gone && own.obj != nil && seenRight(own, c)
	for uid, p := range op.view.pods {
		if p.gone || uid == c.uid || ended(p.obj) || p.obj.Status.PodIP != c.rec.IPAddr || p.obj.Spec.HostNetwork && !declares(p.obj, c.load.port) {
			continue
		}
		if !shown || outlasts(p.obj, own.obj) {
			return true
		}
	}
	return false
}

// hasSeenDie reports whether a pod with an address was shown while it lived and is
// over: what comes from there may be its process still.
func (op *operator) hasSeenDie(ip string) bool {
	for _, p := range op.view.pods {
		if p.lived && (p.gone || ended(p.obj)) && p.obj.Status.PodIP == ip {
			return true
		}
	}
	return false
}

// outlasts reports whether of two pods with one address the first must be believed to
// have it: nobody gives an address away that is in use, so it is the one whose end has
// not begun, and the younger one if that is so of both or neither. Creation is told in
// whole seconds.
func outlasts(o, other *corev1.Pod) bool {
	if ending := o.DeletionTimestamp != nil; ending != (other.DeletionTimestamp != nil) {
		return !ending
	}
	return !o.CreationTimestamp.Time.Before(other.CreationTimestamp.Time)
}

func declares(o *corev1.Pod, port int) bool {
	for _, p := range o.Spec.Containers[0].Ports {
		if int(p.ContainerPort) == port {
			return true
		}
	}
	return false
}
