package cluster

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/internal/verdict"
)

// TestScenarios runs the files in testdata: what the watches saw and what clients
// sent goes in, what the registry shows is expected. `#` starts a comment.
//
//	node NAME [version=N ready=True|False|Unknown message= taint=KEY cond=TYPE=STATUS cidr= addr= zone= kubelet=PORT boot=ID noleases doubted quiet]   (whole state each time)
//	nodegone NAME [sent=-5s]     lease NAME [ahead=5s]     canary
//	pod NAME [uid= ns= node= ip= created=N phase= ready containersready gateunmet awaits deleting forced disruption= hostnet owner= containers=name:port[/portname]:id:run|wait|down[:finished[:began]],...]
//	    version=N labels=k:v,... annotations=k:v,... subdomain=; `doubted` expects that answer, `quiet` neither expects one nor, for a node, renews its Lease
//	    options given once stay until given again; `-deleting`, `-ready` take a word back
//	podgone UID       podpresent UID [sent=-5s]     slice NAME uid=UID ip= [terminating]    readable yes|no    nodesreadable yes|no
//	policy NS|* [after=30s action=OutOfService|Ignore mode=Observe]   (the rest as built in; NS keeps what was said of it)
//	offer NAME [ns= app= select=label:value service= port= secure= management= vip= created=N meta=k:v from=label:name health= dns] | unoffer NAME [ns=]
//	service NAME [ns=] [publish] | noservice NAME [ns=]     a slice may have svc=NAME
//	settings [hold=SECONDS podip spread=Merge|Warn|FirstNamespaceOnly observe leases-end notready=OutOfService]   of the cluster; the rest as built in
//	register APP/ID ip= [from= port= portoff secure= secureon host= status= dirty= interval= peer=]  -> OUTCOME
//	renew APP/ID [from= status= dirty=] -> OUTCOME    cancel|clear APP/ID [from=]    override APP/ID STATUS [from=]
//	tick DURATION [beat=APP/ID,...@SECONDS]   (the canary and all node Leases keep arriving unless `cut` was said)
//	at TIME (since the beginning; nothing runs)    step (only Tick)    selfpreservation on|off
//	restart DURATION (nothing runs, and another process goes on from a checkpoint; afterwards pods are not readable)
//	list [UID...] [lacks=UID,...]   (the complete list of pods; those it lacks are to be confirmed)
//	cut | heal    dark NODE | light NODE (its Lease stops, goes on)    pause DURATION (nothing runs)
//	replay (what nodes renewed while `cut`, all at once)    clock NODE|operator DURATION (that clock is set)
//	prober on    reach ADDR|ADDR:PORT|all answers|refuses|silent|unsure [local=]   (what is not named is silent; silence takes 2 s)
//	expect APP/ID STATUS|gone [because REASON]    expect APP/ID bound UID|unbound REASON    expect changes N
//	expect APP/ID confirmed heartbeat|prober|by-nobody    expect APP/ID waits CHECK WORDS...    expect probes none|ADDR:PORT,...
//	awaiting none|POD,POD:APP/ID,...   (pods that await their registration, by name, and which instance is UP)
//	show APP/ID host=H port=N ...   (also ip= secure= vip= svip= meta=k:v home= statuspage= health= leases=N)
//	state NAME matched=N registered=N [problem=REASON]    fault POD TEXT
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenario files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := newScenario()
			n := 0
			for line := range strings.Lines(string(text)) {
				n++
				line, _, _ = strings.Cut(line, "#")
				if line = strings.TrimSpace(line); line == "" {
					continue
				}
				if err := s.run(line); err != nil {
					t.Fatalf("%s:%d: %s\n\t%v", file, n, line, err)
				}
			}
		})
	}
}

type scenario struct {
	c     *Cluster
	reg   *registry.Engine
	now   time.Time
	pods  map[string]*evidence.Pod
	cut   bool
	dark  map[string]bool // nodes whose Lease stopped
	count int

	missed   []renewal                // written while the watch was cut
	clocks   map[string]time.Duration // how far those of nodes, and the operator's, were set
	leases   map[string]bool          // nodes that have none: false
	policies map[string]verdict.Policy
	offers   map[string]Offer // by namespace/name

	reach   map[string]evidence.Probed // by address
	probed  map[netip.AddrPort]bool    // everything that was asked
	pending []answer
}

type renewal struct {
	node string
	at   time.Time
}

type answer struct {
	at time.Time
	evidence.Probed
}

var scenarioBegin = time.Unix(1_700_000_000, 0)

