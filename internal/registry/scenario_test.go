package registry

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestScenarios runs the files in testdata. A file is a list of commands, one a
// line; `#` starts a comment. Time stands still but for tick and pause.
//
//	policy NS key=value...          threshold, maxhold, readygrace, maxeviction, duration, interval, maxinterval, floor, selfpreservation=off
//	register APP/ID [status= dirty= interval= duration= ns= pod= node= ready ip= port= from= frompod= peer= unlisted vip=]
//	keep APP/ID [the same]          for a pod without a client
//	renew APP/ID [status= dirty= from= frompod=]
//	cancel|clear APP/ID [from= frompod=]      override APP/ID STATUS [from= frompod=]
//	metadata APP/ID key=value
//	verdict APP/ID REASON [ending] | verdict APP/ID none
//	prove UID [addr=IP[:PORT]]      free IP[:PORT]      freeuid UID
//	fresh yes|no   nodefresh NODE yes|no   podready UID yes|no
//	tick DURATION [beat=APP/ID,APP/ID...@SECONDS]   time passes in steps of a second; the named instances renew
//	pause DURATION                  time passes and nothing runs
//	restart DURATION                the same, and another engine goes on from a checkpoint
//	expect APP/ID STATUS|gone   expect NS engaged|calm expected=N received=N disabled=true   expect delta WORDS...
//
// A command that answers (register, renew, cancel, ...) may end in `-> OUTCOME`.
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
	e   *Engine
	now time.Time
	own map[string]Policy
}

func newScenario() *scenario {
	now := time.Unix(1_700_000_000, 0)
	return &scenario{e: New(now, Options{}), now: now, own: map[string]Policy{}}
}

// args are a command's words, with key=value words apart.
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

func (a args) has(word string) bool { return slices.Contains(a.words, word) }

func (a args) num(key string, fallback int64) int64 {
	if v, err := strconv.ParseInt(a.opts[key], 10, 64); err == nil {
		return v
	}
	return fallback
}

func (a args) key() Key {
	app, id, _ := strings.Cut(a.words[0], "/")
	return NewKey(app, id)
}

func (a args) caller() Caller {
	addr, _ := netip.ParseAddr(a.opts["from"])
	return Caller{Addr: addr, PodUID: a.opts["frompod"]}
}

func (s *scenario) run(line string) error {
	line, want, checked := strings.Cut(line, "->")
	fields := strings.Fields(line)
	a := parseArgs(fields[1:])
	if run := s.state(fields[0]); run != nil {
		return run(a)
	}
	got, err := s.request(fields[0], a)
	if err != nil {
		return err
	}
	if name := outcomeNames[got]; checked && name != strings.TrimSpace(want) {
		return fmt.Errorf("got %s, want %s", name, strings.TrimSpace(want))
	}
	return nil
}

var outcomeNames = map[Outcome]string{Done: "done", NotFound: "notfound", Newer: "newer", Fenced: "fenced", Full: "full", Stale: "stale"}

func (s *scenario) request(cmd string, a args) (Outcome, error) {
	switch cmd {
	case "register":
		rec, b := s.registration(a)
		return s.e.Register(s.now, a.caller(), rec, b), nil
	case "keep":
		rec, b := s.registration(a)
		return s.e.Keep(s.now, rec, b), nil
	case "renew":
		return s.e.Renew(s.now, a.caller(), a.key(), Beat{
			Status: ParseStatus(a.opts["status"]), Dirty: a.num("dirty", 0), HasDirty: a.opts["dirty"] != "",
		}).Outcome, nil
	case "cancel":
		return s.e.Cancel(s.now, a.caller(), a.key()), nil
	case "override":
		return s.e.SetOverride(s.now, a.caller(), a.key(), ParseStatus(a.words[1])), nil
	case "clear":
		return s.e.ClearOverride(s.now, a.caller(), a.key()), nil
	case "metadata":
		var pairs []Pair
		for k, v := range a.opts {
			pairs = append(pairs, Pair{k, v})
		}
		return s.e.PutMetadata(s.now, Caller{}, a.key(), pairs), nil
	}
	return 0, fmt.Errorf("unknown command %q", cmd)
}

func (s *scenario) registration(a args) (*Record, Binding) {
	key := a.key()
	rec := &Record{
		App: key.App, ID: key.ID, HostName: key.ID, IPAddr: a.opts["ip"], VIP: a.opts["vip"],
		Status: ParseStatus(a.opts["status"]), Dirty: a.num("dirty", 0),
		RenewalInterval: time.Duration(a.num("interval", 30)) * time.Second,
		LeaseDuration:   time.Duration(a.num("duration", 90)) * time.Second,
		Port:            Port{Number: int(a.num("port", 8080)), Enabled: true},
		From:            a.opts["peer"],
	}
	return rec, Binding{
		Partition: a.opts["ns"], PodUID: a.opts["pod"], Node: a.opts["node"],
		PodReady: a.has("ready"), Unlisted: a.has("unlisted"),
	}
}

