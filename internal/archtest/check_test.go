package archtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const module = "github.com/kureka/kureka"

// graph maps the import path of each of the module's packages to the import
// paths of what its product code, without tests, imports.
type graph map[string][]string

// check returns one line per forbidden chain of imports, sorted. Chains of more
// than one step appear for pure packages only: everywhere else the step that
// breaks its own row says it all.
func check(rows []row, g graph) []string {
	var found []string
	for _, path := range slices.Sorted(maps.Keys(g)) {
		r, ok := rowOf(rows, path)
		if !ok {
			found = append(found, short(path)+": has no row in the table, so nothing says what it may import")
			continue
		}
		if r.open {
			continue
		}
		for _, imp := range g[path] {
			if why := r.forbids(imp); why != "" {
				found = append(found, chain(why, path, imp))
			}
		}
		if r.pure {
			found = append(found, impureChains(g, path, r.libs)...)
		}
	}
	slices.Sort(found)
	return found
}

// impureChains walks from a pure package through the module and reports each
// impure import it reaches behind at least one other package. The libraries of its
// own row it may reach that way, too.
func impureChains(g graph, from string, libs []string) []string {
	var found []string
	seen := map[string]bool{from: true}
	queue := [][]string{{from}}
	for len(queue) > 0 {
		walked := queue[0]
		queue = queue[1:]
		for _, imp := range g[walked[len(walked)-1]] {
			next := append(slices.Clone(walked), imp)
			if why := (row{pure: true, libs: libs}).forbidsOutside(imp); why != "" && !isOwn(imp) && len(walked) > 1 {
				found = append(found, chain(why, next...))
			}
			if isOwn(imp) && !seen[imp] {
				seen[imp] = true
				queue = append(queue, next)
			}
		}
	}
	return found
}

// rowOf finds the row of a package: its own or that of the nearest package above it.
func rowOf(rows []row, path string) (row, bool) {
	var best row
	for _, r := range rows {
		if below(short(path), r.pkg) && len(r.pkg) > len(best.pkg) {
			best = r
		}
	}
	return best, best.pkg != ""
}

// forbids returns why a package of this row may not import path, or "".
func (r row) forbids(path string) string {
	if !isOwn(path) {
		return r.forbidsOutside(path)
	}
	own := short(path)
	if below(own, r.pkg) || slices.ContainsFunc(r.may, func(m string) bool { return below(own, m) }) {
		return ""
	}
	if len(r.may) == 0 {
		return r.pkg + " may import nothing of this module"
	}
	return fmt.Sprintf("%s may import only %s", r.pkg, strings.Join(r.may, ", "))
}

func (r row) forbidsOutside(path string) string {
	if !isStandard(path) {
		if slices.ContainsFunc(r.libs, func(l string) bool { return below(path, l) }) {
			return ""
		}
		return "this library is not in its row"
	}
	for _, bad := range impurities() {
		if r.pure && below(path, bad.pkg) {
			return bad.why
		}
	}
	return ""
}

func chain(why string, paths ...string) string {
	steps := make([]string, len(paths))
	for i, p := range paths {
		steps[i] = short(p)
	}
	return strings.Join(steps, " -> ") + ": " + why
}

func below(path, top string) bool { return path == top || strings.HasPrefix(path, top+"/") }

func isOwn(path string) bool { return below(path, module) }

// isStandard relies on the rule that a path of another module begins with a host name.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

func short(path string) string { return strings.TrimPrefix(path, module+"/") }
