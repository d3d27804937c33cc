package incident

import (
	"context"
	"fmt"
	"time"

	"github.com/kureka/kureka/test/rig/gateway"
	"github.com/kureka/kureka/test/rig/instance"
	"github.com/kureka/kureka/test/rig/stage"
)

// ForceDeleteResult is what ForceDelete saw.
type ForceDeleteResult struct {
	Instances, Victims int
	// Acknowledged are, for each run, the time from the acknowledgement of a deletion
	// to the first response without the instance, of the slowest victim. Killed are
	// the same from the kill of the first process.
	Acknowledged, Killed Spread
	// GatewayStopped is the time from the deaths of the first run until the gateway
	// called no victim any more.
	GatewayStopped time.Duration
	// Calls are those of the gateway in the first run.
	Calls gateway.Calls
	// CallsAfter is the number of calls to a victim that began after the gateway had
	// dropped it.
	CallsAfter int
	Engaged    bool
	// VictimCourse and SurvivorCourse are the courses of the instances in the first
	// run.
	VictimCourse, SurvivorCourse string
}

// ForceDelete kills 4 of 12 instances on three nodes, removes their pods by force
// and cancels nothing. The first run goes on until the gateway has noticed; after
// it the four are replaced and killed again, runs times in all.
func ForceDelete(ctx context.Context, set stage.Setting, runs int) (result ForceDeleteResult, err error) {
	result.Instances, result.Victims = 12, 4
	s, err := stage.New(ctx, set, stage.Plan{Name: "force-delete", Nodes: 3})
	if err != nil {
		return result, err
	}
	defer s.Close(ctx)
	config := instance.Config{App: "orders"}
	pods, err := s.CreateMany(ctx, 1, result.Instances, config)
	if err != nil {
		return result, err
	}
	view := s.StartView(ctx, config.App, nil)
	if _, err := view.AwaitStatus(ctx, "UP", stage.IDs(pods)...); err != nil {
		return result, err
	}
	engaged := s.WatchEngaged(ctx)
	if err := result.firstRun(ctx, s, view, pods); err != nil {
		return result, err
	}
	view.Mute()
	for run := 2; run <= runs; run++ {
		first := 1 + result.Instances + (run-2)*result.Victims
		again, err := s.CreateMany(ctx, first, result.Victims, config)
		if err != nil {
			return result, err
		}
		if _, err := view.AwaitStatus(ctx, "UP", stage.IDs(again)...); err != nil {
			return result, err
		}
		set.Timeline.Mark("run %d of %d: four others", run, runs)
		if err := result.kill(ctx, view, again); err != nil {
			return result, err
		}
		set.Timeline.Add("registry", "gone: all four")
	}
	result.Engaged = engaged()
	return result, nil
}

// firstRun is the incident as a gateway sees it.
func (r *ForceDeleteResult) firstRun(ctx context.Context, s *stage.Stage, view *stage.View, pods []*stage.Pod) error {
	defer s.TellEvents(ctx)()
	g := s.StartGateway(ctx, view.App, fetchEvery)
	if err := stage.Pass(ctx, 2*time.Second); err != nil {
		return err
	}
	victims, survivors := pods[:r.Victims], pods[r.Victims:]
	s.TellRenewals(ctx)

	s.Timeline.Mark("%d of %d pods on 3 nodes are force-deleted, their processes killed; nobody cancels", r.Victims, r.Instances)
	deaths := time.Now()
	if err := r.kill(ctx, view, victims); err != nil {
		return err
	}
	s.TellRenewals(ctx)
	if err := awaitDropped(ctx, g, victims); err != nil {
		return err
	}
	dropped := lastDropped(g, victims)
	r.GatewayStopped = dropped.Sub(deaths)
	if err := stage.Pass(ctx, 2*time.Second); err != nil { // in which it could call them again
		return err
	}
	r.Calls = g.Calls()
	for _, v := range victims {
		if g.CallsTo(v.ID).LastDead.After(g.DroppedAt(v.ID)) {
			r.CallsAfter++
		}
	}
	s.Timeline.At(dropped, "gateway", "calls none of the dead any more; %d of %d calls went to dead addresses", r.Calls.Dead, r.Calls.Total())
	s.TellRenewals(ctx)
	r.VictimCourse, r.SurvivorCourse = view.Leaving(stage.IDs(victims)...), view.Courses(stage.IDs(survivors)...)
	return nil
}