func (s *scenario) state(cmd string) func(args) error {
	return map[string]func(args) error{
		"policy": s.policy, "verdict": s.verdict, "prove": s.prove, "tick": s.tick, "pause": s.pause, "expect": s.expect, "restart": s.restart,
		"fresh":     func(a args) error { s.e.SetFresh(a.has("yes")); return nil },
		"nodefresh": func(a args) error { s.e.SetNodeFresh(a.words[0], a.has("yes")); return nil },
		"podready":  func(a args) error { s.e.SetPodReady(a.words[0], a.has("yes")); return nil },
		"free":      func(a args) error { s.e.FreeAddr(addrPort(a.words[0])); return nil },
		"freeuid":   func(a args) error { s.e.FreeUID(a.words[0]); return nil },
		"ownended":  func(a args) error { s.e.EndOwnOverride(s.now, a.key()); return nil },
	}[cmd]
}

func (s *scenario) policy(a args) error {
	p := DefaultPolicy()
	p.SelfPreservation = a.opts["selfpreservation"] != "off"
	p.RenewalThresholdPercent = int(a.num("threshold", int64(p.RenewalThresholdPercent)))
	p.MaxHold = time.Duration(a.num("maxhold", 0)) * time.Second
	p.ReadyGrace = time.Duration(a.num("readygrace", 90)) * time.Second
	p.MaxEvictionPercent = int(a.num("maxeviction", int64(p.MaxEvictionPercent)))
	p.DefaultDuration = time.Duration(a.num("duration", 90)) * time.Second
	p.DefaultInterval = time.Duration(a.num("interval", 30)) * time.Second
	p.MaxInterval = time.Duration(a.num("maxinterval", 0)) * time.Second
	p.MinInServicePercent = int(a.num("floor", int64(p.MinInServicePercent)))
	ns := a.words[0]
	if ns == "outside" {
		ns = ""
	}
	s.own[ns] = p
	s.e.SetPolicies(s.now, DefaultPolicy(), s.own)
	return nil
}

func (s *scenario) verdict(a args) error {
	v := Verdict{OutOfService: true, Ending: a.has("ending"), Reason: a.words[1]}
	if v.Reason == "none" {
		v = Verdict{}
	}
	s.e.SetVerdict(s.now, a.key(), v)
	return nil
}

func (s *scenario) prove(a args) error {
	p := Proof{UID: a.words[0]}
	if addr := a.opts["addr"]; addr != "" {
		p.Addrs = []netip.AddrPort{addrPort(addr)}
	}
	s.e.Prove(s.now, p)
	return nil
}

func addrPort(s string) netip.AddrPort {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap
	}
	return netip.AddrPortFrom(netip.MustParseAddr(s), 0)
}

func (s *scenario) pause(a args) error {
	d, err := time.ParseDuration(a.words[0])
	s.now = s.now.Add(d)
	return err
}

func (s *scenario) restart(a args) error {
	cp := s.e.Checkpoint(s.now)
	d, err := time.ParseDuration(a.words[0])
	if err != nil {
		return err
	}
	s.now = s.now.Add(d)
	s.e = New(s.now, Options{})
	s.e.SetPolicies(s.now, DefaultPolicy(), s.own)
	return s.e.Restore(s.now, cp)
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
		if period > 0 && i%period == 0 {
			for name := range strings.SplitSeq(names, ",") {
				app, id, _ := strings.Cut(name, "/")
				s.e.Renew(s.now, Caller{}, NewKey(app, id), Beat{})
			}
		}
		s.e.Tick(s.now)
	}
	return nil
}

func (s *scenario) expect(a args) error {
	switch {
	case a.words[0] == "delta":
		return s.expectDelta(a.words[1:])
	case strings.Contains(a.words[0], "/"):
		got := "gone"
		if v := s.e.Snapshot().Get(a.key()); v != nil {
			got = v.Status.String()
		}
		if got != a.words[1] {
			return fmt.Errorf("is %s", got)
		}
		return nil
	}
	return s.expectPartition(a)
}

func (s *scenario) expectDelta(want []string) error {
	got := []string{}
	for i := range s.e.Snapshot().Changes() {
		got = append(got, i.Key().String()+":"+i.Action.String())
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("delta is %v", got)
	}
	return nil
}

func (s *scenario) expectPartition(a args) error {
	ns := strings.TrimPrefix(a.words[0], "outside")
	for _, p := range s.e.Partitions() {
		if p.Name != ns {
			continue
		}
		state := map[bool]string{true: "engaged", false: "calm"}[p.Engaged]
		got := map[string]string{
			"expected": fmt.Sprint(p.Expected), "received": fmt.Sprint(p.Received), "held": strconv.Itoa(p.Held),
			"minute": strconv.FormatInt(p.LastMinute, 10), "leases": strconv.Itoa(p.Leases), "kept": strconv.Itoa(p.Kept), "disabled": strconv.FormatBool(p.Disabled),
		}
		for k, want := range a.opts {
			if got[k] != want {
				return fmt.Errorf("%s is %s; %+v", k, got[k], p)
			}
		}
		if len(a.words) > 1 && a.words[1] != state {
			return fmt.Errorf("is %s; %+v", state, p)
		}
		return nil
	}
	return errors.New("no such partition")
}