func newScenario() *scenario {
	s := &scenario{
		now: scenarioBegin, pods: map[string]*evidence.Pod{}, dark: map[string]bool{},
		clocks: map[string]time.Duration{}, leases: map[string]bool{}, policies: map[string]verdict.Policy{},
		reach: map[string]evidence.Probed{}, probed: map[netip.AddrPort]bool{}, offers: map[string]Offer{},
	}
	s.reg = registry.New(s.now, registry.Options{})
	s.c = New(s.reg, Options{AllNamespaces: true, Observer: func(Change) time.Duration { s.count++; return 0 }})
	s.c.SetPodsReadable(s.now, true)
	s.c.SetNodesReadable(true)
	return s
}

type args struct {
	words []string
	opts  map[string]string
}

func parseArgs(fields []string) args {
	a := args{opts: map[string]string{}}
	for _, f := range fields {
		if k, v, ok := strings.Cut(f, "="); ok {
			a.opts[k] = v
		} else {
			a.words = append(a.words, f)
		}
	}
	return a
}

func (a args) has(word string) bool { return slices.Contains(a.words[1:], word) }

func (a args) key() registry.Key {
	app, id, _ := strings.Cut(a.words[0], "/")
	return registry.NewKey(app, id)
}

func (a args) from() netip.Addr {
	addr, _ := netip.ParseAddr(a.opts["from"])
	return addr
}

// ago is when the live read behind a word was sent, relative to now.
func (a args) ago() time.Duration {
	d, _ := time.ParseDuration(a.opts["sent"])
	return d
}

func (a args) num(key string, fallback int) int {
	if n, err := strconv.Atoi(a.opts[key]); err == nil {
		return n
	}
	return fallback
}

func (s *scenario) run(line string) error {
	line, want, checked := strings.Cut(line, "->")
	fields := strings.Fields(line)
	a := parseArgs(fields[1:])
	if watch := s.watches()[fields[0]]; watch != nil {
		return watch(a)
	}
	got, err := s.request(fields[0], a)
	if name := outcomeNames[got]; err == nil && checked && name != strings.TrimSpace(want) {
		return fmt.Errorf("got %s, want %s", name, strings.TrimSpace(want))
	}
	return err
}

var outcomeNames = map[registry.Outcome]string{
	registry.Done: "done", registry.NotFound: "notfound", registry.Newer: "newer", registry.Fenced: "fenced",
	registry.Stale: "stale",
}

func (s *scenario) request(cmd string, a args) (registry.Outcome, error) {
	switch cmd {
	case "register":
		key := a.key()
		return s.c.Register(s.now, a.from(), &registry.Record{
			App: key.App, ID: key.ID, HostName: a.opts["host"], IPAddr: a.opts["ip"],
			HomePageURL: a.opts["home"],
			Port:        registry.Port{Number: a.num("port", 8080), Enabled: !a.has("portoff")},
			SecurePort:  registry.Port{Number: a.num("secure", 443), Enabled: a.has("secureon")},
			Status:      registry.ParseStatus(a.opts["status"]), Dirty: int64(a.num("dirty", 0)),
			RenewalInterval: time.Duration(a.num("interval", 30)) * time.Second, From: a.opts["peer"],
		}), nil
	case "renew":
		return s.c.Renew(s.now, a.from(), a.key(), registry.Beat{
			Status: registry.ParseStatus(a.opts["status"]), Dirty: int64(a.num("dirty", 0)), HasDirty: a.opts["dirty"] != "",
		}), nil
	case "cancel":
		return s.c.Cancel(s.now, a.from(), a.key()), nil
	case "override":
		return s.c.SetOverride(s.now, a.from(), a.key(), registry.ParseStatus(a.words[1])), nil
	case "clear":
		return s.c.ClearOverride(s.now, a.from(), a.key()), nil
	}
	return 0, fmt.Errorf("unknown command %q", cmd)
}

