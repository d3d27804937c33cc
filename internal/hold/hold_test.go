package hold

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/consumers"
	"github.com/kureka/kureka/internal/registry"
)

// world has a pod with an instance, a consumer that fetches every ten seconds, and a
// load balancer's cache of twenty.
type world struct {
	t        *testing.T
	registry *registry.Engine
	tracker  *consumers.Tracker
	stopping chan struct{}
	h        *Handler

	mu   sync.Mutex
	deaf bool // the watches deliver nothing
	pods []cluster.Ending
	done []Outcome
}

const fetchEvery, cacheLasts = 10 * time.Second, 20 * time.Second

// beforeLook is a moment before a hold looks again: at the same one nobody knows who
// comes first.
const beforeLook = 10 * time.Millisecond

var instance = registry.Key{App: "SHOP", ID: "a"}

// play runs a test in a world whose clock only moves while everybody waits.
func play(t *testing.T, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, registry: registry.New(time.Now(), registry.Options{}), stopping: make(chan struct{})}
		w.tracker = consumers.New(w.registry.Snapshot(), consumers.Options{PodAt: func(netip.Addr) string { return "shop/consumer" }})
		w.h = New(Options{
			Pods: w, Registry: w.registry, Consumers: w.tracker, CacheLifetime: func(string) time.Duration { return cacheLasts },
			Clock: time.Now, Stopping: w.stopping,
			Done: func(out Outcome, _ time.Duration) {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.done = append(w.done, out)
			},
		})
		w.set(registry.Up)
		w.pods = []cluster.Ending{{Namespace: "shop", Name: "a", Instances: []registry.Key{instance}}}
		ctx, cancel := context.WithCancel(t.Context())
		go w.consume(ctx)
		w.pass(2*time.Minute + 50*time.Millisecond) // everybody is known, and has just fetched
		f(w)
		cancel()
		synctest.Wait()
	})
}

// pass lets time pass.
func (w *world) pass(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.t.Context().Done():
	}
}

