package gateway

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

const statusUp = "UP"

type key struct{ app, id string }

// cache is a client's copy of the registry.
type cache map[key]Instance

// replace takes a full fetch.
func (c cache) replace(all applications) error {
	clear(c)
	return c.put(all, func(w wireInstance) bool { return true })
}

// apply takes a delta the way the Java clients do: what was added or modified
// replaces, what was deleted goes. It reports whether the copy then has the hash
// of the registry; if not, everything has to be fetched again.
func (c cache) apply(delta applications) (agrees bool, err error) {
	err = c.put(delta, func(w wireInstance) bool { return w.Action != "DELETED" })
	return c.hash() == delta.Hash, err
}

// put goes through a document in its order and keeps or drops each instance.
func (c cache) put(all applications, keep func(wireInstance) bool) error {
	for _, app := range all.Applications {
		for _, w := range app.Instances {
			in, err := w.instance()
			if err != nil {
				return err
			}
			if keep(w) {
				c[key{in.App, in.ID}] = in
			} else {
				delete(c, key{in.App, in.ID})
			}
		}
	}
	return nil
}

// hash is NAME_count_ for each status that occurs, in alphabetical order.
func (c cache) hash() string {
	counts := map[string]int{}
	for _, in := range c {
		counts[in.Status]++
	}
	var b strings.Builder
	for _, status := range slices.Sorted(maps.Keys(counts)) {
		b.WriteString(status + "_" + strconv.Itoa(counts[status]) + "_")
	}
	return b.String()
}

// up returns the instances of an application that take traffic, by id.
func (c cache) up(app string) []Instance {
	var up []Instance
	for k, in := range c {
		if k.app == app && in.Status == statusUp {
			up = append(up, in)
		}
	}
	slices.SortFunc(up, func(a, b Instance) int { return cmp.Compare(a.ID, b.ID) })
	return up
}