func (s *scenario) watches() map[string]func(args) error {
	return map[string]func(args) error{
		"offer": s.offer, "unoffer": s.unoffer, "settings": s.settings, "show": s.show, "state": s.state, "fault": s.fault, "awaiting": s.awaiting, "ending": s.ending, "counts": s.counts,
		"service":   func(a args) error { s.c.ObserveService(s.now, a.ns(), a.words[0], a.has("publish")); return nil },
		"noservice": func(a args) error { s.c.ServiceGone(s.now, a.ns(), a.words[0]); return nil },
		"node":      s.node, "pod": s.pod, "slice": s.slice, "tick": s.tick, "expect": s.expect,
		"nodegone": func(a args) error { s.c.NodeGone(s.now, s.now.Add(a.ago()), a.words[0]); return nil },
		"podpresent": func(a args) error {
			s.c.PodPresent(s.now, s.now.Add(a.ago()), *s.pods[a.words[0]])
			return nil
		},
		"podgone":  func(a args) error { s.c.PodGone(s.now, a.words[0]); return nil },
		"canary":   func(a args) error { s.c.ObserveCanary(s.now, s.now.Add(a.ago())); return nil },
		"readable": func(a args) error { s.c.SetPodsReadable(s.now, a.words[0] == "yes"); return nil },
		"cut":      func(args) error { s.cut = true; return nil },
		"heal":     func(args) error { s.cut = false; return nil },
		"dark":     func(a args) error { s.dark[a.words[0]] = true; return nil },
		"light":    func(a args) error { delete(s.dark, a.words[0]); return nil },
		"pause":    s.pause,
		"restart":  s.restart,
		"list":     s.list,
		"at": func(a args) error {
			d, err := time.ParseDuration(a.words[0])
			s.now = scenarioBegin.Add(d)
			return err
		},
		"step": func(args) error { s.c.Tick(s.now); return nil },
		"selfpreservation": func(a args) error {
			p := verdict.DefaultPolicy()
			p.SelfPreservation = a.words[0] == "on"
			s.c.SetPolicies(s.now, p, nil)
			return nil
		},
		"forget":        func(args) error { s.count = 0; return nil },
		"nodesreadable": func(a args) error { s.c.SetNodesReadable(a.words[0] == "yes"); return nil },
		"prober":        func(a args) error { s.c.opts.Probing = a.words[0] == "on"; return nil },
		"reach":         s.setReach,
		"policy":        s.setPolicy,
		"clock": func(a args) error {
			d, err := time.ParseDuration(a.words[1])
			s.clocks[a.words[0]] += d
			return err
		},
		"replay": func(args) error {
			for _, r := range s.missed {
				s.c.ObserveLease(s.now, r.node, r.at, 40*time.Second)
			}
			s.missed = nil
			return nil
		},
		"lease": func(a args) error {
			ahead, _ := time.ParseDuration(a.opts["ahead"])
			s.c.ObserveLease(s.now, a.words[0], s.now.Add(ahead), 40*time.Second)
			return nil
		},
	}
}

func (s *scenario) node(a args) error {
	n := evidence.Node{Name: a.words[0]}
	ready := a.opts["ready"]
	if ready == "" {
		ready = evidence.True
	}
	n.Conditions = []evidence.Condition{{Type: "Ready", Status: ready, Message: strings.ReplaceAll(a.opts["message"], "_", " ")}}
	if kind, status, ok := strings.Cut(a.opts["cond"], ":"); ok {
		status, reason, _ := strings.Cut(status, ":")
		n.Conditions = append(n.Conditions, evidence.Condition{Type: kind, Status: status, Reason: reason})
	}
	for key := range strings.SplitSeq(a.opts["taint"], ",") {
		if key != "" {
			n.Taints = append(n.Taints, evidence.Taint{Key: key, Effect: "NoSchedule"})
		}
	}
	if cidr := a.opts["cidr"]; cidr != "" {
		n.PodCIDRs = []netip.Prefix{netip.MustParsePrefix(cidr)}
	}
	n.Zone = a.opts["zone"]
	if addr := a.opts["addr"]; addr != "" {
		n.Addresses = []netip.Addr{netip.MustParseAddr(addr)}
	}
	n.KubeletPort, n.BootID = uint16(a.num("kubelet", 0)), a.opts["boot"]
	n.Version = uint64(a.num("version", 0))
	doubted := s.c.ObserveNode(s.now, n)
	s.leases[n.Name] = !a.has("noleases")
	if a.has("quiet") {
		return nil
	}
	if doubted != a.has("doubted") {
		return fmt.Errorf("doubted: %v", doubted)
	}
	if !doubted && s.leases[n.Name] && !s.dark[n.Name] {
		s.renewLease(n.Name)
	}
	return nil
}

// renewLease has a node's Lease arrive as its kubelet writes it now, by the node's
// clock, and as it compares with ours.
func (s *scenario) renewLease(node string) {
	s.c.ObserveLease(s.now, node, s.now.Add(s.clocks[node]-s.clocks["operator"]), 40*time.Second)
}

var reaches = map[string]evidence.Reach{
	"answers": evidence.Answered, "refuses": evidence.Refused, "silent": evidence.Unanswered, "unsure": evidence.Unsure,
}