// consume fetches the registry and has the tracker look at it.
func (w *world) consume(ctx context.Context) {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for n := 0; ; n++ {
		if n%int(fetchEvery/(100*time.Millisecond)) == 0 {
			w.tracker.Fetched(time.Now(), netip.MustParseAddr("192.0.2.1"), "client", w.registry.Snapshot().Version)
		}
		w.tracker.Tick(time.Now(), w.registry.Snapshot())
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (w *world) Endings(token string) []cluster.Ending {
	w.mu.Lock()
	defer w.mu.Unlock()
	if token != "t" {
		return nil
	}
	return append([]cluster.Ending(nil), w.pods...)
}

func (w *world) HeardSince(time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.deaf
}

func (w *world) deafen(is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deaf = is
}

func (w *world) set(s registry.Status) {
	w.registry.Register(time.Now(), registry.Caller{}, &registry.Record{App: instance.App, ID: instance.ID, Status: s}, registry.Binding{})
}

// remove deletes the pod with a grace period, which takes its instance out of service.
func (w *world) remove(grace time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pods[0].Since, w.pods[0].Grace = time.Now(), grace
	w.set(registry.OutOfService)
}

func (w *world) vanish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pods = nil
}

// asked is a preStop request on its way.
type asked struct {
	begun time.Time
	ended chan time.Duration
	resp  *httptest.ResponseRecorder
	stop  context.CancelFunc
}

func (w *world) ask(path string) *asked {
	ctx, cancel := context.WithCancel(w.t.Context())
	q := &asked{begun: time.Now(), ended: make(chan time.Duration, 1), resp: httptest.NewRecorder(), stop: cancel}
	go func() {
		w.h.ServeHTTP(q.resp, httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
		q.ended <- time.Since(q.begun)
	}()
	return q
}

// want checks how a request ends, and when to half a second more and a tenth less.
func (w *world) want(q *asked, out Outcome, after time.Duration) {
	w.t.Helper()
	took := <-q.ended
	var said struct{ Outcome Outcome }
	if err := json.Unmarshal(q.resp.Body.Bytes(), &said); err != nil {
		w.t.Fatalf("%v in %q", err, q.resp.Body)
	}
	if said.Outcome != out || took < after-100*time.Millisecond || took > after+500*time.Millisecond {
		w.t.Errorf("%s after %v, want %s after %v", said.Outcome, took, out, after)
	}
	if w.h.Held() != 0 {
		w.t.Errorf("%d are held", w.h.Held())
	}
}

func TestAPodIsHeldUntilItsConsumersKnowAndTheirCachesHavePassed(t *testing.T) {
	play(t, func(w *world) {
		w.pass(4 * time.Second) // the next fetch is six seconds away
		w.remove(120 * time.Second)
		w.want(w.ask(Path("t", 90, 30)), Learned, 6*time.Second+cacheLasts+margin)
		// A kubelet that was restarted asks again, for the time that is left.
		w.want(w.ask(Path("t", 90, 30)), Learned, 0)
	})
}

func TestADeletionMayBeSeenALittleLater(t *testing.T) {
	play(t, func(w *world) {
		q := w.ask(Path("t", 90, 30))
		w.pass(1500 * time.Millisecond)
		w.remove(120 * time.Second)
		w.want(q, Learned, fetchEvery+cacheLasts+margin)
	})
}

func TestAPodThatIsNotDeletedIsHardlyHeld(t *testing.T) {
	play(t, func(w *world) {
		w.want(w.ask(Path("t", 90, 30)), NotEnding, noticeWithin)
		q := w.ask(Path("nobody", 90, 30))
		w.want(q, Unknown, noticeWithin)
		if q.resp.Code != http.StatusNotFound {
			t.Errorf("status %d", q.resp.Code)
		}
	})
}

// While the watches deliver nothing, nobody knows whether the pod is deleted.
func TestAPodIsHeldWhileNobodyKnowsWhetherItEnds(t *testing.T) {
	play(t, func(w *world) {
		w.deafen(true)
		w.want(w.ask(Path("t", 40, 30)), Limit, 40*time.Second)
		q := w.ask(Path("t", 90, 30))
		w.pass(20*time.Second - beforeLook)
		w.deafen(false)
		w.want(q, NotEnding, 20*time.Second)
		w.deafen(true)
		q = w.ask(Path("t", 90, 30))
		w.pass(10*time.Second - beforeLook)
		w.deafen(false)
		w.remove(120 * time.Second)
		w.want(q, Learned, 20*time.Second+cacheLasts+margin)
	})
}

func TestTheEndOfAHoldIsBounded(t *testing.T) {
	for name, tc := range map[string]struct {
		path         string
		grace, after time.Duration
	}{
		"by what the hook says":                         {Path("t", 15, 30), 45 * time.Second, 15 * time.Second},
		"by the grace period, less what the pod needs":  {Path("t", 90, 30), 50 * time.Second, 25 * time.Second},
		"by a longer one, less what the pod needs":      {Path("t", 90, 30), 75 * time.Second, 45 * time.Second},
		"by half of a grace period that was shortened":  {Path("t", 90, 30), 10 * time.Second, 5 * time.Second},
		"at once without any":                           {Path("t", 90, 30), 0, 0},
		"by what is usual if the hook says nothing":     {Prefix + "t", 600 * time.Second, usualLimit * time.Second},
		"by what is usual if the hook is no number":     {Prefix + "t?seconds=x&grace=y", 600 * time.Second, usualLimit * time.Second},
		"by nothing less than zero":                     {Prefix + "t?seconds=-5", 600 * time.Second, 0},
		"by ten minutes, whatever the hook says":        {Prefix + "t?seconds=99999", 7200 * time.Second, maxLimit * time.Second},
		"by what the hook says, with a grace of nobody": {Path("t", 15, 0), 600 * time.Second, 15 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(w *world) {
				w.remove(tc.grace)
				w.set(registry.Up) // the last one of its application may stay
				w.want(w.ask(tc.path), Limit, tc.after)
			})
		})
	}
}

