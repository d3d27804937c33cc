package dashboard

import (
	"slices"
	"time"

	"github.com/kureka/kureka/internal/registry"
)

// selection is the part of the registry that one page shows.
type selection struct {
	Filter  filter
	Matched int // instances
	Apps    int // applications of those
	Rows    []row
	Groups  []group
	Pages   int
}

// row is one instance in a list.
type row struct {
	App, ID, Status, Reason, Override string
	Namespace, Node, Address          string
	Renewed                           time.Time // zero for instances that are kept for their pods
	Since                             time.Time // of the last change that clients saw
}

// group is one application in a list.
type group struct {
	App        string
	Total      int
	Counts     registry.Counts
	Zones      []tallied
	Namespaces []string
	// Members are some of the instances, those that are not UP first; More is how many
	// there are besides.
	Members []row
	More    int

	up    []row
	zones map[string]int
}

// tallied is how often something occurs.
type tallied struct {
	Name  string
	Count int
}

const (
	// membersEach is how many instances of an application are named, namesEach how many
	// of its namespaces and zones.
	membersEach = 4
	namesEach   = 4
)

// choose goes once through the snapshot. A page beyond the last is the last.
func choose(s *registry.Snapshot, f filter) selection {
	out := collect(s, f)
	if f.Page > out.Pages {
		f.Page = out.Pages
		out = collect(s, f)
	}
	return out
}

func collect(s *registry.Snapshot, f filter) selection {
	out := selection{Filter: f}
	m := f.matcher()
	var current *group
	app := ""
	for i := range all(s, f.App) {
		if !m.matches(i) {
			continue
		}
		if out.Matched == 0 || i.App != app {
			app = i.App
			current = out.open(app)
		}
		if f.View == byInstance && out.Matched/rowsEach == f.Page-1 {
			out.Rows = append(out.Rows, rowOf(i))
		}
		if current != nil {
			current.add(i)
		}
		out.Matched++
	}
	for i := range out.Groups {
		out.Groups[i].finish()
	}
	size, total := appsEach, out.Apps
	if f.View == byInstance {
		size, total = rowsEach, out.Matched
	}
	out.Pages = max(1, (total+size-1)/size)
	return out
}

// all yields the instances of one application, or of all.
func all(s *registry.Snapshot, app string) func(func(*registry.Instance) bool) {
	if app != "" {
		return s.App(app)
	}
	return s.All()
}

// open begins an application and returns its group if the page shows it. The last
// one returned is valid until the next call.
func (s *selection) open(app string) *group {
	s.Apps++
	if s.Filter.View != byApplication || (s.Apps-1)/appsEach != s.Filter.Page-1 {
		return nil
	}
	s.Groups = append(s.Groups, group{App: app, zones: map[string]int{}})
	return &s.Groups[len(s.Groups)-1]
}

func (g *group) add(i *registry.Instance) {
	g.Total++
	g.Counts[i.Status-1]++
	if z := zoneOf(i); z != "" {
		g.zones[z]++
	}
	if !slices.Contains(g.Namespaces, i.Partition) && len(g.Namespaces) <= namesEach {
		g.Namespaces = append(g.Namespaces, i.Partition)
	}
	list := &g.Members
	if i.Status == registry.Up {
		list = &g.up
	}
	if len(*list) < membersEach {
		*list = append(*list, rowOf(i))
	}
}

func (g *group) finish() {
	g.Members = append(g.Members, g.up...)
	g.Members = g.Members[:min(len(g.Members), membersEach)]
	g.More = g.Total - len(g.Members)
	g.Zones = most(g.zones, namesEach)
}

// most returns the most frequent of what was counted.
func most(counts map[string]int, limit int) []tallied {
	out := make([]tallied, 0, len(counts))
	for name, n := range counts {
		out = append(out, tallied{name, n})
	}
	slices.SortFunc(out, compareTallied)
	return out[:min(len(out), limit)]
}

func rowOf(i *registry.Instance) row {
	out := row{
		App: i.App, ID: i.ID, Status: i.Status.String(), Reason: causeOf(i), Override: i.Override.String(),
		Namespace: i.Partition, Node: i.Node, Address: addressOf(i.Record), Since: time.UnixMilli(i.UpdatedMS),
	}
	if !i.Kept {
		out.Renewed = time.UnixMilli(i.LastRenewalMS())
	}
	return out
}

// zoneOf is the zone that the client, or Kureka for its pod, has told.
func zoneOf(i *registry.Instance) string {
	for _, pairs := range [][]registry.Pair{i.DataCenter.Metadata, i.Metadata} {
		for _, p := range pairs {
			if p.Key == "availability-zone" || p.Key == "zone" {
				return p.Value
			}
		}
	}
	return ""
}