func (s *scenario) setReach(a args) error {
	r, ok := reaches[a.words[1]]
	if !ok {
		return fmt.Errorf("unknown outcome %q", a.words[1])
	}
	local, _ := netip.ParseAddr(a.opts["local"])
	s.reach[a.words[0]] = evidence.Probed{Reach: r, Local: local}
	return nil
}

// probe answers what the cluster asks: silence takes two seconds, all else none.
func (s *scenario) probe() {
	for _, a := range s.pending {
		if !s.now.Before(a.at) {
			s.c.Probed(s.now, a.Probed)
		}
	}
	s.pending = slices.DeleteFunc(s.pending, func(a answer) bool { return !s.now.Before(a.at) })
	for _, p := range s.c.Probes(s.now) {
		s.probed[p.Addr] = true
		r := evidence.Probed{Reach: evidence.Unanswered}
		for _, name := range []string{"all", p.Addr.Addr().String(), p.Addr.String()} {
			if known, ok := s.reach[name]; ok {
				r = known
			}
		}
		r.Probe = p
		if r.Reach == evidence.Unanswered {
			s.pending = append(s.pending, answer{s.now.Add(2 * time.Second), r})
			continue
		}
		s.c.Probed(s.now, r)
	}
}

func (s *scenario) setPolicy(a args) error {
	p := verdict.DefaultPolicy()
	if d, err := time.ParseDuration(a.opts["after"]); err == nil {
		p.UnreachableAfter = d
	}
	if action := a.opts["action"]; action != "" {
		p.Unreachable = verdict.Action(action)
	}
	p.Observe = a.opts["mode"] == "Observe"
	s.policies[a.words[0]] = p
	fallback, ok := s.policies["*"]
	if !ok {
		fallback = verdict.DefaultPolicy()
	}
	own := maps.Clone(s.policies)
	delete(own, "*")
	s.c.SetPolicies(s.now, fallback, own)
	return nil
}

func (s *scenario) pod(a args) error {
	uid := a.opts["uid"]
	if uid == "" {
		uid = a.words[0]
	}
	p := s.pods[uid]
	if p == nil {
		p = &evidence.Pod{UID: uid, Namespace: a.ns(), Name: a.words[0], Phase: evidence.Running, Created: s.now}
		s.pods[uid] = p
	}
	next := *p
	for k, v := range a.opts {
		if err := setPod(&next, k, v); err != nil {
			return err
		}
	}
	flags := map[string]*bool{
		"ready": &next.Ready, "containersready": &next.ContainersReady,
		"gateunmet": &next.GateUnmet, "awaits": &next.AwaitsRegistration, "deleting": &next.Deleting, "forced": &next.Forced, "hostnet": &next.HostNetwork,
	}
	for _, w := range a.words[1:] {
		if flag := flags[strings.TrimPrefix(w, "-")]; flag != nil {
			*flag = !strings.HasPrefix(w, "-")
		}
	}
	if !a.has("doubted") {
		*p = next
	}
	if s.c.ObservePod(s.now, next) != a.has("doubted") && !a.has("quiet") {
		return fmt.Errorf("doubted: %v", !a.has("doubted"))
	}
	return nil
}

func setPod(p *evidence.Pod, k, v string) error {
	switch k {
	case "node":
		p.Node = v
	case "ns":
		p.Namespace = v
	case "owner":
		p.Owner = v
	case "version":
		n, err := strconv.ParseUint(v, 10, 64)
		p.Version = n
		return err
	case "phase":
		p.Phase = evidence.Phase(v)
	case "disruption":
		p.Disruption = strings.TrimSuffix(v, "none")
	case "created":
		n, err := strconv.Atoi(v)
		p.Created = time.Unix(1_700_000_000+int64(n), 0)
		return err
	case "ip":
		p.IPs = nil
		if v != "" {
			for ip := range strings.SplitSeq(v, "+") {
				p.IPs = append(p.IPs, netip.MustParseAddr(ip))
			}
		}
	case "containers":
		return setContainers(p, v)
	default:
		return setEnding(p, k, v)
	}
	return nil
}

func setContainers(p *evidence.Pod, v string) error {
	p.Containers = nil
	for spec := range strings.SplitSeq(v, ",") {
		f := strings.Split(spec, ":")
		number, name, _ := strings.Cut(f[1], "/")
		port, err := strconv.Atoi(number)
		if err != nil {
			return err
		}
		c := evidence.Container{Name: f[0], Ports: []uint16{uint16(port)}, ID: f[2], Running: f[3] == "run"}
		if name != "" {
			c.PortNames = []string{name}
		}
		if c.Finished, c.Started, err = lifetime(f[4:]); err != nil {
			return err
		}
		c.Ended = f[3] == "down" || !c.Finished.IsZero()
		p.Containers = append(p.Containers, c)
	}
	return nil
}

