package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// The applications that the runner itself registers.
const (
	churnApp  = "CHURN"
	refillApp = "REFILL"
)

// scene is one thing that every client has to get through. It returns what went
// wrong by slug; an error is something that is nobody's fault but ours.
type scene struct {
	name string
	// title heads the column of the page.
	title string
	// applies says which clients the scene is about.
	applies func(*Client) bool
	play    func(ctx context.Context, s *stage) (map[string]error, error)
}

// scenes in their order: the last ones end the registry and the clients.
func scenes() []scene {
	return []scene{
		{"register", "registers", registers, playRegister},
		{"heartbeat", "renews", renews, playHeartbeat},
		{"matrix", "reads all others", reads, playMatrix},
		{"changes", "follows changes", reads, playChanges},
		{"refill", "emptied and refilled", reads, playRefill},
		{"odd", "reads odd instances", readsOdd, playOdd},
		{"churn", "twenty windows of churn", reads, playChurn},
		{"reconcile", "hash agrees", reconciles, playReconcile},
		{"status", "own status", setsStatus, playStatus},
		{"override", "override", registers, playOverride},
		{"own-override", "asks for override", setsOverride, playOwnOverride},
		{"container", "container restarts", restartable, playContainer},
		{"routes", "routes calls", routes, playRoutes},
		{"watches", "watches health", watches, playWatches},
		{"restart", "registry restarts", outlives, playRestart},
		{"stop", "stops", stops, playStop},
	}
}

// those are the lanes that a condition holds for.
func (s *stage) those(applies func(*Client) bool) []*lane {
	return slices.DeleteFunc(slices.Clone(s.lanes), func(l *lane) bool { return !applies(l.client) })
}

func playRegister(ctx context.Context, s *stage) (map[string]error, error) {
	return each(ctx, s.those(registers), func(ctx context.Context, l *lane) error {
		return s.listed(ctx, l, "UP")
	}), nil
}

func playHeartbeat(ctx context.Context, s *stage) (map[string]error, error) {
	return each(ctx, s.those(renews), func(ctx context.Context, l *lane) error { return l.renews(ctx) }), nil
}

// renews waits for two more heartbeats that were answered as they should be.
func (l *lane) renews(ctx context.Context) error {
	if !renews(l.client) {
		return nil
	}
	return l.exchanged(ctx, l.tap.mark(), 2, "heartbeats that are answered 200", func(e *Exchange) bool {
		return e.Kind() == kindHeartbeat && e.Status == http.StatusOK && e.AnswerSize == 0
	})
}

// playMatrix: every client holds every other client's instance as it is.
func playMatrix(ctx context.Context, s *stage) (map[string]error, error) {
	for _, in := range []Instance{puppet(churnApp, 1, "UP"), puppet(churnApp, 2, "OUT_OF_SERVICE"), puppet(refillApp, 3, "UP")} {
		if err := s.registry.register(ctx, in); err != nil {
			return nil, err
		}
	}
	return s.everybodyAgrees(ctx), nil
}

