package incident

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/kureka/kureka/test/rig/gateway"
	"github.com/kureka/kureka/test/rig/instance"
)

// ReuseResult is what AddressReuse saw.
type ReuseResult struct {
	Victim, Others, Heir string
	// Both counts responses that still listed the victim after the heir was listed.
	Both int
	// KnewBoth says that the gateway called the victim when it knew the heir.
	KnewBoth bool
	// Wrong is the number of calls that the heir got in place of the victim, WrongAfter
	// how many of these began after the gateway had been told of the heir.
	Wrong, WrongAfter int
	// Answered is the number of calls that the right application answered.
	Answered int
}

// AddressReuse gives the address of a pod that died abruptly to a pod of another
// service at once, while a gateway has not yet heard of the death.
func AddressReuse(ctx context.Context, set Setting) (result ReuseResult, err error) {
	s, err := NewStage(ctx, set, "reuse", 1)
	if err != nil {
		return result, err
	}
	defer s.Close()
	config := instance.Config{App: "stock"}
	pods, err := s.CreateMany(ctx, 1, 3, config)
	if err != nil {
		return result, err
	}
	victim := pods[0]
	var heirListed atomic.Pointer[time.Time]
	var both atomic.Int32
	view := s.StartView(config.App, func(r gateway.Response) {
		at := heirListed.Load()
		if _, listed := r.Statuses[victim.ID]; listed && at != nil && r.Start.After(*at) {
			both.Add(1)
		}
	})
	if _, err := view.AwaitStatus(ctx, "UP", ids(pods)...); err != nil {
		return result, err
	}
	g := s.StartGateway(config.App)
	if err := pass(ctx, time.Second); err != nil {
		return result, err
	}
	address := victim.Process().Config.Address

	set.Timeline.Mark("%s dies abruptly; a pod of another service gets its address, %s", victim.Name, address.Addr())
	if _, err := Die(ctx, []*Pod{victim}); err != nil {
		return result, err
	}
	// If its registration comes before the API shows whose address that is now, it is
	// taken for the dead one's, and only its next heartbeat tells it to register.
	heir, err := s.Create(ctx, PodSpec{
		Name:     "reports-1",
		Instance: instance.Config{App: "reports", RenewalInterval: 2 * time.Second},
		Address:  address.Addr().String(),
	})
	if err != nil {
		return result, err
	}
	reports := s.StartView("reports", nil)
	r, err := reports.AwaitStatus(ctx, "UP", heir.ID)
	if err != nil {
		return result, err
	}
	heirListed.Store(&r.End)
	knows := func(context.Context) (bool, error) { return g.Knows("reports", heir.ID), nil }
	if err := until(ctx, "the gateway to be told of the new pod", knows); err != nil {
		return result, err
	}
	dropped := g.DroppedAt(victim.ID)
	result.KnewBoth = dropped.IsZero()
	set.Timeline.Add("gateway", "knows the new pod; %d calls for stock had gone to it", g.Calls().Wrong)
	if err := pass(ctx, 2*time.Second); err != nil { // in which it could call it again
		return result, err
	}
	calls := g.Calls()
	if g.CallsTo(victim.ID).LastWrong.After(dropped) {
		result.WrongAfter++
	}
	result.Wrong, result.Answered, result.Both = calls.Wrong, calls.OK, int(both.Load())
	result.Victim, result.Others = view.Leaving(victim.ID), view.Courses(ids(pods[1:])...)
	result.Heir = reports.Course(heir.ID)
	return result, nil
}

// Expectations implements Outcome.
func (r ReuseResult) Expectations() []Expectation {
	return []Expectation{
		expect("the dead instance is gone", "UP > gone", r.Victim),
		expect("the new pod's instance is listed", "UP", r.Heir),
		expect("no response lists both", 0, r.Both),
		expect("the gateway does not know both", false, r.KnewBoth),
		expect("once told of the new pod, the gateway sends it none of the other service's calls", 0, r.WrongAfter),
		expect("the others stay UP in every response", "UP", r.Others),
	}
}

// Facts implements Outcome.
func (r ReuseResult) Facts() []Fact {
	return []Fact{
		fact("calls answered by another service (gateway fetches every 5 s)",
			fmt.Sprintf("%d of %d before the gateway fetched, 0 after", r.Wrong, r.Wrong+r.Answered)),
	}
}
