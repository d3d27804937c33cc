package incident

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/kureka/kureka/test/rig/gateway"
	"github.com/kureka/kureka/test/rig/instance"
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
func OperatorRestart(ctx context.Context, set Setting) (result RestartResult, err error) {
	result.Instances = 12
	if set.Operator, err = set.Rig.StartManager(ctx, "kureka-restarted", "Off"); err != nil {
		return result, err
	}
	defer set.Operator.Kill()
	s, err := NewStage(ctx, set, "restart", 3)
	if err != nil {
		return result, err
	}
	defer s.Close()
	pods, ghost, err := createForRestart(ctx, s)
	if err != nil {
		return result, err
	}
	var required atomic.Pointer[[]string] // what every list must have as UP
	var lacking, fewest atomic.Int32
	view := s.StartView(restartApp, func(r gateway.Response) {
		if living := required.Load(); r.Listed && living != nil && !allUp(r, *living) {
			lacking.Add(1)
		}
	})
	if _, err := view.AwaitStatus(ctx, "UP", ids(append(pods, ghost))...); err != nil {
		return result, err
	}
	s.KeepOrphans(true)
	if _, err := forceDeleted(ctx, view, ghost); err != nil {
		return result, err
	}
	g := s.StartGateway(restartApp)
	fewest.Store(int32(len(g.Up())))
	living := ids(pods)
	required.Store(&living)
	sample := s.every(poll, func() { fewest.Store(min(fewest.Load(), int32(len(g.Up())))) })

	set.Timeline.Mark("kill -9 of the operator")
	kill, before := time.Now(), g.Calls()
	set.Operator.Kill()
	if err := pass(ctx, time.Second); err != nil {
		return result, err
	}
	if err := set.Operator.Start(ctx, "Auto"); err != nil {
		return result, err
	}
	set.Timeline.Add("operator", "runs again, with nothing but what it is told from now on; lists are refused for a while")
	listed := view.Expect(func(r gateway.Response) bool { return r.Listed })
	r, err := awaitList(ctx, listed)
	if err != nil {
		return result, err
	}
	result.Silent = r.End.Sub(kill)
	set.Timeline.At(r.End, "registry", "lists again: %d UP", r.UpCount())
	if err := pass(ctx, 7*time.Second); err != nil { // in which the gateway fetches
		return result, err
	}
	sample()
	result.FewestCalled, result.Failed = int(fewest.Load()), g.Calls().Failed()-before.Failed()
	for _, p := range pods {
		if cameBack(p.Process(), kill) {
			result.Returned++
		}
	}
	result.GhostTried = registeredSince(ghost.Process(), kill)
	result.Living = view.Courses(living...)

	set.Timeline.Mark("a pod dies abruptly after the restart")
	required.Store(nil)
	removals, err := dieAndBeForgotten(ctx, view, pods[:1])
	if err != nil {
		return result, err
	}
	result.Removal = removals[0].listed.Sub(removals[0].acknowledged)
	result.Victim, result.Ghost = view.Leaving(pods[0].ID), view.Leaving(ghost.ID)
	result.Lacking, result.Garbled = int(lacking.Load()), view.Garbled()
	return result, nil
}

const restartApp = "accounts"

func createForRestart(ctx context.Context, s *Stage) (pods []*Pod, ghost *Pod, err error) {
	for i, seconds := range []int{10, 30, 45} {
		config := instance.Config{App: restartApp, RenewalInterval: time.Duration(seconds) * time.Second}
		config.LeaseDuration = 3 * config.RenewalInterval
		more, err := s.CreateMany(ctx, 1+4*i, 4, config)
		if err != nil {
			return nil, nil, err
		}
		pods = append(pods, more...)
	}
	ghost, err = s.Create(ctx, PodSpec{Name: "ghost", Instance: instance.Config{
		App: restartApp, RenewalInterval: time.Second, RegisterEvery: 2, OnTerm: instance.Ignore,
	}})
	return pods, ghost, err
}

// awaitList waits for the end of the start gate, which can be longer than any
// other wait.
func awaitList(ctx context.Context, listed *gateway.Expectation) (gateway.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	return listed.Wait(ctx)
}

func allUp(r gateway.Response, ids []string) bool {
	for _, id := range ids {
		if !r.Up(id) {
			return false
		}
	}
	return true
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
		expect("a death after the restart is seen by the watch", true, strings.HasSuffix(r.Victim, gone)),
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