// playChanges adds, changes and removes an instance.
func playChanges(ctx context.Context, s *stage) (map[string]error, error) {
	in := puppet(churnApp, 4, "UP")
	changed := in.clone()
	changed.Metadata["puppet"] = "changed"
	down := changed.clone()
	down.Status = "DOWN"
	marks := s.marks()
	failed := map[string]error{}
	for _, step := range []func() error{
		func() error { return s.registry.register(ctx, in) },
		func() error { return s.registry.register(ctx, changed) },
		func() error { return s.registry.register(ctx, down) },
		func() error { return s.registry.cancel(ctx, down) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
		failed = both(failed, s.everybodyAgrees(ctx))
	}
	return both(failed, s.onlyDeltas(ctx, marks)), nil
}

func (s *stage) marks() map[*lane]int {
	marks := map[*lane]int{}
	for _, l := range s.lanes {
		marks[l] = l.tap.mark()
	}
	return marks
}

// onlyDeltas fails the clients that read deltas and since the marks had to read
// everything.
func (s *stage) onlyDeltas(ctx context.Context, marks map[*lane]int) map[string]error {
	deltas := s.those(readsDeltas)
	return each(ctx, deltas, func(_ context.Context, l *lane) error {
		switch full := l.count(marks[l], kindFull); {
		case full > 0:
			return fmt.Errorf("it fetched everything %d times, though it reads deltas", full)
		case l.count(marks[l], kindDelta) == 0:
			return errors.New("it fetched no delta")
		}
		return nil
	})
}

// playRefill empties an application and fills it again, within one delta window,
// with the same instance and with others.
func playRefill(ctx context.Context, s *stage) (map[string]error, error) {
	marks := s.marks()
	failed := map[string]error{}
	old := []Instance{puppet(refillApp, 3, "UP")}
	for _, next := range [][]Instance{
		{puppet(refillApp, 3, "UP")},
		{puppet(refillApp, 5, "UP"), puppet(refillApp, 6, "UP")},
		{puppet(refillApp, 6, "UP"), puppet(refillApp, 7, "UP")},
	} {
		for _, in := range old {
			if err := s.registry.cancel(ctx, in); err != nil {
				return nil, err
			}
		}
		for _, in := range next {
			if err := s.registry.register(ctx, in); err != nil {
				return nil, err
			}
		}
		old = next
		failed = both(failed, s.everybodyAgrees(ctx))
	}
	return both(failed, s.onlyDeltas(ctx, marks)), nil
}

// playOdd adds what trips decoders: Amazon's data center, and keys of metadata that
// are no names in XML.
func playOdd(ctx context.Context, s *stage) (map[string]error, error) {
	amazon, odd := puppet(churnApp, 8, "UP"), puppet(churnApp, 9, "UP")
	odd.Metadata = map[string]string{"a$b": "x", "2nd key": "y", "path/to": "]]>", "k:v": "<&>"}
	err := s.registry.registerIn(ctx, amazon, map[string]any{"@class": "com.netflix.appinfo.AmazonInfo", "name": "Amazon", "metadata": map[string]string{
		"instance-id": amazon.ID, "availability-zone": "zone-1a", "local-ipv4": amazon.IPAddr, "public-hostname": amazon.HostName,
	}})
	if err != nil {
		return nil, err
	}
	if err := s.registry.register(ctx, odd); err != nil {
		return nil, err
	}
	failed := each(ctx, s.those(readsOdd), s.agrees)
	if err := errors.Join(s.registry.cancel(ctx, amazon), s.registry.cancel(ctx, odd)); err != nil {
		return nil, err
	}
	return both(failed, s.everybodyAgrees(ctx)), nil
}

// churnWindows is how many fetch windows of fetchSeconds the churn lasts: as many as
// a client with the usual interval of 30 s has in ten minutes.
const churnWindows = 20

// playChurn changes the registry at random, several times in each window.
func playChurn(ctx context.Context, s *stage) (map[string]error, error) {
	const changesInWindow, seed = 4, 4
	c := churn{registry: s.registry, random: rand.New(rand.NewPCG(seed, seed)), listed: map[int]Instance{}}
	marks := s.marks()
	for range churnWindows {
		for range changesInWindow {
			if err := c.change(ctx); err != nil {
				return nil, err
			}
		}
		if err := sleep(ctx, fetchSeconds*time.Second); err != nil {
			return nil, err
		}
	}
	failed := both(s.everybodyAgrees(ctx), s.onlyDeltas(ctx, marks))
	if err := c.empty(ctx); err != nil {
		return nil, err
	}
	return both(failed, s.everybodyAgrees(ctx)), nil
}

// churn makes random changes that its seed repeats.
type churn struct {
	registry *registryClient
	random   *rand.Rand
	listed   map[int]Instance
}

// change registers one instance, anew or for the first time, ends it, overrides it
// or ends all of them at once.
func (c *churn) change(ctx context.Context) error {
	const instances = 12
	statuses := []string{"UP", "DOWN", "STARTING", "OUT_OF_SERVICE"}
	n := 10 + c.random.IntN(instances)
	in, exists := c.listed[n]
	dice := c.random.IntN(20)
	switch {
	case dice == 0:
		return c.empty(ctx)
	case exists && dice < 7:
		delete(c.listed, n)
		return c.registry.cancel(ctx, in)
	case exists && dice < 10:
		return c.registry.override(ctx, in, statuses[c.random.IntN(len(statuses))])
	case exists && dice < 12:
		return c.registry.clearOverride(ctx, in)
	}
	in = puppet(churnApp, n, statuses[c.random.IntN(len(statuses))])
	in.Metadata["round"] = strconv.Itoa(c.random.IntN(100))
	c.listed[n] = in
	return c.registry.register(ctx, in)
}

func (c *churn) empty(ctx context.Context) error {
	for _, n := range slices.Sorted(maps.Keys(c.listed)) {
		if err := c.registry.cancel(ctx, c.listed[n]); err != nil {
			return err
		}
		delete(c.listed, n)
	}
	return nil
}

// playStatus: the client says that it is down, and up again.
func playStatus(ctx context.Context, s *stage) (map[string]error, error) {
	failed := map[string]error{}
	able := s.those(setsStatus)
	for _, status := range []string{"DOWN", "UP"} {
		failed = both(failed, each(ctx, able, func(ctx context.Context, l *lane) error {
			if err := l.ask(ctx, http.MethodPost, "/status/"+status, nil); err != nil {
				return err
			}
			return s.listed(ctx, l, status)
		}))
		failed = both(failed, s.everybodyAgrees(ctx))
	}
	return failed, nil
}

// playOverride: an operator takes the client out of service, which its heartbeats
// do not undo, and in again.
func playOverride(ctx context.Context, s *stage) (map[string]error, error) {
	const out = "OUT_OF_SERVICE"
	able := s.those(registers)
	failed := each(ctx, able, func(ctx context.Context, l *lane) error {
		own, err := l.own()
		if err != nil {
			return err
		}
		if err := s.registry.override(ctx, own, out); err != nil {
			return err
		}
		if err := l.renews(ctx); err != nil {
			return err
		}
		return s.listed(ctx, l, out)
	})
	failed = both(failed, s.everybodyAgrees(ctx))
	failed = both(failed, each(ctx, able, func(ctx context.Context, l *lane) error {
		own, err := l.own()
		if err != nil {
			return err
		}
		end := s.registry.clearOverride
		if l.client.UpByOverride {
			end = func(ctx context.Context, in Instance) error { return s.registry.override(ctx, in, "UP") }
		}
		if err := end(ctx, own); err != nil {
			return err
		}
		if err := l.renews(ctx); err != nil {
			return err
		}
		return s.listed(ctx, l, "UP")
	}))
	return both(failed, s.everybodyAgrees(ctx)), nil
}

// playOwnOverride: the client itself asks for the override and its end.
func playOwnOverride(ctx context.Context, s *stage) (map[string]error, error) {
	const out = "OUT_OF_SERVICE"
	able := s.those(setsOverride)
	failed := map[string]error{}
	for _, step := range []struct{ path, status string }{{"/override/" + out, out}, {"/override/clear", "UP"}} {
		failed = both(failed, each(ctx, able, func(ctx context.Context, l *lane) error {
			if err := l.ask(ctx, http.MethodPost, step.path, nil); err != nil {
				return err
			}
			if err := l.renews(ctx); err != nil {
				return err
			}
			return s.listed(ctx, l, step.status)
		}))
		failed = both(failed, s.everybodyAgrees(ctx))
	}
	return failed, nil
}

// restartGate is how long the restarted registry refuses lists, which is longer
// than any lane needs to come back.
const restartGate = "20s"

// playRestart kills the registry and starts it without memory. No client may ever
// hold less than before, and each comes back after the first heartbeat that is not
// known. The clients that never come back leave before.
func playRestart(ctx context.Context, s *stage) (map[string]error, error) {
	failed := s.retire(ctx, s.those(func(c *Client) bool { return !outlives(c) }))
	puppets, err := s.puppets(ctx)
	if err != nil {
		return nil, err
	}
	watching, stopWatching := context.WithCancel(ctx)
	defer stopWatching()
	var lost map[string]error
	var wg sync.WaitGroup
	wg.Go(func() { lost = each(watching, s.those(reads), losesNothing) })
	marks := s.marks()

	s.server.kill()
	if err := sleep(ctx, 2*renewSeconds*time.Second); err != nil {
		return nil, err
	}
	if err := s.server.start(ctx, restartGate); err != nil {
		return nil, err
	}
	for _, in := range puppets {
		if err := s.registry.register(ctx, in); err != nil {
			return nil, err
		}
	}
	failed = both(failed, each(ctx, s.those(rejoins), func(ctx context.Context, l *lane) error {
		l.returned = true
		if err := s.listed(ctx, l, "UP"); err != nil {
			return err
		}
		return l.cameBack(marks[l])
	}))
	failed = both(failed, s.everybodyAgrees(ctx))
	stopWatching()
	wg.Wait()
	return both(failed, lost), nil
}

// puppets are the instances in the registry that are no lane's.
func (s *stage) puppets(ctx context.Context) ([]Instance, error) {
	all, err := s.registry.instances(ctx)
	return slices.DeleteFunc(all, func(in Instance) bool { return in.App != churnApp && in.App != refillApp }), err
}

// losesNothing compares what the client holds with what it held at first, until
// the context ends.
func losesNothing(ctx context.Context, l *lane) error {
	before, err := l.holds(ctx)
	if err != nil {
		return err
	}
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		now, err := l.holds(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("asking what the client holds while the registry restarts: %w", err)
		}
		for _, in := range before {
			if !slices.ContainsFunc(now, func(n Instance) bool { return n.App == in.App && n.ID == in.ID && n.Port == in.Port }) {
				return fmt.Errorf("while the registry restarted the client lost %s of %s: it held %d instances, then %d", in.ID, in.App, len(before), len(now))
			}
		}
	}
}