func (s *scenario) slice(a args) error {
	if svc := a.opts["svc"]; svc != "" {
		var list []Endpoint
		for uid := range strings.SplitSeq(a.opts["uid"], "+") {
			if uid != "" {
				list = append(list, Endpoint{Service: svc, UID: uid})
			}
		}
		s.c.ObserveSlice(s.now, a.ns()+"/"+a.words[0], list)
		return nil
	}
	s.c.ObserveSlice(s.now, a.words[0], []Endpoint{{
		UID: a.opts["uid"], IPs: []netip.Addr{netip.MustParseAddr(a.opts["ip"])}, Terminating: a.has("terminating"),
	}})
	return nil
}

func (s *scenario) tick(a args) error {
	d, err := time.ParseDuration(a.words[0])
	if err != nil {
		return err
	}
	names, every, _ := strings.Cut(a.opts["beat"], "@")
	period, _ := strconv.Atoi(every)
	for i := 1; i <= int(d/time.Second); i++ {
		s.now = s.now.Add(time.Second)
		s.renewLeases(i)
		s.c.Touch(s.now)
		if period > 0 && i%period == 0 {
			for name := range strings.SplitSeq(names, ",") {
				app, id, _ := strings.Cut(name, "/")
				s.c.Renew(s.now, netip.Addr{}, registry.NewKey(app, id), registry.Beat{})
			}
		}
		s.c.Tick(s.now)
		s.probe()
	}
	return nil
}

// renewLeases plays a second of the kubelets and of the canary.
func (s *scenario) renewLeases(second int) {
	if !s.cut {
		s.c.ObserveCanary(s.now, s.now)
	}
	for _, n := range s.c.KnownNodes() {
		switch {
		case s.dark[n] || !s.leases[n]:
		case !s.cut:
			s.renewLease(n)
		case second%10 == 0:
			s.missed = append(s.missed, renewal{n, s.now.Add(s.clocks[n] - s.clocks["operator"])})
		}
	}
}

func (s *scenario) expect(a args) error {
	if a.words[0] == "changes" {
		if got := strconv.Itoa(s.count); got != a.words[1] {
			return fmt.Errorf("%s changes", got)
		}
		return nil
	}
	if a.words[0] == "probes" {
		return s.expectProbes(a.words[1])
	}
	if a.words[1] == "waits" {
		return s.expectWaits(a)
	}
	got := s.shown(a.key())
	if a.words[1] == "confirmed" {
		got = []string{"confirmed", "by-nobody"}
		if in := s.c.insts[a.key()]; in != nil && in.decided.Confirmed != "" {
			got[1] = in.decided.Confirmed
		}
	}
	if word := a.words[1]; word == "bound" || word == "unbound" {
		got = s.binding(a.key())
	}
	if !slices.Equal(got, a.words[1:]) {
		return fmt.Errorf("is %s", strings.Join(got, " "))
	}
	return nil
}

// expectProbes compares everything that was asked since the last time.
func (s *scenario) expectProbes(want string) error {
	asked := make([]string, 0, len(s.probed))
	for a := range s.probed {
		asked = append(asked, a.String())
	}
	clear(s.probed)
	slices.Sort(asked)
	got := strings.Join(asked, ",")
	if got == "" {
		got = "none"
	}
	if got != want {
		return fmt.Errorf("asked %s", got)
	}
	return nil
}

func (s *scenario) expectWaits(a args) error {
	e, ok := s.c.Explain(s.now, a.key())
	if !ok {
		return errors.New("unknown")
	}
	for _, answer := range e.Checks {
		if answer.Check == a.words[2] && !strings.Contains(answer.Waits, strings.Join(a.words[3:], " ")) {
			return fmt.Errorf("waits: %q", answer.Waits)
		}
	}
	return nil
}

func (s *scenario) shown(key registry.Key) []string {
	view := s.c.Snapshot().Get(key)
	switch {
	case view == nil:
		return []string{"gone"}
	case view.Verdict.Reason != "":
		return []string{view.Status.String(), "because", view.Verdict.Reason}
	}
	return []string{view.Status.String()}
}

func (s *scenario) binding(key registry.Key) []string {
	in := s.c.insts[key]
	switch {
	case in == nil:
		return []string{"unknown"}
	case in.pod != nil:
		return []string{"bound", in.pod.UID}
	}
	return []string{"unbound", in.unbound}
}
