package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"

	"github.com/kureka/kureka/test/rig/instance/child"
)

// stage is one registry with all lanes on it.
type stage struct {
	dir      string
	progress io.Writer
	shop     *Workshop
	ports    ports
	server   *server
	registry *registryClient
	lanes    []*lane // that still run
	all      []*lane
}

// maxPreparations bounds how many programs are prepared at a time.
const maxPreparations = 2

// openStage prepares the programs of the clients, starts the registry and the
// lanes, and waits until all of them say that they are ready. The lanes that could
// not start are errors by slug.
func openStage(ctx context.Context, shop *Workshop, clients []*Client, dir string, progress io.Writer) (*stage, map[string]error, error) {
	s := &stage{dir: dir, progress: progress, shop: shop}
	kureka := filepath.Join(dir, "kureka")
	err := shop.Run(ctx, progress, "building kureka", shop.Source, "go", "build", "-o", kureka, "github.com/kureka/kureka/cmd/kureka")
	if err != nil {
		return nil, nil, err
	}
	commands, failed := s.prepare(ctx, clients)
	address, err := s.ports.free()
	if err != nil {
		return nil, nil, err
	}
	probe, err := s.ports.free()
	if err != nil {
		return nil, nil, err
	}
	s.server, s.registry = newServer(kureka, address, probe, dir), newRegistryClient(address)
	if err := s.server.start(ctx, "Off"); err != nil {
		s.close()
		return nil, nil, err
	}
	if err := s.startLanes(ctx, clients, commands, failed); err != nil {
		s.close()
		return nil, nil, err
	}
	maps.Copy(failed, each(ctx, s.lanes, func(ctx context.Context, l *lane) error { return l.ready(ctx) }))
	s.drop(failed)
	return s, failed, nil
}

// prepare prepares each program once. A program that cannot be prepared fails all
// its clients.
func (s *stage) prepare(ctx context.Context, clients []*Client) (commands map[*Program][]string, failed map[string]error) {
	var programs []*Program
	for _, c := range clients {
		if !slices.Contains(programs, c.Program) {
			programs = append(programs, c.Program)
		}
	}
	commands, failed = map[*Program][]string{}, map[string]error{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxPreparations)
	for _, p := range programs {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			argv, err := p.Prepare(ctx, s.shop, s.progress)
			mu.Lock()
			defer mu.Unlock()
			commands[p] = argv
			for _, c := range clients {
				if c.Program == p && err != nil {
					failed[c.Slug()] = fmt.Errorf("preparing %s: %w", p.Name, err)
				}
			}
		})
	}
	wg.Wait()
	return commands, failed
}

// startLanes opens the taps and starts the programs.
func (s *stage) startLanes(ctx context.Context, clients []*Client, commands map[*Program][]string, failed map[string]error) error {
	watch := make([]string, 0, len(clients)+3)
	watch = append(watch, churnApp, refillApp, servedApp)
	for _, c := range clients {
		watch = append(watch, laneApp(c))
	}
	hosted := map[*Program][]*lane{}
	for i, c := range clients {
		if failed[c.Slug()] != nil {
			continue
		}
		l, err := s.newLane(ctx, i+1, c, watch)
		if err != nil {
			return err
		}
		s.lanes, s.all = append(s.lanes, l), append(s.all, l)
		if c.Program.Hosts {
			hosted[c.Program] = append(hosted[c.Program], l)
			continue
		}
		l.launch = func() (*child.Process, error) {
			return s.startOne(commands[c.Program], c.Program, l.settings.environ(), l.logPath)
		}
		if l.process, err = l.launch(); err != nil {
			return err
		}
	}
	for p, lanes := range hosted {
		var all []settings
		for _, l := range lanes {
			all = append(all, l.settings)
		}
		list, err := json.Marshal(all)
		if err != nil {
			return fmt.Errorf("encoding the lanes of %s: %w", p.Name, err)
		}
		logPath := filepath.Join(s.dir, p.Name+".log")
		process, err := s.startOne(commands[p], p, []string{"LANES=" + string(list)}, logPath)
		if err != nil {
			return err
		}
		for _, l := range lanes {
			l.process, l.logPath = process, logPath
		}
	}
	return nil
}

func (s *stage) startOne(argv []string, p *Program, env []string, logPath string) (*child.Process, error) {
	if p.Env != nil {
		env = append(env, p.Env(s.shop)...)
	}
	fmt.Fprintln(s.progress, "--> starting "+strings.TrimSuffix(filepath.Base(logPath), ".log"))
	return startProgram(argv, env, s.dir, logPath)
}