// kill ends the victims and measures how long they are listed.
func (r *ForceDeleteResult) kill(ctx context.Context, view *stage.View, victims []*stage.Pod) error {
	start := time.Now()
	removals, err := dieAndBeForgotten(ctx, view, victims)
	if err != nil {
		return err
	}
	var acknowledged, killed time.Duration
	for _, removal := range removals {
		acknowledged = max(acknowledged, removal.listed.Sub(removal.acknowledged))
		killed = max(killed, removal.listed.Sub(start))
	}
	r.Acknowledged, r.Killed = append(r.Acknowledged, acknowledged), append(r.Killed, killed)
	return nil
}

// removal is when the API server acknowledged a deletion and when the first
// response without the instance had arrived.
type removal struct{ acknowledged, listed time.Time }

func dieAndBeForgotten(ctx context.Context, view *stage.View, victims []*stage.Pod) ([]removal, error) {
	forgotten := make([]*stage.Expecting, 0, len(victims))
	for _, v := range victims {
		forgotten = append(forgotten, view.ExpectStatus(stage.Gone, v.ID))
	}
	acknowledged, err := stage.Die(ctx, victims)
	if err != nil {
		return nil, err
	}
	removals := make([]removal, len(victims))
	for i, f := range forgotten {
		r, err := f.Wait(ctx)
		if err != nil {
			return nil, err
		}
		removals[i] = removal{acknowledged[i], r.End}
	}
	return removals, nil
}

// awaitDropped waits until the gateway calls none of the pods.
func awaitDropped(ctx context.Context, g *gateway.Gateway, pods []*stage.Pod) error {
	return stage.Until(ctx, "the gateway to drop the dead", func(context.Context) (bool, error) {
		for _, p := range pods {
			if g.DroppedAt(p.ID).IsZero() {
				return false, nil
			}
		}
		return true, nil
	})
}

func lastDropped(g *gateway.Gateway, pods []*stage.Pod) time.Time {
	var last time.Time
	for _, p := range pods {
		if at := g.DroppedAt(p.ID); at.After(last) {
			last = at
		}
	}
	return last
}

// Expectations implements Outcome.
func (r ForceDeleteResult) Expectations() []Expectation {
	return []Expectation{
		expect("the dead leave the registry at once, without a cancel", "UP > gone", r.VictimCourse),
		expect("the living stay UP in every response", "UP", r.SurvivorCourse),
		expect("nobody calls a dead instance that the gateway has dropped", 0, r.CallsAfter),
		expect("self-preservation is not engaged by proven deaths", false, r.Engaged),
	}
}

// Within are the expectations about time that the demo adds.
func (r ForceDeleteResult) Within() []Expectation {
	return []Expectation{
		expect("every removal takes less than a second", true, r.Killed.Max() < time.Second),
		expect("half of them take less than 100 ms", true, r.Killed.Median() < 100*time.Millisecond),
	}
}

// Facts implements Outcome.
func (r ForceDeleteResult) Facts() []Fact {
	return []Fact{
		fact("from the deletion's acknowledgement to the first response without it (0: before)", r.Acknowledged),
		fact("from the kill to the first response without it", r.Killed),
		fact("gateway stopped calling the dead (fetches every 5 s)", r.GatewayStopped),
		fact("calls to dead addresses", fmt.Sprintf("%d of %d", r.Calls.Dead, r.Calls.Total())),
		fact("self-preservation engaged", r.Engaged),
	}
}
