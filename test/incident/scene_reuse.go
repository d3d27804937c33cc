package incident

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/kureka/kureka/test/rig/gateway"
	"github.com/kureka/kureka/test/rig/instance"
	"github.com/kureka/kureka/test/rig/stage"
)

// ReuseResult is what AddressReuse saw.
type ReuseResult struct {
	Victim, Others, Heir string
	// Both counts responses that still listed the victim after the heir was listed.
	Both int
	// KnewBoth says that the gateway called the victim when it knew the heir.
	KnewBoth bool
	// Wrong is the number of calls that the heir got in place of the victim.
	// CalledAfter says that one of these began after the gateway had dropped the
	// victim.
	Wrong       int
	CalledAfter bool
	// Answered is the number of calls that the right application answered.
	Answered int
}

// AddressReuse gives the address of a pod that died abruptly to a pod of another
// service at once, while a gateway has not yet heard of the death.
func AddressReuse(ctx context.Context, set stage.Setting) (result ReuseResult, err error) {
	s, err := stage.New(ctx, set, stage.Plan{Name: "reuse", Nodes: 1})
	if err != nil {
		return result, err
	}
	defer s.Close(ctx)
	pods, err := s.CreateMany(ctx, 1, 3, instance.Config{App: "stock"})
	if err != nil {
		return result, err
	}
	victim := pods[0]
	var heirListed atomic.Pointer[time.Time]
	var both atomic.Int32
	view := s.StartView(ctx, "stock", func(r gateway.Response) {
		at := heirListed.Load()
		if _, listed := r.Statuses[victim.ID]; listed && at != nil && r.Start.After(*at) {
			both.Add(1)
		}
	})
	if _, err := view.AwaitStatus(ctx, "UP", stage.IDs(pods)...); err != nil {
		return result, err
	}
	g := s.StartGateway(ctx, "stock", fetchEvery)
	if err := stage.Pass(ctx, time.Second); err != nil {
		return result, err
	}
	heir, err := bequeath(ctx, s, victim)
	if err != nil {
		return result, err
	}
	reports := s.StartView(ctx, "reports", nil)
	r, err := reports.AwaitStatus(ctx, "UP", heir.ID)
	if err != nil {
		return result, err
	}
	heirListed.Store(&r.End)
	if err := result.followCalls(ctx, s, g, victim, heir); err != nil {
		return result, err
	}
	result.Both = int(both.Load())
	result.Victim, result.Others = view.Leaving(victim.ID), view.Courses(stage.IDs(pods[1:])...)
	result.Heir = reports.Course(heir.ID)
	return result, nil
}

// bequeath ends a pod abruptly and creates one of another service with its
// address.
func bequeath(ctx context.Context, s *stage.Stage, victim *stage.Pod) (heir *stage.Pod, err error) {
	address := victim.Process().Config.Address.Addr()
	s.Timeline.Mark("%s dies abruptly; a pod of another service gets its address, %s", victim.Name, address)
	if _, err := stage.Die(ctx, []*stage.Pod{victim}); err != nil {
		return nil, err
	}
	// If its registration comes before the API shows whose address that is now, it is
	// taken for the dead one's, and only its next heartbeat tells it to register.
	return s.Create(ctx, stage.PodSpec{
		Name:     "reports-1",
		Instance: instance.Config{App: "reports", RenewalInterval: 2 * time.Second},
		Address:  address.String(),
	})
}

// followCalls counts the calls that go to the heir until some time after the
// gateway was told of it.
func (r *ReuseResult) followCalls(ctx context.Context, s *stage.Stage, g *gateway.Gateway, victim, heir *stage.Pod) error {
	knows := func(context.Context) (bool, error) { return g.Knows("reports", heir.ID), nil }
	if err := stage.Until(ctx, "the gateway to be told of the new pod", knows); err != nil {
		return err
	}
	dropped := g.DroppedAt(victim.ID)
	r.KnewBoth = dropped.IsZero()
	s.Timeline.Add("gateway", "knows the new pod; %d calls for stock had gone to it", g.Calls().Wrong)
	if err := stage.Pass(ctx, 2*time.Second); err != nil { // in which it could call it again
		return err
	}
	calls := g.Calls()
	r.Wrong, r.Answered = calls.Wrong, calls.OK
	r.CalledAfter = g.CallsTo(victim.ID).LastWrong.After(dropped)
	return nil
}

// Expectations implements Outcome.
func (r ReuseResult) Expectations() []Expectation {
	return []Expectation{
		expect("the dead instance is gone", "UP > gone", r.Victim),
		expect("the new pod's instance is listed", "UP", r.Heir),
		expect("no response lists both", 0, r.Both),
		expect("the gateway does not know both", false, r.KnewBoth),
		expect("once told of the new pod, the gateway sends it none of the other service's calls", false, r.CalledAfter),
		expect("the others stay UP in every response", "UP", r.Others),
	}
}

// Facts implements Outcome.
func (r ReuseResult) Facts() []Fact {
	return []Fact{
		fact("calls answered by another service (gateway fetches every 5 s)",
			fmt.Sprintf("%d of %d, all before the gateway fetched", r.Wrong, r.Wrong+r.Answered)),
	}
}
