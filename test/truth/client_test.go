package truth

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/kureka/kureka/internal/registry"
)

// readTimeout is how long a client waits for an answer. Those that wait for minutes
// are given up by their supervisor after an interval, which then doubles the pause,
// up to ten intervals; those that fail sooner go on as if nothing had happened.
const readTimeout = 8 * time.Second

// client is the Eureka client of a process, with the stock client's timing: a
// heartbeat every interval and a registration upon 404.
type client struct {
	w        *world
	proc     *process
	node     *node // nil outside
	load     *workload
	uid      string // of its pod
	rec      registry.Record
	key      registry.Key
	source   netip.Addr // invalid behind a proxy
	dice     dice
	graceful bool
	delay    time.Duration
	done     bool // it has cancelled, or its process ends

	// What the model remembers of it.
	heard      time.Duration   // when the operator last handled a request of it, -1 never
	gaps       []time.Duration // between those of its heartbeats that the operator handled, the last three
	registered time.Duration   // when its last registration was handled, -1 never
	told       time.Duration   // when the operator last handled a registration of it, whatever the answer; -1 never
	asked      time.Duration   // when it was last answered anything; -1 never
	lost       time.Duration   // when its record last had a reason to be removed; -1 if that is over
	placed     *operator       // which has been shown the pod with the address while it was registered
	displaced  time.Duration   // when somebody else registered its id with an operator that could not tell them apart; -1 never
	cancelled  bool
	outage     time.Duration // since when it has not reached the operator; -1 if it has
	alone      bool          // something else than an outage of everybody kept it away since it was heard
	misplaced  bool          // it registered while the operator could not know whose its address is
	foreign    bool          // it did so once, so its id may be taken for another workload's
	foreignTo  *operator     // by whom
	marked     bool          // it is shown out because it is silent
	doubted    time.Duration // when silence may have taken it out; -1 never
}

func newClient(w *world, proc *process) *client {
	p := proc.pod
	c := &client{
		w: w, proc: proc, node: p.node, load: p.load, uid: p.uid, heard: -1, registered: -1, outage: -1, doubted: -1, told: -1, asked: -1, lost: -1, displaced: -1,
		dice: newDice(w.plan.seed, "client "+proc.id), delay: p.load.interval,
	}
	c.graceful = p.load.graceful
	ip := p.ip
	if p.told.IsValid() {
		ip = p.told
	}
	host := ip.String()
	id := fmt.Sprintf("%s:%d", host, p.load.port)
	if p.load.named {
		host, id = p.name, fmt.Sprintf("%s:%d", p.name, p.load.port)
	}
	if p.load.keptID {
		id = p.keptKey().ID
	}
	if !p.load.proxied {
		c.source = p.ip
	}
	c.introduce(host, id, ip.String())
	c.boot()
	return c
}

// newOutside is a client on a machine outside the cluster.
func newOutside(w *world, load *workload, i int, ip netip.Addr) *client {
	proc := &process{id: fmt.Sprintf("vm%d", i), alive: true}
	c := &client{
		w: w, proc: proc, load: load, heard: -1, registered: -1, outage: -1, doubted: -1, told: -1, asked: -1, lost: -1, displaced: -1,
		dice: newDice(w.plan.seed, proc.id), delay: load.interval, graceful: true,
	}
	if !load.proxied {
		c.source = ip
	}
	c.introduce(fmt.Sprintf("vm%d.example.com", i), fmt.Sprintf("vm%d.example.com:%d", i, load.port), ip.String())
	proc.c = c
	c.boot()
	return c
}

// names reports whether what the client says contains the name of a pod.
func (c *client) names(p *pod) bool { return strings.Contains(c.rec.HostName, p.name) }

func (c *client) introduce(host, id, ip string) {
	c.rec = registry.Record{
		App: c.load.app, ID: id, HostName: host, IPAddr: ip, VIP: c.load.app, Status: registry.Up, Dirty: c.wall().UnixMilli(),
		Port: registry.Port{Number: c.load.port, Enabled: true}, SecurePort: registry.Port{Number: 443},
		RenewalInterval: c.load.interval,
		// For the model only: who says this.
		Metadata: []registry.Pair{{Key: "process", Value: c.proc.id}},
	}
	c.key = c.rec.Key()
	c.w.clients[c.proc.id] = c
}

// wall is the time by the clock of the client's machine.
func (c *client) wall() time.Time {
	if c.node == nil {
		return wall(c.w.now, 0)
	}
	return wall(c.w.now, c.node.clock)
}

