package incident

import (
	"context"
	"errors"
	"time"

	"github.com/kureka/kureka/test/rig/instance"
	"github.com/kureka/kureka/test/rig/stage"
)

// CrashResult is what ContainerCrash saw.
type CrashResult struct {
	Course, Others string
	// SamePod says that the pod was restarted and not replaced.
	SamePod bool
	// OutBeforeHeard says that the instance was out of service before its new process
	// had said anything, BackAfterHeard that it came back only after that.
	OutBeforeHeard, BackAfterHeard bool
	// Out and Back are the times from the crash until the instance was out of service
	// and until it was back.
	Out, Back time.Duration
}

// ContainerCrash kills the process of one of three pods. The kubelet restarts it
// in the same pod, with the same address.
func ContainerCrash(ctx context.Context, set stage.Setting) (result CrashResult, err error) {
	s, err := stage.New(ctx, set, stage.Plan{Name: "crash", Nodes: 1})
	if err != nil {
		return result, err
	}
	defer s.Close(ctx)
	config := instance.Config{App: "mail"}
	pods, err := s.CreateMany(ctx, 1, 3, config)
	if err != nil {
		return result, err
	}
	view := s.StartView(ctx, config.App, nil)
	if _, err := view.AwaitStatus(ctx, "UP", stage.IDs(pods)...); err != nil {
		return result, err
	}
	crashing := pods[0]
	before := crashing.Process()

	set.Timeline.Mark("the process of %s is killed", crashing.Name)
	crash := time.Now()
	out := view.ExpectStatus("OUT_OF_SERVICE", crashing.ID)
	crashing.Kill()
	r, err := out.Wait(ctx)
	if err != nil {
		return result, err
	}
	result.Out = r.End.Sub(crash)
	if r, err = view.AwaitStatus(ctx, "UP", crashing.ID); err != nil {
		return result, err
	}
	result.Back = r.End.Sub(crash)
	now := crashing.Process()
	if now == before {
		return result, errors.New("the instance is back without a new process")
	}
	// A response can be here before the process has told us of its registration.
	told := func(context.Context) (bool, error) { return !firstAccepted(now).IsZero(), nil }
	if err := stage.Until(ctx, "the new process to be heard", told); err != nil {
		return result, err
	}
	heard := firstAccepted(now)
	set.Timeline.At(heard, "instance", "the new process was heard")
	pod, err := crashing.Get(ctx)
	if err != nil {
		return result, err
	}
	result.SamePod = pod != nil && pod.Status.ContainerStatuses[0].RestartCount == 1
	result.OutBeforeHeard = view.First(crashing.ID, "OUT_OF_SERVICE").Before(heard)
	result.BackAfterHeard = r.End.After(listening(now)) // before which it says nothing
	result.Course, result.Others = view.Course(crashing.ID), view.Courses(stage.IDs(pods[1:])...)
	return result, nil
}

// firstAccepted is when a process first got an answer to an UP, listening when it
// began to listen; zero if it did not.
func firstAccepted(p *instance.Process) time.Time {
	for _, e := range p.Events() {
		if e.Accepted() {
			return e.At
		}
	}
	return time.Time{}
}

func listening(p *instance.Process) time.Time {
	for _, e := range p.Events() {
		if e.Op == instance.Listening {
			return e.At
		}
	}
	return time.Time{}
}

// Expectations implements Outcome.
func (r CrashResult) Expectations() []Expectation {
	return []Expectation{
		expect("the instance is out of service while its container is down", "UP > OUT_OF_SERVICE > UP", r.Course),
		expect("that begins before the new process says anything", true, r.OutBeforeHeard),
		expect("and ends only once it has said something", true, r.BackAfterHeard),
		expect("in the same pod", true, r.SamePod),
		expect("the others stay UP in every response", "UP", r.Others),
	}
}

// Facts implements Outcome.
func (r CrashResult) Facts() []Fact {
	return []Fact{
		fact("out of service after a crash (the kubelet takes 0.7 s to notice)", r.Out),
		fact("back in service", r.Back),
	}
}
