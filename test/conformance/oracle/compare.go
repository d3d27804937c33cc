package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// difference is one thing in which the two servers disagree.
type difference struct {
	what      string // code, text, extra keys, or the path of a field
	key       key    // of the instance, zero for the answer as a whole
	reference string
	kureka    string
}

func (d difference) String() string {
	about := d.what
	if d.key != (key{}) {
		about = d.key.app + "/" + d.key.id + " " + d.what
	}
	return fmt.Sprintf("%-40s reference %q, Kureka %q", about, d.reference, d.kureka)
}

// What a listing says of an instance that only one server has.
const (
	present = "listed"
	absent  = "absent"
)

// compareAnswers returns what differs between two answers to one step.
func compareAnswers(ref, got answer) []difference {
	var all []difference
	differ := func(what, r, k string) {
		if r != k {
			all = append(all, difference{what: what, reference: r, kureka: k})
		}
	}
	differ(codes, strconv.Itoa(ref.code), strconv.Itoa(got.code))
	if ref.code != got.code {
		return all
	}
	if ref.code == http.StatusBadRequest {
		differ(texts, ref.errorText(), got.errorText())
	}
	if ref.doc == nil || got.doc == nil {
		differ("document", strconv.FormatBool(ref.doc != nil), strconv.FormatBool(got.doc != nil))
		return all
	}
	differ("content type", ref.contentType, got.contentType)
	differ("root", ref.doc.root, got.doc.root)
	differ(extras, strings.Join(ref.doc.extra, " "), strings.Join(got.doc.extra, " "))
	differ("applications", strings.Join(ref.doc.apps, " "), strings.Join(got.doc.apps, " "))
	differ("hash", ref.doc.hash, got.doc.hash)
	differ("results", strings.Join(ref.doc.results, " "), strings.Join(got.doc.results, " "))
	return append(all, compareInstances(ref.doc, got.doc)...)
}

// compareInstances returns what differs between the instances of two documents.
func compareInstances(ref, got *document) []difference {
	var all []difference
	for _, k := range slices.SortedFunc(maps.Keys(union(ref.instances, got.instances)), compareKeys) {
		r, inRef := ref.instances[k]
		g, inGot := got.instances[k]
		if inRef != inGot {
			all = append(all, difference{presence, k, listed(inRef), listed(inGot)})
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(union(r, g))) {
			if r[name] != g[name] {
				all = append(all, difference{name, k, r[name], g[name]})
			}
		}
	}
	return all
}

func listed(yes bool) string {
	if yes {
		return present
	}
	return absent
}

func union[K comparable, V any](a, b map[K]V) map[K]struct{} {
	all := map[K]struct{}{}
	for k := range a {
		all[k] = struct{}{}
	}
	for k := range b {
		all[k] = struct{}{}
	}
	return all
}

func compareKeys(a, b key) int {
	if c := strings.Compare(a.app, b.app); c != 0 {
		return c
	}
	return strings.Compare(a.id, b.id)
}

// faults returns what is wrong with Kureka's answer by itself, whatever the
// reference says.
func faults(st *step, got answer, listing *document) []string {
	var all []string
	fault := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	explained := got.code == http.StatusBadRequest || got.code == http.StatusOK && (!st.writes() || st.tags[inBatch])
	switch {
	case got.err != nil:
		fault("the answer cannot be read: %v", got.err)
	case !explained && len(got.body) > 0:
		fault("a %d with a body that nobody expects: %q", got.code, got.body)
	case got.doc != nil && got.doc.root == "applications":
		return listFaults(st, got.doc, listing)
	}
	return all
}

// listFaults returns what is wrong with a list by itself. The hash of a delta is
// that of the whole listing.
func listFaults(st *step, doc, listing *document) []string {
	var all []string
	of := doc
	if st.kind == readDelta {
		of = listing
		if i := disorder(doc); i >= 0 {
			all = append(all, fmt.Sprintf("%v is deleted before something of its application is added", doc.order[i]))
		}
	}
	if got, want := strings.TrimPrefix(doc.hash, "text "), of.countedHash(); got != want {
		all = append(all, fmt.Sprintf("the hash is %q, the instances give %q", got, want))
	}
	return all
}

// disorder returns the place of a deletion that another kind of change of the
// same application follows, -1 if there is none.
func disorder(delta *document) int {
	for i := 1; i < len(delta.order); i++ {
		before, this := delta.order[i-1], delta.order[i]
		if before.app == this.app && delta.instances[before].action() == deleted && delta.instances[this].action() != deleted {
			return i - 1
		}
	}
	return -1
}

const deleted = "DELETED"

// value returns a field without its type.
func (f fields) value(name string) string {
	v := f[name]
	for _, kind := range []string{"text ", "number "} {
		v = strings.TrimPrefix(v, kind)
	}
	return v
}

func (f fields) action() string { return f.value(wireAction) }

// countedHash computes the reconcile hash from the instances.
func (d *document) countedHash() string {
	counts := map[string]int{}
	for _, f := range d.instances {
		counts[f.value(wireStatus)]++
	}
	var hash strings.Builder
	for _, s := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&hash, "%s_%d_", s, counts[s])
	}
	return hash.String()
}