// cameBack fails when the client went on for an interval after it had been told that
// it is not known, and then sent another heartbeat instead of registering. Some
// clients have several heartbeats under way when the registry comes back.
func (l *lane) cameBack(mark int) error {
	var told time.Time
	registered := false
	for _, e := range l.tap.since(mark) {
		vain := e.Kind() == kindHeartbeat && e.Status == http.StatusNotFound
		switch {
		case e.Kind() == kindRegister && e.Status == http.StatusNoContent:
			registered, told = true, time.Time{}
		case vain && told.IsZero():
			told = e.Answered
		case vain && e.Start.Sub(told) >= renewSeconds*time.Second:
			return errors.New("it sent another heartbeat an interval later instead of registering again")
		}
	}
	if !registered {
		return errors.New("it is listed, but the tap saw no registration that was accepted")
	}
	return nil
}

// playStop stops the clients in two halves, so that the second sees the first leave.
func playStop(ctx context.Context, s *stage) (map[string]error, error) {
	half := len(s.lanes) / 2
	failed := s.retire(ctx, s.lanes[:half])
	return both(failed, s.retire(ctx, s.lanes)), nil
}

// retire stops the lanes; the others must see them leave.
func (s *stage) retire(ctx context.Context, leaving []*lane) map[string]error {
	s.lanes = slices.DeleteFunc(slices.Clone(s.lanes), func(l *lane) bool { return slices.Contains(leaving, l) })
	return both(each(ctx, leaving, s.leaves), s.everybodyAgrees(ctx))
}

func (s *stage) leaves(ctx context.Context, l *lane) error {
	mark := l.tap.mark()
	err := l.stop(ctx)
	if !l.client.Program.Hosts {
		l.process.Kill()
	}
	l.tap.close()
	if err != nil || !stops(l.client) {
		return err
	}
	for _, e := range l.tap.since(mark) {
		if e.Kind() == kindCancel && e.Status == http.StatusOK && e.AnswerSize == 0 {
			return s.unlisted(ctx, l)
		}
	}
	return errors.New("it ended without deregistering")
}

func (s *stage) unlisted(ctx context.Context, l *lane) error {
	own, err := l.own()
	if err != nil {
		return err
	}
	have, err := s.registry.instances(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(have, func(in Instance) bool { return in.App == own.App }) {
		return errors.New("it has deregistered and is still listed")
	}
	return nil
}