// boot registers after the start of the process and then beats for ever.
func (c *client) boot() {
	takes := c.dice.between(time.Second, 6*time.Second)
	if c.load.fast {
		takes /= 10
	}
	c.w.after(takes, func() {
		c.register()
		c.w.after(c.load.interval, c.beat)
	})
	if c.load.refreshes {
		c.w.every(c.dice.between(30*time.Second, 200*time.Second), 150*time.Second, func() bool {
			c.rec.Dirty++
			c.register()
			return c.proc.alive
		})
	}
}

// reachesOp reports whether the network carries its requests to the operator.
func (c *client) reachesOp() bool {
	return c.w.cutClients == 0 && (c.node == nil || c.node.reachesOp())
}

// reach says how a request would fare: it arrives, it is refused, or nothing comes
// back.
func (c *client) reach() (arrives, refused bool) {
	switch {
	case !c.reachesOp():
		return false, false
	case !c.w.op.running:
		return false, !c.w.op.vanished
	}
	return true, false
}

// ask sends a request. One that arrives while the operator is paused is handled
// when it goes on, whether or not anybody still waits for the answer.
func (c *client) ask(handle func() registry.Outcome) (outcome registry.Outcome, answered, timedOut bool) {
	arrives, refused := c.reach()
	if !arrives {
		c.missed()
		return 0, false, !refused
	}
	if op := c.w.op; op.paused() {
		wait := op.resumes - c.w.now
		late := wait > c.waits()
		c.w.after(wait, func() {
			if op != c.w.op || !op.running {
				return
			}
			outcome := handle()
			if c.note(outcome, late); !late {
				c.obey(outcome)
			}
		})
		if late {
			c.missed()
			return 0, false, true
		}
		return registry.Done, true, false
	}
	outcome = handle()
	c.note(outcome, false)
	return outcome, true, false
}

// missed remembers that a request did not get through, and whether everybody's
// would not have.
func (c *client) missed() {
	if c.outage < 0 {
		c.outage = c.w.now
	}
	if c.node != nil && !c.node.reachesOp() {
		c.alone = true
	}
}

// note remembers that a request was handled. One whose answer comes too late tells its
// client nothing.
func (c *client) note(outcome registry.Outcome, late bool) {
	c.outage = -1
	if !late {
		c.asked = c.w.now
	}
	if outcome == registry.Done || outcome == registry.Newer {
		c.heard, c.alone = c.w.now, false
	}
	c.w.check()
}

// noteGap remembers how long the operator has not heard the client before a heartbeat.
func (c *client) noteGap(gap time.Duration) {
	if gap >= c.load.interval/2 {
		c.gaps = append(c.gaps, gap)[max(0, len(c.gaps)-2):]
	}
}

// rhythm is how often the operator hears the client, as far as it can know: one that
// could not reach it twice of late looks like one that is slower than it says.
func (c *client) rhythm() time.Duration {
	if len(c.gaps) < 3 {
		return c.load.interval
	}
	return max(c.load.interval, slices.Sorted(slices.Values(c.gaps))[1])
}

func (c *client) beat() {
	if !c.proc.alive || c.done {
		return
	}
	if c.proc.hangs > 0 {
		c.alone = true
		c.w.after(time.Second, c.beat)
		return
	}
	outcome, answered, timedOut := c.ask(func() registry.Outcome {
		return c.w.op.renew(c)
	})
	switch {
	case timedOut && c.load.waits:
		c.delay = min(2*c.delay, 10*c.load.interval)
		c.w.after(c.load.interval+c.delay, c.beat)
		return
	case answered:
		c.delay = c.load.interval
		c.obey(outcome)
	}
	c.w.after(c.delay+c.dice.between(0, 200*time.Millisecond), c.beat)
}

// obey registers if the answer to a heartbeat asks for that.
func (c *client) obey(outcome registry.Outcome) {
	if outcome == registry.NotFound || outcome == registry.Newer {
		c.w.after(5*time.Millisecond, c.register)
	}
}

// waits is how long the client waits for an answer.
func (c *client) waits() time.Duration {
	if c.load.waits {
		return c.load.interval
	}
	return readTimeout
}

func (c *client) register() {
	if !c.proc.works() || c.done {
		return
	}
	c.ask(func() registry.Outcome { return c.w.op.register(c) })
}

// terminate is SIGTERM: some say goodbye.
func (c *client) terminate(grace time.Duration) {
	c.w.after(c.dice.between(0, min(grace, 2*time.Second)), func() {
		if !c.proc.works() || c.done || !c.graceful {
			return
		}
		c.done = true
		c.ask(func() registry.Outcome { return c.w.op.cancel(c) })
	})
}
