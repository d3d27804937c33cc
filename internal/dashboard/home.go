package dashboard

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/registry"
)

const (
	// These are how much the first page shows of what others show whole.
	causesEach, namespacesEach, momentsEach, newsEach = 5, 6, 8, 3
	// choicesEach bounds the namespaces that can be chosen from a list.
	choicesEach = 500
)

// home is what the first page shows.
type home struct {
	selection

	Total      int
	Version    int64 // of the registry
	Statuses   []share
	Causes     []tallied
	Changes    []change // the newest that evidence caused
	Renewals   renewals
	Namespaces []namespace // those to look at first
	Hidden     int         // namespaces that are not shown
	Choices    []string
	Watched    bool
	View       view
	Consumers  int
	Unknown    int // consumers that may be many
	Registered []registered
	Ended      []ended
	Started    time.Time
}

// share is how many instances have a status, and from where to where they reach in
// a bar of a thousand.
type share struct {
	Status     string
	Count      int
	From, Wide int
}

// renewals are the sums over all namespaces, per minute.
type renewals struct {
	Expected, Received, Threshold float64
	LastMinute                    int64
	Expiring                      bool // leases expire everywhere
}

func (p *pages) home(q question) page {
	snap, stats := p.Registry.Snapshot(), p.Registry.Partitions()
	came, left := p.Registry.Latest()
	latest := lastNOf(came[:min(len(came), momentsEach)], left[:min(len(left), momentsEach)])
	fetching := p.Consumers.Fetching()
	out := home{
		selection: choose(snap, filterOf(q.query)),
		Total:     snap.Len(), Version: snap.Version, Statuses: sharesOf(snap.Counts), Causes: causesOf(snap), Renewals: sumOf(stats),
		Changes: changesOf(p.View.Changes(newsEach, func(cluster.Change) bool { return true })),
		View:    viewOf(p.View.View()), Watched: p.Watches != nil, Consumers: fetching.Known, Unknown: fetching.Unknown,
		Registered: latest.Registered, Ended: latest.Ended, Started: p.Started,
	}
	out.Namespaces = worstFirst(namespacesOf(stats))
	for _, n := range stats[:min(len(stats), choicesEach)] {
		out.Choices = append(out.Choices, n.Name)
	}
	out.Hidden = max(0, len(out.Namespaces)-namespacesEach)
	out.Namespaces = out.Namespaces[:len(out.Namespaces)-out.Hidden]
	return page{name: "home", title: "Registry", body: out}
}

// Wanted is the namespace that a choice stands for in an address.
func (h home) Wanted(namespace string) string { return cmp.Or(namespace, outsidePods) }

// Known are the statuses there are.
func (h home) Known() []registry.Status { return statusOrder[:] }

// First and Last are the numbers of the rows shown, counted from one.
func (s selection) First() int {
	if s.Filter.View == byInstance {
		return (s.Filter.Page-1)*rowsEach + 1
	}
	return (s.Filter.Page-1)*appsEach + 1
}

// Last is the number of the last row shown.
func (s selection) Last() int { return s.First() - 1 + len(s.Rows) + len(s.Groups) }

// Listed is how many rows all pages have together.
func (s selection) Listed() int {
	if s.Filter.View == byInstance {
		return s.Matched
	}
	return s.Apps
}

// Before and After are the addresses of the neighbouring pages, "" if there is none.
func (s selection) Before() string {
	if s.Filter.Page <= 1 {
		return ""
	}
	return s.Filter.To("page", strconv.Itoa(s.Filter.Page-1))
}

// After is the address of the next page, "" if there is none.
func (s selection) After() string {
	if s.Filter.Page >= s.Pages {
		return ""
	}
	return s.Filter.To("page", strconv.Itoa(s.Filter.Page+1))
}

// statusOrder is how people read statuses, the good one first.
var statusOrder = [...]registry.Status{registry.Up, registry.OutOfService, registry.Down, registry.Starting, registry.Unknown}

func sharesOf(counts registry.Counts) []share {
	out := make([]share, 0, len(statusOrder))
	total := 0
	for _, n := range counts {
		total += n
	}
	at, seen := 0, 0
	for _, s := range statusOrder {
		n := counts.Of(s)
		seen += n
		end := seen * 1000 / max(1, total)
		out = append(out, share{Status: s.String(), Count: n, From: at, Wide: end - at})
		at = end
	}
	return out
}

// Shares are the statuses of an application.
func (g group) Shares() []share { return sharesOf(g.Counts) }

// causesOf counts what keeps instances out of service.
func causesOf(s *registry.Snapshot) []tallied {
	if s.Counts.Of(registry.Up) == s.Len() {
		return nil
	}
	counts := map[string]int{}
	for i := range s.All() {
		if i.Status != registry.Up {
			counts[causeOf(i)]++
		}
	}
	return most(counts, causesEach)
}

func compareTallied(a, b tallied) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Name, b.Name))
}

func sumOf(stats []registry.PartitionStats) renewals {
	out := renewals{Expiring: true}
	for _, s := range stats {
		out.Expected += s.Expected
		out.Received += s.Received
		out.Threshold += s.Threshold()
		out.LastMinute += s.LastMinute
		out.Expiring = out.Expiring && !s.Engaged
	}
	return out
}

// worstFirst sorts namespaces: those that hold leases, then those that are not
// guarded, then the largest.
func worstFirst(list []namespace) []namespace {
	rank := map[string]int{"Engaged": 0, "Disabled": 1, "Watching": 2}
	slices.SortStableFunc(list, func(a, b namespace) int {
		return cmp.Or(cmp.Compare(rank[a.SelfPreservation], rank[b.SelfPreservation]), cmp.Compare(b.Leases, a.Leases), strings.Compare(a.Name, b.Name))
	})
	return list
}

// Threshold is what self-preservation asks for, per minute.
func (n namespace) Threshold() float64 {
	return n.RenewalsExpectedPerMinute * float64(n.ThresholdPercent) / 100
}

// Reach is how many hundredths of what is expected is received.
func (n namespace) Reach() int {
	if n.RenewalsExpectedPerMinute == 0 {
		return 0
	}
	return min(100, int(n.RenewalsReceivedPerMinute*100/n.RenewalsExpectedPerMinute))
}

func addressOf(r *registry.Record) string {
	for _, port := range r.Ports() {
		return net.JoinHostPort(r.IPAddr, strconv.Itoa(port))
	}
	return r.IPAddr
}
