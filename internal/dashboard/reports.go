package dashboard

import (
	"strings"

	"github.com/kureka/kureka/internal/cluster"
)

// changesEach and findingsEach are how many rows their pages have at most.
const changesEach, findingsEach = 200, 200

// timeline is what the page of changes shows: the newest that match.
type timeline struct {
	App, ID, Namespace, Pod, Node, Reason string
	Changes                               []change
	Full                                  bool // there may be more
}

func (p *pages) changes(q question) page {
	out := timeline{}
	fields := map[string]*string{
		paramApp: &out.App, paramID: &out.ID, paramNamespace: &out.Namespace, "pod": &out.Pod, "node": &out.Node, paramReason: &out.Reason,
	}
	for key, field := range fields {
		*field = q.query.Get(key)
	}
	out.Changes = changesOf(p.View.Changes(changesEach, func(ch cluster.Change) bool {
		for key, want := range fields {
			if *want != "" && !strings.EqualFold(*want, filters[key](ch)) {
				return false
			}
		}
		return true
	}))
	out.Full = len(out.Changes) == changesEach
	return page{name: "changes", title: "Changes", body: out}
}

// trialReport is what the page about mode Observe shows.
type trialReport struct {
	Since, Namespace string
	Problem          string
	Found            int
	Reasons          []observedReason
	Findings         []finding
}

func (p *pages) observe(q question) page {
	out := trialReport{Since: q.query.Get("since"), Namespace: q.query.Get(paramNamespace)}
	since, ok := momentOrAgo(out.Since, q.now)
	if !ok {
		out.Problem = "Write how long ago, such as 24h, or a time such as 2026-11-30T08:00:00Z; this shows everything."
	}
	found := findingsSince(p.View, since, out.Namespace)
	out.Found, out.Reasons = len(found), reasonsOf(found)
	for _, f := range found[:min(len(found), findingsEach)] {
		out.Findings = append(out.Findings, findingOf(f))
	}
	return page{name: "observe", title: "Observe", body: out}
}

func (p *pages) consumers(question) page {
	out := consumersOf(p.Consumers)
	out.Consumers = out.Consumers[:min(len(out.Consumers), rowsEach)]
	return page{name: "consumers", title: "Consumers", body: out}
}

// outlook is what the page of the cluster shows.
type outlook struct {
	Watched    bool
	View       view
	Namespaces []namespace
}

func (p *pages) cluster(question) page {
	out := outlook{Watched: p.Watches != nil, View: viewOf(p.View.View()), Namespaces: worstFirst(namespacesOf(p.Registry.Partitions()))}
	if out.Watched {
		out.View.Watches = p.Watches()
	}
	return page{name: "cluster", title: "Cluster", body: out}
}

func (p *pages) lastN(question) page {
	return page{name: "lastn", title: "Last 1,000 since startup", body: lastNOf(p.Registry.Latest())}
}
