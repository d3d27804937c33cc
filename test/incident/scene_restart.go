package incident

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/kureka/kureka/test/rig/gateway"
	"github.com/kureka/kureka/test/rig/instance"
	"github.com/kureka/kureka/test/rig/stage"
)

// RestartResult is what OperatorRestart saw.
type RestartResult struct {
	Instances int
	// Living is the course of the instances in all responses that listed any, before
	// and after the restart.
	Living string
	// Lacking counts responses that listed instances but not all living ones, Garbled
	// responses with code 200 that were no document.
	Lacking, Garbled int
	// FewestCalled is the smallest number of instances the gateway called at any time
	// between the kill and the death of one of them.
	FewestCalled int
	// Returned counts the instances that came back by a heartbeat answered 404 and a
	// registration.
	Returned int
	// Ghost is the course of an instance that had died before the kill and whose
	// process wants back, GhostTried says that it tried after the restart.
	Ghost      string
	GhostTried bool
	// Victim is the course of an instance that died after the restart.
	Victim string
	// Silent is the time from the kill to the first list, Removal that from the
	// acknowledgement of the victim's deletion to the first response without it.
	Silent, Removal time.Duration
	// Failed is the number of calls that failed between the kill and that death.
	Failed int
}

// OperatorRestart kills an operator of its own with kill -9 under load and starts
// it again with the automatic start gate. It keeps nothing on disk, so all
// instances have to come back by themselves; they renew every 10, 30 and 45 s.
func OperatorRestart(ctx context.Context, set stage.Setting) (result RestartResult, err error) {
	result.Instances = 12
	if set.Operator, err = set.Rig.StartManager(ctx, stage.OperatorOptions{Name: "kureka-restarted", Gate: "Off"}); err != nil {
		return result, err
	}
	defer set.Operator.Kill()
	s, err := stage.New(ctx, set, stage.Plan{Name: "restart", Nodes: 3})
	if err != nil {
		return result, err
	}
	defer s.Close(ctx)
	r := &restart{Stage: s}
	if err := r.prepare(ctx); err != nil {
		return result, err
	}
	if err := r.restart(ctx, &result); err != nil {
		return result, err
	}
	set.Timeline.Mark("a pod dies abruptly after the restart")
	victim := r.pods[0]
	removals, err := dieAndBeForgotten(ctx, r.view, []*stage.Pod{victim})
	if err != nil {
		return result, err
	}
	result.Removal = removals[0].listed.Sub(removals[0].acknowledged)
	result.Victim, result.Ghost = r.view.Leaving(victim.ID), r.view.Leaving(r.ghost.ID)
	result.Garbled = r.view.Garbled()
	return result, nil
}

// restart is the stage of OperatorRestart.
type restart struct {
	*stage.Stage
	pods    []*stage.Pod
	ghost   *stage.Pod
	view    *stage.View
	gateway *gateway.Gateway

	required atomic.Pointer[[]string] // what every list must have as UP
	lacking  atomic.Int32
}

const restartApp = "accounts"

// prepare has all instances running, one of them dead already.
func (r *restart) prepare(ctx context.Context) (err error) {
	for i, seconds := range []int{10, 30, 45} {
		config := instance.Config{App: restartApp, RenewalInterval: time.Duration(seconds) * time.Second}
		config.LeaseDuration = 3 * config.RenewalInterval
		more, err := r.CreateMany(ctx, 1+4*i, 4, config)
		if err != nil {
			return err
		}
		r.pods = append(r.pods, more...)
	}
	r.ghost, err = r.Create(ctx, stage.PodSpec{Name: "ghost", Instance: instance.Config{
		App: restartApp, RenewalInterval: time.Second, RegisterEvery: 2, OnTerm: instance.Ignore,
	}})
	if err != nil {
		return err
	}
	r.KeepOrphans(true)
	r.view = r.StartView(ctx, restartApp, r.check)
	if _, err := r.view.AwaitStatus(ctx, "UP", append(stage.IDs(r.pods), r.ghost.ID)...); err != nil {
		return err
	}
	if _, err := forceDeleted(ctx, r.view, r.ghost); err != nil {
		return err
	}
	r.gateway = r.StartGateway(ctx, restartApp, fetchEvery)
	return nil
}

