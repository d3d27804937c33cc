package incident

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kureka/kureka/test/rig/instance"
	"github.com/kureka/kureka/test/rig/stage"
)

// spotTaint is what the AWS node termination handler puts on a node whose spot
// instance will be reclaimed.
const spotTaint = "aws-node-termination-handler/spot-itn"

// NoticeResult is what SpotNotice saw.
type NoticeResult struct {
	// Doomed is the course of the instances on the tainted node, Others that of the
	// rest.
	Doomed, Others string
	// Out is the time from the taint to the first response without a doomed instance
	// in service, Back that from the end of the taint until all were back.
	Out, Back time.Duration
}

// SpotNotice puts the notice of a spot reclaim on one of two nodes and takes it
// away again.
func SpotNotice(ctx context.Context, set stage.Setting) (result NoticeResult, err error) {
	s, err := stage.New(ctx, set, stage.Plan{Name: "spot-notice", Nodes: 2})
	if err != nil {
		return result, err
	}
	defer s.Close(ctx)
	config := instance.Config{App: "search"}
	pods, err := s.CreateMany(ctx, 0, 6, config) // those with even numbers on the first node
	if err != nil {
		return result, err
	}
	view := s.StartView(ctx, config.App, nil)
	if _, err := view.AwaitStatus(ctx, "UP", stage.IDs(pods)...); err != nil {
		return result, err
	}
	var doomed, others []*stage.Pod
	for i, p := range pods {
		if i%2 == 0 {
			doomed = append(doomed, p)
		} else {
			others = append(others, p)
		}
	}

	set.Timeline.Mark("%s gets the taint %s", s.Nodes[0].Name, spotTaint)
	out := view.ExpectStatus("OUT_OF_SERVICE", stage.IDs(doomed)...)
	taint := corev1.Taint{Key: spotTaint, Value: "notice", Effect: corev1.TaintEffectNoSchedule}
	if err := s.Nodes[0].AddTaint(ctx, taint); err != nil {
		return result, err
	}
	acknowledged := time.Now()
	r, err := out.Wait(ctx)
	if err != nil {
		return result, err
	}
	result.Out = r.End.Sub(acknowledged)

	set.Timeline.Mark("the taint is taken away: the reclaim was called off")
	back := view.ExpectStatus("UP", stage.IDs(doomed)...)
	if err := s.Nodes[0].RemoveTaint(ctx, spotTaint); err != nil {
		return result, err
	}
	acknowledged = time.Now()
	if r, err = back.Wait(ctx); err != nil {
		return result, err
	}
	result.Back = r.End.Sub(acknowledged)
	result.Doomed, result.Others = view.Courses(stage.IDs(doomed)...), view.Courses(stage.IDs(others)...)
	return result, nil
}

// Expectations implements Outcome.
func (r NoticeResult) Expectations() []Expectation {
	return []Expectation{
		expect("instances on the node are out of service while it has the taint", "UP > OUT_OF_SERVICE > UP", r.Doomed),
		expect("all others stay UP in every response", "UP", r.Others),
	}
}

// Facts implements Outcome.
func (r NoticeResult) Facts() []Fact {
	return []Fact{
		fact("out of service after a spot notice", r.Out),
		fact("back after it was called off", r.Back),
	}
}
