package incident

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/kureka/kureka/test/rig/gateway"
	"github.com/kureka/kureka/test/rig/instance"
	"github.com/kureka/kureka/test/rig/stage"
)

// Patience of a comparison: the whole of it takes little more.
const leaseOnlyLimit = 300 * time.Second

// LeaseOnlyResult is what LeaseOnly saw. Times are zero when the limit came
// first.
type LeaseOnlyResult struct {
	Instances, Victims int
	// Removal is the time from the deaths until the last victim was neither listed as
	// UP nor otherwise, GatewayStopped until the gateway called none of them.
	Removal, GatewayStopped time.Duration
	// StillListed is the number of victims listed at the end.
	StillListed int
	Calls       gateway.Calls
	Engaged     bool
	Survivors   string
}

// LeaseOnly is the same as ForceDelete for a registry that knows nothing but
// heartbeats, with the stock timers of clients: renewals every 30 s, leases of
// 90 s, fetches every 30 s. It gives up after five minutes.
func LeaseOnly(ctx context.Context, rig *stage.Rig, timeline *stage.Timeline) (result LeaseOnlyResult, err error) {
	result.Instances, result.Victims = 12, 4
	operator, err := rig.StartStandalone(ctx, "lease-only")
	if err != nil {
		return result, err
	}
	defer operator.Kill()
	// Without a namespace it has no pods, and its instances are outside all namespaces.
	s := stage.Outside(stage.Setting{Rig: rig, Operator: operator, Timeline: timeline})
	defer s.Close(ctx)
	var all []*instance.Process
	for i := range result.Instances {
		p, err := s.StartLoose(i, instance.Config{App: "orders", HostName: fmt.Sprintf("orders-%d", i+1)})
		if err != nil {
			return result, err
		}
		all = append(all, p)
	}
	view := s.StartView(ctx, "orders", nil)
	if _, err := view.AwaitStatus(ctx, "UP", looseIDs(all)...); err != nil {
		return result, err
	}
	engaged := s.WatchEngaged(ctx)
	g := s.StartGateway(ctx, "orders", 30*time.Second)
	if err := stage.Pass(ctx, 2*time.Second); err != nil {
		return result, err
	}

	s.TellRenewals(ctx)
	timeline.Mark("4 of 12 processes are killed; nobody cancels")
	deaths, victims := time.Now(), all[:result.Victims]
	for _, p := range victims {
		p.Kill()
	}
	ctx, cancel := context.WithDeadline(ctx, deaths.Add(leaseOnlyLimit))
	defer cancel()
	s.TellRenewals(ctx)
	if r, err := view.ExpectStatus(stage.Gone, looseIDs(victims)...).Expectation.Wait(ctx); err == nil {
		result.Removal = r.End.Sub(deaths)
	}
	result.GatewayStopped = awaitStopped(ctx, g, victims, deaths)
	s.TellRenewals(context.WithoutCancel(ctx))
	last := view.Last()
	for _, p := range victims {
		if !last.Lacks(p.Config.ID()) {
			result.StillListed++
		}
	}
	result.Calls, result.Engaged = g.Calls(), engaged()
	result.Survivors = view.Courses(looseIDs(all[result.Victims:])...)
	return result, nil
}

func looseIDs(all []*instance.Process) []string {
	out := make([]string, 0, len(all))
	for _, p := range all {
		out = append(out, p.Config.ID())
	}
	return out
}

// awaitStopped returns how long after the deaths the gateway stopped calling the
// dead, 0 if it did not before ctx ended.
func awaitStopped(ctx context.Context, g *gateway.Gateway, dead []*instance.Process, deaths time.Time) time.Duration {
	ticker := time.NewTicker(stage.Poll)
	defer ticker.Stop()
	for {
		var last time.Time
		all := true
		for _, p := range dead {
			at := g.DroppedAt(p.Config.ID())
			all = all && !at.IsZero()
			if at.After(last) {
				last = at
			}
		}
		if all {
			return last.Sub(deaths)
		}
		select {
		case <-ctx.Done():
			return 0
		case <-ticker.C:
		}
	}
}

// Comparison is one line of the incident seen side by side.
type Comparison struct{ What, Ours, LeaseOnly string }

// Compare puts both side by side.
func Compare(ours ForceDeleteResult, lease LeaseOnlyResult) []Comparison {
	within := func(d time.Duration, otherwise string) string {
		if d == 0 {
			return otherwise
		}
		return round(d).String()
	}
	limit := fmt.Sprintf("after %d s", int(leaseOnlyLimit.Seconds()))
	calls := func(c gateway.Calls) string { return fmt.Sprintf("%d of %d", c.Dead, c.Total()) }
	return []Comparison{
		{"registry forgot the 4 dead", round(ours.Killed[0]).String(), within(lease.Removal, fmt.Sprintf("still listed %s (%d of %d)", limit, lease.StillListed, lease.Victims))},
		{"gateway stopped calling them", round(ours.GatewayStopped).String(), within(lease.GatewayStopped, "still calling them "+limit)},
		{"calls to dead addresses", calls(ours.Calls), calls(lease.Calls)},
		{"self-preservation engaged", strconv.FormatBool(ours.Engaged), strconv.FormatBool(lease.Engaged)},
		{"gateway fetches every", "5 s", "30 s"},
	}
}
