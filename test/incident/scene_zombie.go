package incident

import (
	"context"
	"fmt"
	"time"

	"github.com/kureka/kureka/test/rig/gateway"
	"github.com/kureka/kureka/test/rig/instance"
	"github.com/kureka/kureka/test/rig/stage"
)

// What a dead instance tries at least before Haunting ends.
const (
	leastHeartbeats    = 10
	leastRegistrations = 3
)

// HauntingResult is what Haunting saw.
type HauntingResult struct {
	Ghost, Living string
	// Alive says that the process was running to the end.
	Alive bool
	// Heartbeats and Registrations are what it sent after its end, Refused how many
	// of these were answered with anything but success.
	Heartbeats, Registrations, Refused int
	// Lasted is how long it tried.
	Lasted time.Duration
}

// Haunting removes one of three pods by force while its process lives on. It
// heartbeats every second, registers anew with every third heartbeat and ignores
// SIGTERM. The scene goes on until enough is closed.
func Haunting(ctx context.Context, set stage.Setting, enough <-chan struct{}) (result HauntingResult, err error) {
	s, err := stage.New(ctx, set, stage.Plan{Name: "zombie", Nodes: 1})
	if err != nil {
		return result, err
	}
	defer s.Close(ctx)
	config := instance.Config{App: "legacy"}
	living, err := s.CreateMany(ctx, 1, 2, config)
	if err != nil {
		return result, err
	}
	config.RenewalInterval, config.RegisterEvery, config.OnTerm = time.Second, 3, instance.Ignore
	ghosts, err := s.CreateMany(ctx, 3, 1, config)
	if err != nil {
		return result, err
	}
	ghost := ghosts[0]
	s.KeepOrphans(true)
	view := s.StartView(ctx, config.App, nil)
	if _, err := view.AwaitStatus(ctx, "UP", stage.IDs(append(ghosts, living...))...); err != nil {
		return result, err
	}
	set.Timeline.Mark("%s is force-deleted; its process lives on and wants back", ghost.Name)
	removed, err := forceDeleted(ctx, view, ghost)
	if err != nil {
		return result, err
	}
	err = stage.Until(ctx, "the dead instance to try and come back", func(context.Context) (bool, error) {
		result.attempts(ghost.Process(), removed)
		return result.Heartbeats >= leastHeartbeats && result.Registrations >= leastRegistrations, nil
	})
	if err != nil {
		return result, err
	}
	select {
	case <-enough:
	case <-ctx.Done():
		return result, ctx.Err()
	}
	result.attempts(ghost.Process(), removed)
	// Whatever the last attempt did shows in a response that begins now.
	now := time.Now()
	if _, err := view.Await(ctx, func(r gateway.Response) bool { return r.Listed && r.Start.After(now) }); err != nil {
		return result, err
	}
	result.Lasted = time.Since(removed)
	result.Alive = ghost.Process().Serving()
	result.Ghost, result.Living = view.Leaving(ghost.ID), view.Courses(stage.IDs(living)...)
	set.Timeline.Add("instance", "%s sent %d heartbeats and %d registrations since", ghost.Name, result.Heartbeats, result.Registrations)
	return result, nil
}

// forceDeleted removes a pod's object, leaves its process alone and returns when
// the first response without the instance had arrived.
func forceDeleted(ctx context.Context, view *stage.View, p *stage.Pod) (time.Time, error) {
	forgotten := view.ExpectStatus(stage.Gone, p.ID)
	if _, err := p.ForceDelete(ctx); err != nil {
		return time.Time{}, err
	}
	r, err := forgotten.Wait(ctx)
	return r.End, err
}

// attempts counts what a process has sent since.
func (r *HauntingResult) attempts(p *instance.Process, since time.Time) {
	r.Heartbeats, r.Registrations, r.Refused = 0, 0, 0
	for _, e := range p.Events() {
		if e.At.Before(since) {
			continue
		}
		switch e.Op {
		case instance.Renewed:
			r.Heartbeats++
		case instance.Registered:
			r.Registrations++
		default:
			continue
		}
		if !e.Accepted() {
			r.Refused++
		}
	}
}

// Expectations implements Outcome.
func (r HauntingResult) Expectations() []Expectation {
	return []Expectation{
		expect("the dead instance never comes back", "UP > gone", r.Ghost),
		expect("its process runs and tries all the time", true, r.Alive && r.Heartbeats >= leastHeartbeats),
		expect("and is answered as if all were well", 0, r.Refused),
		expect("the living stay UP in every response", "UP", r.Living),
	}
}

// Facts implements Outcome.
func (r HauntingResult) Facts() []Fact {
	return []Fact{
		fact("attempts of a dead instance to come back", fmt.Sprintf("%d heartbeats and %d registrations in %s, none listed",
			r.Heartbeats, r.Registrations, round(r.Lasted))),
	}
}