func (r *restart) check(response gateway.Response) {
	required := r.required.Load()
	if required == nil || !response.Listed {
		return
	}
	if slices.ContainsFunc(*required, func(id string) bool { return !response.Up(id) }) {
		r.lacking.Add(1)
	}
}

// restart kills the operator and starts it again, and returns when the gateway has
// fetched from it.
func (r *restart) restart(ctx context.Context, result *RestartResult) error {
	living := stage.IDs(r.pods)
	r.required.Store(&living)
	defer r.required.Store(nil)
	var fewest atomic.Int32
	fewest.Store(int32(len(r.gateway.Up())))
	stop := r.Every(ctx, stage.Poll, func(context.Context) { fewest.Store(min(fewest.Load(), int32(len(r.gateway.Up())))) })

	r.Timeline.Mark("kill -9 of the operator")
	kill, before := time.Now(), r.gateway.Calls()
	r.Operator.Kill()
	if err := stage.Pass(ctx, time.Second); err != nil {
		return err
	}
	if err := r.Operator.Start(ctx, "Auto"); err != nil {
		return err
	}
	r.Timeline.Add("operator", "runs again, with nothing but what it is told from now on; lists are refused for a while")
	listed, err := awaitList(ctx, r.view.Expect(func(r gateway.Response) bool { return r.Listed }))
	if err != nil {
		return err
	}
	r.Timeline.At(listed.End, "registry", "lists again: %d UP", listed.UpCount())
	if err := stage.Pass(ctx, 7*time.Second); err != nil { // in which the gateway fetches
		return err
	}
	stop()
	result.Silent = listed.End.Sub(kill)
	result.FewestCalled, result.Failed = int(fewest.Load()), r.gateway.Calls().Failed()-before.Failed()
	for _, p := range r.pods {
		if cameBack(p.Process(), kill) {
			result.Returned++
		}
	}
	result.GhostTried = registeredSince(r.ghost.Process(), kill)
	result.Living, result.Lacking = r.view.Courses(living...), int(r.lacking.Load())
	return nil
}

// awaitList waits for the end of the start gate, which can be longer than any
// other wait.
func awaitList(ctx context.Context, listed *gateway.Expectation) (gateway.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*stage.Patience)
	defer cancel()
	return listed.Wait(ctx)
}

// cameBack reports whether a process was told since t that it is unknown and then
// registered.
func cameBack(p *instance.Process, t time.Time) bool {
	unknown := false
	for _, e := range p.Events() {
		switch {
		case e.At.Before(t):
		case e.Op == instance.Renewed && e.Code == 404:
			unknown = true
		case e.Op == instance.Registered && e.Accepted() && unknown:
			return true
		}
	}
	return false
}

func registeredSince(p *instance.Process, t time.Time) bool {
	for _, e := range p.Events() {
		if e.Op == instance.Registered && e.Accepted() && e.At.After(t) {
			return true
		}
	}
	return false
}

// Expectations implements Outcome.
func (r RestartResult) Expectations() []Expectation {
	return []Expectation{
		expect("no list lacks a living instance", 0, r.Lacking),
		expect("every answer with code 200 is a document", 0, r.Garbled),
		expect("the living are UP in every list, before and after", "UP", r.Living),
		expect("the gateway never calls fewer instances than before", r.Instances, r.FewestCalled),
		expect("all instances come back by a heartbeat answered 404 and a registration", r.Instances, r.Returned),
		expect("an instance that died before does not come back", "UP > gone", r.Ghost),
		expect("though its process tries", true, r.GhostTried),
		expect("a death after the restart is seen by the watch", true, strings.HasSuffix(r.Victim, stage.Gone)),
	}
}

// Facts implements Outcome.
func (r RestartResult) Facts() []Fact {
	return []Fact{
		fact("lists refused after kill -9 of the operator", r.Silent),
		fact("fewest instances the gateway called meanwhile", fmt.Sprintf("%d of %d; %d calls failed", r.FewestCalled, r.Instances, r.Failed)),
		fact("registry forgot a dead instance after the restart", r.Removal),
	}
}
