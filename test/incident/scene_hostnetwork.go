package incident

import (
	"context"
	"time"

	"github.com/kureka/kureka/test/rig/instance"
	"github.com/kureka/kureka/test/rig/stage"
)

// HostNetworkResult is what HostNetwork saw.
type HostNetworkResult struct {
	First, Second, Third string
	// Heard says that the first instance renewed after the second one's death.
	Heard bool
}

// HostNetwork starts a second host-network pod on a node, kills it and starts a
// third one on its port. All three share the node's address.
func HostNetwork(ctx context.Context, set stage.Setting) (result HostNetworkResult, err error) {
	s, err := stage.New(ctx, set, stage.Plan{Name: "host-network", Nodes: 1})
	if err != nil {
		return result, err
	}
	defer s.Close(ctx)
	config := instance.Config{App: "edge", RenewalInterval: time.Second}
	// An instance on a node's address is listed before the API says whose pod it is,
	// so each pod is to be ready before anything is done to it.
	create := func(name string, port uint16) (*stage.Pod, error) {
		p, err := s.Create(ctx, stage.PodSpec{Name: name, Instance: config, Port: port, HostNetwork: true})
		if err == nil {
			err = p.AwaitReady(ctx)
		}
		return p, err
	}
	first, err := create("edge-1", 9001)
	if err != nil {
		return result, err
	}
	view := s.StartView(ctx, config.App, nil)
	if _, err := view.AwaitStatus(ctx, "UP", first.ID); err != nil {
		return result, err
	}
	set.Timeline.Mark("a second host-network pod starts on the node")
	second, err := create("edge-2", 9002)
	if err != nil {
		return result, err
	}
	if _, err := view.AwaitStatus(ctx, "UP", second.ID); err != nil {
		return result, err
	}
	set.Timeline.Mark("the second one dies abruptly")
	if _, err := stage.Die(ctx, []*stage.Pod{second}); err != nil {
		return result, err
	}
	r, err := view.AwaitStatus(ctx, stage.Gone, second.ID)
	if err != nil {
		return result, err
	}
	result.Second = view.Leaving(second.ID)
	renews := func(context.Context) (bool, error) { return renewedSince(first.Process(), r.End), nil }
	if err := stage.Until(ctx, "the first one to renew", renews); err != nil {
		return result, err
	}
	result.Heard = true
	set.Timeline.Mark("a third one takes the second one's port")
	third, err := create("edge-3", 9002)
	if err != nil {
		return result, err
	}
	if _, err := view.AwaitStatus(ctx, "UP", third.ID); err != nil {
		return result, err
	}
	result.First, result.Third = view.Course(first.ID), view.Leaving(third.ID)
	return result, nil
}

func renewedSince(p *instance.Process, t time.Time) bool {
	for _, e := range p.Events() {
		if e.Op == instance.Renewed && e.Accepted() && e.At.After(t) {
			return true
		}
	}
	return false
}

// Expectations implements Outcome.
func (r HostNetworkResult) Expectations() []Expectation {
	return []Expectation{
		expect("the dead instance is gone", "UP > gone", r.Second),
		expect("its neighbour on the same address stays UP in every response", "UP", r.First),
		expect("and is heard", true, r.Heard),
		expect("a new pod can take the port, under the same id", "UP > gone > UP", r.Third),
	}
}

// Facts implements Outcome.
func (r HostNetworkResult) Facts() []Fact {
	return []Fact{fact("host-network neighbour of a dead pod", r.First+" throughout")}
}