func TestAHoldEndsWhenThereIsNothingToWaitForAnyMore(t *testing.T) {
	play(t, func(w *world) {
		w.remove(120 * time.Second)
		q := w.ask(Path("t", 90, 30))
		w.pass(3 * time.Second)
		w.vanish()
		w.want(q, Ended, 3*time.Second)
	})
	play(t, func(w *world) {
		w.remove(120 * time.Second)
		q := w.ask(Path("t", 90, 30))
		w.pass(3 * time.Second)
		q.stop() // the kubelet has gone
		w.want(q, HungUp, 3*time.Second)
	})
	play(t, func(w *world) {
		w.remove(120 * time.Second)
		q := w.ask(Path("t", 90, 30))
		w.pass(3 * time.Second)
		close(w.stopping)
		w.want(q, Stopping, 3*time.Second)
		if q.resp.Code != http.StatusServiceUnavailable {
			t.Errorf("status %d", q.resp.Code)
		}
	})
}

func TestAPodWithoutAnInstanceIsHeldForAFetchAndACache(t *testing.T) {
	play(t, func(w *world) {
		w.remove(120 * time.Second)
		w.pass(time.Minute)
		w.mu.Lock()
		w.pods[0].Instances = nil // its client has cancelled
		w.mu.Unlock()
		w.registry.Cancel(time.Now(), registry.Caller{}, instance)
		w.want(w.ask(Path("t", 90, 0)), Learned, fetchEvery+cacheLasts+margin)
	})
}

func TestAnInstanceThatIsBackInServiceIsWaitedForAnew(t *testing.T) {
	play(t, func(w *world) {
		w.remove(300 * time.Second)
		q := w.ask(Path("t", 200, 30))
		w.pass(25 * time.Second)
		w.set(registry.Up)
		w.pass(25 * time.Second)
		w.set(registry.OutOfService)
		w.want(q, Learned, 60*time.Second+cacheLasts+margin)
	})
}

func TestTwoPodsWithOneTokenAreWaitedForBoth(t *testing.T) {
	play(t, func(w *world) {
		w.remove(120 * time.Second)
		w.mu.Lock()
		w.pods = append(w.pods, cluster.Ending{Namespace: "shop", Name: "copy", Since: time.Now(), Grace: 60 * time.Second, Instances: []registry.Key{{App: "SHOP", ID: "b"}}})
		w.mu.Unlock()
		w.registry.Register(time.Now(), registry.Caller{}, &registry.Record{App: "SHOP", ID: "b", Status: registry.Up}, registry.Binding{})
		w.want(w.ask(Path("t", 90, 10)), Limit, 50*time.Second)
	})
}

func TestOnlySoManyAreHeld(t *testing.T) {
	play(t, func(w *world) {
		w.remove(120 * time.Second)
		all := make([]*asked, maxHeld)
		for i := range all {
			all[i] = w.ask(Path("t", 90, 30))
		}
		synctest.Wait()
		if w.h.Held() != maxHeld {
			t.Errorf("%d are held", w.h.Held())
		}
		one := w.ask(Path("t", 90, 30))
		<-one.ended
		if one.resp.Code != http.StatusServiceUnavailable || !strings.Contains(one.resp.Body.String(), string(Busy)) {
			t.Errorf("one more: %d %s", one.resp.Code, one.resp.Body)
		}
		for _, q := range all {
			<-q.ended
		}
		if len(w.done) != maxHeld+1 || w.h.Held() != 0 {
			t.Errorf("%d have ended, %d are held", len(w.done), w.h.Held())
		}
	})
}

func TestBadRequestsAreTurnedAway(t *testing.T) {
	play(t, func(w *world) {
		for path, want := range map[string]int{
			Prefix: http.StatusNotFound, Prefix + "a/b": http.StatusNotFound, Prefix + strings.Repeat("x", maxToken+1): http.StatusNotFound,
		} {
			resp := httptest.NewRecorder()
			w.h.ServeHTTP(resp, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
			if resp.Code != want {
				t.Errorf("%s: %d, want %d", path, resp.Code, want)
			}
		}
		resp := httptest.NewRecorder()
		w.h.ServeHTTP(resp, httptest.NewRequestWithContext(t.Context(), http.MethodPost, Prefix+"t", nil))
		if resp.Code != http.StatusMethodNotAllowed || resp.Header().Get("Allow") != http.MethodGet {
			t.Errorf("POST: %d", resp.Code)
		}
		if len(w.done) != 0 {
			t.Errorf("%v", w.done)
		}
	})
}
