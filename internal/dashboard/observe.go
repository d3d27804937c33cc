package dashboard

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kureka/kureka/internal/cluster"
)

// observeReport tells what would have been done where the policy only observes,
// and what became of it.
type observeReport struct {
	Since    *time.Time       `json:"since,omitempty"`
	Reasons  []observedReason `json:"reasons"`
	Findings []finding        `json:"findings"`
}

// observedReason sums up the findings of one reason.
type observedReason struct {
	Reason string `json:"reason"`
	Effect string `json:"effect"`
	Class  string `json:"class"`
	Found  int    `json:"found"`
	// What became of them; the rest is open.
	Contradicted int `json:"contradicted"`
	Withdrawn    int `json:"withdrawn"`
	Confirmed    int `json:"confirmed"`
}

type finding struct {
	change
	Outcome   string     `json:"outcome,omitempty"`
	SettledAt *time.Time `json:"settledAt,omitempty"`
}

func (a *api) observe(w http.ResponseWriter, q url.Values) {
	limit, problem := limitOf(q)
	for key := range q {
		if key != "limit" && key != "since" && key != paramNamespace {
			problem = "filters are since, namespace and limit"
		}
	}
	since, ok := momentOrAgo(q.Get("since"), a.Clock())
	if !ok {
		problem = "since is a time such as 2026-11-30T08:00:00Z, or how long ago, such as 24h"
	}
	if problem != "" {
		a.fail(w, http.StatusBadRequest, problem)
		return
	}
	found := findingsSince(a.View, since, q.Get(paramNamespace))
	out := observeReport{Since: moment(since), Reasons: reasonsOf(found), Findings: make([]finding, 0, min(limit, len(found)))}
	for _, f := range found[:min(limit, len(found))] {
		out.Findings = append(out.Findings, findingOf(f))
	}
	a.write(w, http.StatusOK, out)
}

// findingsSince returns the findings of a namespace, of all if it is empty.
func findingsSince(v View, since time.Time, namespace string) []cluster.Finding {
	found := v.Findings(since)
	if namespace == "" {
		return found
	}
	return slices.DeleteFunc(found, func(f cluster.Finding) bool { return f.Namespace != namespace })
}

func findingOf(f cluster.Finding) finding {
	return finding{change: changeOf(f.Change), Outcome: string(f.Outcome), SettledAt: moment(f.SettledAt)}
}

// momentOrAgo reads a time or how long ago it was; the zero time for nothing.
func momentOrAgo(text string, now time.Time) (time.Time, bool) {
	if text == "" {
		return time.Time{}, true
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, true
	}
	d, err := time.ParseDuration(text)
	return now.Add(-d), err == nil && d >= 0
}

// reasonsOf sums up findings, those with the most contradictions first.
func reasonsOf(found []cluster.Finding) []observedReason {
	type group struct {
		reason string
		effect cluster.Effect
	}
	sums := map[group]*observedReason{}
	for _, f := range found {
		g := group{f.Reason, f.Effect}
		if sums[g] == nil {
			sums[g] = &observedReason{Reason: f.Reason, Effect: string(f.Effect), Class: f.Class.String()}
		}
		sums[g].add(f.Outcome)
	}
	out := make([]observedReason, 0, len(sums))
	for _, r := range sums {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b observedReason) int {
		return cmp.Or(cmp.Compare(b.Contradicted, a.Contradicted), cmp.Compare(b.Found, a.Found),
			strings.Compare(a.Reason, b.Reason), strings.Compare(a.Effect, b.Effect))
	})
	return out
}

func (r *observedReason) add(outcome cluster.Effect) {
	r.Found++
	switch outcome {
	case cluster.Contradicted:
		r.Contradicted++
	case cluster.Withdrawn:
		r.Withdrawn++
	case cluster.Confirmed:
		r.Confirmed++
	default: // open
	}
}
