package truth

import (
	"fmt"
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
	probes  dice
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

	view     view
	leases   map[string]int           // by partition, also those that are not listed
	evicted  map[string][]eviction    // by partition
	reached  time.Duration            // when somebody was last asked who answered; -1 never
	kubelets map[*node]probed         // what probes told
	held     map[string]time.Duration // when self-preservation certainly held one last
}

type eviction struct {
	at time.Duration
	of int
}

func (w *world) newOperator() *operator {
	op := &operator{
		w: w, clock: w.clock, dice: newDice(w.plan.seed, "operator"), probes: newDice(w.plan.seed, "probes"), running: true, born: w.now, lag: w.plan.lag,
		leases: map[string]int{}, evicted: map[string][]eviction{}, held: map[string]time.Duration{}, kubelets: map[*node]probed{}, reached: -1, backoff: time.Second, tape: w.tape,
		view: view{
			pods: map[string]seenPod{}, nodes: map[string]*corev1.Node{}, missing: map[string]bool{}, leases: map[string]time.Duration{},
			stale: w.now, anyAt: -time.Hour, written: -time.Hour, fresh: -1,
			renewed: map[string]time.Duration{}, read: map[string]int{}, offers: map[string]*offering{}, names: map[string]string{},
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
	op.cluster = cluster.New(op.reg, cluster.Options{AllNamespaces: true, Probing: w.plan.probing})
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
	for _, p := range op.reg.Partitions() {
		op.leases[p.Name] = p.Leases
	}
	ticked := op.cluster.Tick(op.now())
	w.checkWander(listed)
	for _, e := range ticked.Evicted {
		w.checkEviction(op, e, listed, before)
	}
	op.probe()
	w.check()
	w.checkEverySecond()
}

// changes tells the last things that the cluster caused.
func (op *operator) changes(n int) string {
	var b strings.Builder
	for _, ch := range op.cluster.Changes(n, func(cluster.Change) bool { return true }) {
		fmt.Fprintf(&b, "%s before: %s %s by %s\n", op.now().Sub(ch.At), ch.Key, ch.Effect, ch.Reason)
	}
	return b.String()
}

func (op *operator) register(c *client) registry.Outcome {
	rec := c.rec
	op.tape.register(op.w.now, c)
	known := op.knowsDead(c)
	outcome := op.cluster.Register(op.now(), c.source, &rec)
	if i := op.cluster.Snapshot().Get(c.key); known && i != nil && op.w.speaker(i) == c {
		op.w.wants(c.key, "gone", "of %s is listed, and its pod was seen to die with that id", c.proc.id)
	}
	c.told = op.w.now
	if c.registered < op.born {
		c.gaps = nil
	}
	if outcome == registry.Done {
		c.registered, c.cancelled = op.w.now, false
		c.misplaced = op.misplaces(c)
		c.foreign = c.misplaced || c.foreign && c.foreignTo == op
		c.foreignTo = op
		if op.view.fresh < 0 {
			op.displaces(c)
		}
	} else {
		op.refuses(c)
	}
	return outcome
}

// refuses notes that a request had no effect, and whether it may have had none: then
// its client comes back with the next one.
func (op *operator) refuses(c *client) {
	c.asked = op.w.now
	if why, _ := op.w.reason(c); why != "" {
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
	op.displaces(c)
	return outcome
}

// displaces notes whose record a client may have taken, who come back with their next
// request: one whose address was never shown, or who cannot be told by it, cannot be told
// from anybody of its name.
func (op *operator) displaces(c *client) {
	if seen := op.view.pods[c.uid]; seen.obj != nil && seenRight(seen, c) && c.certain() {
		return
	}
	for _, other := range op.w.clients {
		if other.key == c.key && (other != c || c.cancelled) {
			other.lost = op.w.now
			if other != c {
				other.displaced = op.w.now
			}
		}
	}
}
