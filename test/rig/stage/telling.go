package stage

import (
	"context"
	"sync/atomic"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TellEvents adds the operator's Events in the stage's namespace to the timeline
// until stop is called or the stage closes. Events may be lost, so nothing depends
// on them.
func (s *Stage) TellEvents(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	events, err := s.Rig.Client.EventsV1().Events(s.Namespace).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		s.Timeline.Add("api", "no Events: %v", err)
		cancel()
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range events.ResultChan() {
			if event, ok := e.Object.(*eventsv1.Event); ok {
				s.Timeline.At(event.EventTime.Time, "event", "%s on %s: %s", event.Reason, event.Regarding.Name, event.Note)
			}
		}
	}()
	stop = func() {
		events.Stop()
		cancel()
		<-done
	}
	s.OnClose(stop)
	return stop
}

// TellRenewals adds to the timeline what self-preservation sees.
func (s *Stage) TellRenewals(ctx context.Context) {
	expected, received, err := s.Operator.Renewals(ctx, s.Namespace)
	if err != nil {
		s.Timeline.Add("registry", "no figures: %v", err)
		return
	}
	s.Timeline.Add("registry", "self-preservation expects %.0f renewals a minute here and gets %.0f", expected, received)
}

// WatchEngaged notes until the stage closes whether self-preservation was ever
// engaged for the stage's namespace.
func (s *Stage) WatchEngaged(ctx context.Context) (ever func() bool) {
	var engaged atomic.Bool
	s.Every(ctx, 100*time.Millisecond, func(ctx context.Context) {
		now, err := s.Operator.Engaged(ctx, s.Namespace)
		if err == nil && now && !engaged.Swap(true) {
			s.Timeline.Add("registry", "self-preservation is engaged and holds all leases")
			s.TellRenewals(ctx)
		}
	})
	return engaged.Load
}
