package stage

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kureka/kureka/test/rig/gateway"
)

// Gone stands for the absence of an instance in its course.
const Gone = "gone"

// View is what every response of the registry says about one application. Its
// methods may be called from several goroutines.
type View struct {
	*gateway.Prober
	// Timeline is told what changes, App is the application.
	Timeline *Timeline
	App      string

	mu        sync.Mutex
	muted     bool
	last      map[string]string
	sightings map[string][]Sighting
	garbled   int
}

// Sighting is the first response that shows an instance in another status.
type Sighting struct {
	Status string // or Gone
	At     time.Time
}

// StartView reads an application all the time until the stage closes. check, which
// may be nil, is called with every response and must not block.
func (s *Stage) StartView(ctx context.Context, app string, check func(gateway.Response)) *View {
	v := &View{Timeline: s.Timeline, App: app, sightings: map[string][]Sighting{}}
	v.Prober = gateway.StartProber(ctx, gateway.ProberOptions{
		Registry: s.Operator.URL(),
		App:      app,
		Source:   s.proberSource(),
		Interval: s.plan.ReadEvery,
		Check: func(r gateway.Response) {
			v.take(r)
			if check != nil {
				check(r)
			}
		},
	})
	s.OnClose(v.Stop)
	return v
}

// take notes what a response changes.
func (v *View) take(r gateway.Response) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !r.Listed {
		if r.Code == 200 {
			v.garbled++
		}
		return
	}
	changed := map[string][]string{}
	for id, status := range r.Statuses {
		if v.last[id] != status {
			v.sight(id, status, r.End)
			changed[status] = append(changed[status], id)
		}
	}
	for id := range v.last {
		if _, listed := r.Statuses[id]; !listed {
			v.sight(id, Gone, r.End)
			changed[Gone] = append(changed[Gone], id)
		}
	}
	v.last = r.Statuses
	if v.muted {
		return
	}
	for _, status := range slices.Sorted(maps.Keys(changed)) {
		v.Timeline.At(r.End, "registry", "%s: %s (%d UP)", status, v.names(changed[status]), r.UpCount())
	}
}

// Mute keeps further changes out of the timeline; they are noted all the same.
func (v *View) Mute() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.muted = true
}

// names lists instances by what tells them apart.
func (v *View) names(ids []string) string {
	names := make([]string, 0, len(ids))
	for _, id := range ids {
		names = append(names, strings.TrimSuffix(id, fmt.Sprintf(":%s:%d", v.App, InstancePort)))
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return strings.Join(names, " ")
}

// sight is called with the lock held.
func (v *View) sight(id, status string, at time.Time) {
	v.sightings[id] = append(v.sightings[id], Sighting{status, at})
}

// Course is the sequence of statuses that responses showed an instance in, for
// example "UP > OUT_OF_SERVICE > gone"; "never listed" if none did.
func (v *View) Course(id string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.sightings[id]) == 0 {
		return "never listed"
	}
	var statuses []string
	for _, s := range v.sightings[id] {
		statuses = append(statuses, s.Status)
	}
	return strings.Join(statuses, " > ")
}

// Leaving is the course without the OUT_OF_SERVICE right before the end: how long
// an object still exists that is being removed by force, and whether a response
// falls into that time, is a matter of milliseconds.
func (v *View) Leaving(ids ...string) string {
	courses := make([]string, 0, len(ids))
	for _, id := range ids {
		courses = append(courses, strings.Replace(v.Course(id), " > OUT_OF_SERVICE > gone", " > gone", 1))
	}
	return distinct(courses)
}

// Courses are the different courses of several instances.
func (v *View) Courses(ids ...string) string {
	courses := make([]string, 0, len(ids))
	for _, id := range ids {
		courses = append(courses, v.Course(id))
	}
	return distinct(courses)
}

// First returns when a response first showed an instance in a status, the zero
// time if none did.
func (v *View) First(id, status string) time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, s := range v.sightings[id] {
		if s.Status == status {
			return s.At
		}
	}
	return time.Time{}
}

// Garbled counts responses with code 200 that were no document.
func (v *View) Garbled() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.garbled
}

// Expecting waits for a response; see gateway.Prober.Expect.
type Expecting struct {
	*gateway.Expectation
	what string
	view *View
}

// ExpectStatus begins to wait for all instances to be in a status, which may be
// Gone.
func (v *View) ExpectStatus(status string, ids ...string) *Expecting {
	matches := func(r gateway.Response) bool {
		for _, id := range ids {
			if status == Gone && !r.Lacks(id) || status != Gone && r.Statuses[id] != status {
				return false
			}
		}
		return r.Listed
	}
	return v.ExpectThat(fmt.Sprintf("%s of %s", status, strings.Join(ids, " ")), matches)
}

// ExpectThat begins to wait for a response that matches; what says what for.
func (v *View) ExpectThat(what string, matches func(gateway.Response) bool) *Expecting {
	return &Expecting{v.Expect(matches), what, v}
}

// Wait returns the response once it has come.
func (e *Expecting) Wait(ctx context.Context) (gateway.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	r, err := e.Expectation.Wait(ctx)
	if err != nil {
		return r, fmt.Errorf("waiting for %s, last seen %v: %w", e.what, e.view.Last().Statuses, err)
	}
	return r, nil
}

// AwaitStatus waits for all instances to be in a status, which may be Gone.
func (v *View) AwaitStatus(ctx context.Context, status string, ids ...string) (gateway.Response, error) {
	return v.ExpectStatus(status, ids...).Wait(ctx)
}

// distinct joins the different values of a list, for a one-line comparison.
func distinct(values []string) string {
	values = slices.Clone(values)
	slices.Sort(values)
	return strings.Join(slices.Compact(values), "; ")
}