func (s *stage) newLane(ctx context.Context, number int, c *Client, watch []string) (*lane, error) {
	tapAddress, err := s.ports.free()
	if err != nil {
		return nil, err
	}
	control, err := s.ports.free()
	if err != nil {
		return nil, err
	}
	base := c.Base
	if base == "" {
		base = "/eureka/"
	}
	set, err := newSettings(number, c, "http://"+tapAddress+base, control, watch)
	if err != nil {
		return nil, err
	}
	tap, err := newTap(ctx, tapAddress, s.server.address)
	if err != nil {
		return nil, err
	}
	return &lane{
		client: c, settings: set, tap: tap, logPath: filepath.Join(s.dir, c.Slug()+".log"),
		control: &http.Client{Timeout: 2 * patience}, // a JVM loads much when it is first asked
	}, nil
}

// close ends everything that still runs.
func (s *stage) close() {
	for _, l := range s.all {
		if l.process != nil {
			l.process.Kill()
		}
		l.tap.close()
	}
	s.server.kill()
}

// each calls do for all lanes at once and returns the errors by slug, each with
// the end of the lane's log.
func each(ctx context.Context, lanes []*lane, do func(context.Context, *lane) error) map[string]error {
	failed := map[string]error{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, l := range lanes {
		wg.Go(func() {
			if err := do(ctx, l); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed[l.client.Slug()] = fmt.Errorf("%w\nend of its log:\n%s", err, logTail(l.logPath))
			}
		})
	}
	wg.Wait()
	return failed
}

// both joins two results.
func both(a, b map[string]error) map[string]error {
	all := maps.Clone(a)
	for slug, err := range b {
		all[slug] = errors.Join(all[slug], err)
	}
	return all
}

// agrees waits until the lane holds exactly what the registry has, seen through
// the client's eyes.
func (s *stage) agrees(ctx context.Context, l *lane) error {
	return until(ctx, "the client to hold what the registry has", func(ctx context.Context) error {
		have, err := s.registry.instances(ctx)
		if err != nil {
			return err
		}
		holds, err := l.holds(ctx)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(l.client.sees(have), holds); diff != "" {
			return fmt.Errorf("it differs (-registry +client):\n%s", diff)
		}
		return nil
	})
}

// everybodyAgrees is agrees for all lanes that read.
func (s *stage) everybodyAgrees(ctx context.Context) map[string]error {
	return each(ctx, s.those(reads), s.agrees)
}

// listed waits until the registry lists the lane's own instance with the status.
func (s *stage) listed(ctx context.Context, l *lane, status string) error {
	want, err := l.own()
	if err != nil {
		return err
	}
	want.Status = status
	return until(ctx, "the registry to list the client", func(ctx context.Context) error {
		have, err := s.registry.instances(ctx)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(have, func(in Instance) bool { return in.App == want.App && in.ID == want.ID })
		if i < 0 {
			return fmt.Errorf("it does not list %s of %s", want.ID, want.App)
		}
		if diff := cmp.Diff(want, have[i]); diff != "" {
			return fmt.Errorf("it differs (-registered +listed):\n%s", diff)
		}
		return nil
	})
}

// exchanged waits until the tap has seen n exchanges since the mark that fit.
func (l *lane) exchanged(ctx context.Context, mark, n int, what string, fits func(*Exchange) bool) error {
	return until(ctx, what, func(context.Context) error {
		count := 0
		for _, e := range l.tap.since(mark) {
			if fits(&e) {
				count++
			}
		}
		if count < n {
			return fmt.Errorf("seen %d times, not %d", count, n)
		}
		return nil
	})
}

// count is how many exchanges of a kind the tap has seen since the mark.
func (l *lane) count(mark int, kind string) int {
	n := 0
	for _, e := range l.tap.since(mark) {
		if e.Kind() == kind {
			n++
		}
	}
	return n
}

// brokenWires are the taps that read something else than HTTP.
func (s *stage) brokenWires() map[string]error {
	broken := map[string]error{}
	for _, l := range s.all {
		l.tap.mu.Lock()
		if l.tap.broken != nil {
			broken[l.client.Slug()] = l.tap.broken
		}
		l.tap.mu.Unlock()
	}
	return broken
}

// drop takes lanes that have failed out of what follows. Their client would only
// fail again, slowly.
func (s *stage) drop(failed map[string]error) {
	s.lanes = slices.DeleteFunc(slices.Clone(s.lanes), func(l *lane) bool { return failed[l.client.Slug()] != nil })
}
