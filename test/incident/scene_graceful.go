package incident

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kureka/kureka/test/rig/gateway"
	"github.com/kureka/kureka/test/rig/instance"
	"github.com/kureka/kureka/test/rig/stage"
)

// GracefulResult is what GracefulDelete saw.
type GracefulResult struct {
	// Cancels and Vanishes are about the instance that deregisters and the one that
	// tells nobody.
	Cancels, Vanishes GracefulEnd
	SurvivorCourse    string
	// Calls are those of the gateway over the whole scene.
	Calls gateway.Calls
}

// GracefulEnd is the end of one instance whose pod is deleted with a grace
// period.
type GracefulEnd struct {
	Course string
	// OutOfService is the time from the acknowledgement of the deletion to the first
	// response that does not list the instance as UP.
	OutOfService time.Duration
	// OutBeforeExit says that this was before the process ended, GoneBeforeObject
	// that the registry forgot the instance before the API server forgot the pod.
	OutBeforeExit, GoneBeforeObject bool
	// Failed is the number of calls it did not answer.
	Failed int
}

// GracefulDelete deletes two of four pods, one after the other. Both stop
// listening at SIGTERM, as frameworks do, and need three seconds to end; one
// deregisters, the other tells nobody. There are no preStop hooks.
func GracefulDelete(ctx context.Context, set stage.Setting) (result GracefulResult, err error) {
	s, err := stage.New(ctx, set, stage.Plan{Name: "graceful", Nodes: 1})
	if err != nil {
		return result, err
	}
	defer s.Close(ctx)
	config := instance.Config{App: "billing", OnTerm: instance.Cancel, Linger: 3 * time.Second}
	pods, err := s.CreateMany(ctx, 1, 3, config)
	if err != nil {
		return result, err
	}
	config.OnTerm = instance.Vanish
	silent, err := s.CreateMany(ctx, 4, 1, config)
	if err != nil {
		return result, err
	}
	view := s.StartView(ctx, config.App, nil)
	if _, err := view.AwaitStatus(ctx, "UP", stage.IDs(slices.Concat(pods, silent))...); err != nil {
		return result, err
	}
	g := s.StartGateway(ctx, config.App, fetchEvery)
	set.Timeline.Mark("a pod is deleted; it stops listening at SIGTERM and deregisters")
	if result.Cancels, err = endGracefully(ctx, view, g, pods[0]); err != nil {
		return result, err
	}
	set.Timeline.Mark("a pod is deleted; it stops listening at SIGTERM and tells nobody")
	if result.Vanishes, err = endGracefully(ctx, view, g, silent[0]); err != nil {
		return result, err
	}
	result.SurvivorCourse = view.Courses(stage.IDs(pods[1:])...)
	result.Calls = g.Calls()
	return result, nil
}

func endGracefully(ctx context.Context, view *stage.View, g *gateway.Gateway, p *stage.Pod) (end GracefulEnd, err error) {
	out := view.ExpectThat("the instance not being UP", func(r gateway.Response) bool { return r.Listed && !r.Up(p.ID) })
	acknowledged, err := p.Delete(ctx)
	if err != nil {
		return end, err
	}
	exited := make(chan time.Time, 1)
	go func() {
		<-p.Process().Done()
		exited <- time.Now()
	}()
	r, err := out.Wait(ctx)
	if err != nil {
		return end, err
	}
	end.OutOfService = r.End.Sub(acknowledged)
	if err := p.AwaitGone(ctx); err != nil {
		return end, err
	}
	objectGone := time.Now()
	view.Timeline.At(objectGone, "api", "%s is gone", p.Name)
	if _, err := view.AwaitStatus(ctx, stage.Gone, p.ID); err != nil {
		return end, err
	}
	if err := awaitDropped(ctx, g, []*stage.Pod{p}); err != nil {
		return end, err
	}
	end.Failed = g.CallsTo(p.ID).Failed()
	view.Timeline.Add("gateway", "%d calls to %s failed", end.Failed, p.Name)
	end.Course = view.Course(p.ID)
	end.OutBeforeExit = r.End.Before(<-exited)
	end.GoneBeforeObject = view.First(p.ID, stage.Gone).Before(objectGone)
	return end, nil
}

// Expectations implements Outcome.
func (r GracefulResult) Expectations() []Expectation {
	return []Expectation{
		expect("without a word it is OUT_OF_SERVICE until its pod is gone", "UP > OUT_OF_SERVICE > gone", r.Vanishes.Course),
		expect("that begins while its process still runs", true, r.Vanishes.OutBeforeExit),
		expect("a client that deregisters is UP no more while its process still runs", true, r.Cancels.OutBeforeExit),
		expect("and gone before its pod is", true, r.Cancels.GoneBeforeObject),
		expect("and does not come back", true, strings.HasSuffix(r.Cancels.Course, stage.Gone)),
		expect("the others stay UP in every response", "UP", r.SurvivorCourse),
	}
}

// Facts implements Outcome.
func (r GracefulResult) Facts() []Fact {
	return []Fact{
		fact("not UP after a delete, deregistering", r.Cancels.OutOfService),
		fact("not UP after a delete, silent", r.Vanishes.OutOfService),
		fact("failed calls (no preStop hook, gateway fetches every 5 s)",
			fmt.Sprintf("%d deregistering, %d silent, of %d", r.Cancels.Failed, r.Vanishes.Failed, r.Calls.Total())),
	}
}
