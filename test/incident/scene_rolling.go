package incident

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/kureka/kureka/test/rig/gateway"
	"github.com/kureka/kureka/test/rig/instance"
	"github.com/kureka/kureka/test/rig/stage"
)

// RollingResult is what RollingReplacement saw.
type RollingResult struct {
	Replaced, Responses int
	// Missing names instances that a response lacked as UP although they were ready,
	// not deleted and had their UP accepted during the whole request.
	Missing []string
	// FewestUp is the smallest number of UP instances in a response.
	FewestUp int
	Calls    gateway.Calls
	Old, New string
}

// The size of the service that is replaced, and how many pods at a time.
const (
	rollingSize  = 6
	rollingSurge = 2
)

// RollingReplacement replaces all six pods of a service under load, two at a time:
// new ones first, then the old ones end gracefully. There are no preStop hooks.
func RollingReplacement(ctx context.Context, set stage.Setting) (result RollingResult, err error) {
	s, err := stage.New(ctx, set, stage.Plan{Name: "rolling", Nodes: 2})
	if err != nil {
		return result, err
	}
	defer s.Close(ctx)
	config := instance.Config{App: "cart", Linger: time.Second}
	old, err := s.CreateMany(ctx, 1, rollingSize, config)
	if err != nil {
		return result, err
	}
	var l ledger
	view := s.StartView(ctx, config.App, l.check)
	if err := l.enter(ctx, old); err != nil {
		return result, err
	}
	if _, err := view.AwaitStatus(ctx, "UP", stage.IDs(old)...); err != nil {
		return result, err
	}
	g := s.StartGateway(ctx, config.App, fetchEvery)
	l.begin()
	set.Timeline.Mark("all %d pods are replaced, %d at a time", rollingSize, rollingSurge)
	fresh, err := replace(ctx, s, &l, old, config)
	if err != nil {
		return result, err
	}
	if _, err := view.AwaitStatus(ctx, stage.Gone, stage.IDs(old)...); err != nil {
		return result, err
	}
	result.Replaced, result.Calls = rollingSize, g.Calls()
	result.Old, result.New = view.Leaving(stage.IDs(old)...), view.Courses(stage.IDs(fresh)...)
	result.Responses, result.FewestUp, result.Missing = l.sum()
	return result, nil
}

// replace returns the new pods once the API has none of the old ones any more.
func replace(ctx context.Context, s *stage.Stage, l *ledger, old []*stage.Pod, config instance.Config) (fresh []*stage.Pod, err error) {
	for leaving := range slices.Chunk(old, rollingSurge) {
		added, err := s.CreateMany(ctx, 1+len(old)+len(fresh), len(leaving), config)
		if err != nil {
			return nil, err
		}
		fresh = append(fresh, added...)
		if err := l.enter(ctx, added); err != nil {
			return nil, err
		}
		for _, p := range leaving {
			l.leave(p)
			if _, err := p.Delete(ctx); err != nil {
				return nil, err
			}
		}
	}
	for _, p := range old {
		if err := p.AwaitGone(ctx); err != nil {
			return nil, err
		}
	}
	return fresh, nil
}

// ledger knows which instances a response must list as UP: from the moment their
// pod was seen ready and their report was seen accepted, until their deletion was
// about to be sent. Its methods may be called from several goroutines.
type ledger struct {
	mu        sync.Mutex
	since     map[string]time.Time
	before    map[string]time.Time // when an instance left
	counting  bool
	responses int
	fewest    int
	missing   []string
}

// enter waits until the pods have to be listed.
func (l *ledger) enter(ctx context.Context, pods []*stage.Pod) error {
	for _, p := range pods {
		if err := p.AwaitReady(ctx); err != nil {
			return err
		}
		accepted := func(context.Context) (bool, error) { return !p.HeardAt().IsZero(), nil }
		if err := stage.Until(ctx, p.Name+" to be registered", accepted); err != nil {
			return err
		}
		l.mu.Lock()
		if l.since == nil {
			l.since, l.before = map[string]time.Time{}, map[string]time.Time{}
		}
		l.since[p.ID] = time.Now()
		l.mu.Unlock()
	}
	return nil
}

// leave says that a pod is about to be deleted.
func (l *ledger) leave(p *stage.Pod) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.before[p.ID] = time.Now()
}

// begin starts to count.
func (l *ledger) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counting = true
}

func (l *ledger) check(r gateway.Response) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.counting {
		return
	}
	up := r.UpCount()
	if l.responses == 0 || up < l.fewest {
		l.fewest = up
	}
	l.responses++
	for id, since := range l.since {
		left, leaving := l.before[id]
		if r.Start.Before(since) || leaving && !r.End.Before(left) || r.Up(id) {
			continue
		}
		if len(l.missing) < 10 {
			l.missing = append(l.missing, fmt.Sprintf("%s (%q, code %d)", id, r.Statuses[id], r.Code))
		}
	}
}

func (l *ledger) sum() (responses, fewest int, missing []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.responses, l.fewest, l.missing
}

// Expectations implements Outcome.
func (r RollingResult) Expectations() []Expectation {
	return []Expectation{
		expect("every response lists as UP whoever was ready, not deleted and accepted during the whole request", "[]", r.Missing),
		expect("the old instances leave", "UP > gone", r.Old),
		expect("the new ones come and stay", "UP", r.New),
	}
}

// Facts implements Outcome.
func (r RollingResult) Facts() []Fact {
	return []Fact{
		fact("rolling replacement, fewest instances UP", fmt.Sprintf("%d of %d in %d responses", r.FewestUp, r.Replaced, r.Responses)),
		fact("failed calls (no preStop hook, gateway fetches every 5 s)", fmt.Sprintf("%d of %d", r.Calls.Failed(), r.Calls.Total())),
	}
}
