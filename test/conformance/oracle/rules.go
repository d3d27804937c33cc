package main

import (
	"slices"
	"strconv"
	"strings"
)

// rule explains differences that are there on purpose. Its name is the name of
// the section of docs/wire-compat.md that says why.
type rule struct {
	name     string
	explains func(w *world, d difference) bool
	lasting  bool // the difference stays and says nothing about what follows
}

// world is what a rule can look at: the step, both answers, and what both
// servers listed before it.
type world struct {
	step     *step
	ref, got answer
	before   map[key]fields
	seen     map[key]bool // instances that Kureka has listed
	lasting  map[key]bool // instances that a lasting rule lets differ
}

// rules are asked in this order; the first that explains a difference counts.
func rules() []rule {
	return slices.Concat(bodyRules(), stateRules(), answerRules())
}

// stateRules explain what the servers list after a write.
func stateRules() []rule {
	return []rule{
		{name: "copies-are-compared", explains: (*world).copiesAreCompared},
		{name: "slashes-in-ids", explains: (*world).slashesInIDs},
		{name: "known-instances-are-modified", explains: (*world).knownInstancesAreModified, lasting: true},
		{name: "registration-replaces", explains: (*world).registrationReplaces},
		{name: "out-of-service-is-a-client-status", explains: (*world).outOfServiceIsAClientStatus},
		{name: "unknown-hides-no-override", explains: (*world).unknownHidesNoOverride},
		{name: "heartbeat-heals", explains: (*world).heartbeatHeals},
		{name: "override-of-the-same-status", explains: (*world).overrideOfTheSameStatus},
		{name: "override-unknown-clears", explains: (*world).overrideUnknownClears},
		{name: "clearing-shows-the-client-status", explains: (*world).clearingShowsTheClientStatus},
		{name: "timestamp-is-the-clients", explains: (*world).timestampIsTheClients},
		{name: "deleted-entries-are-short-and-up", explains: (*world).deletedEntriesAreShortAndUp},
	}
}

// isStatus reports whether the difference is one of the visible status.
func isStatus(d difference) bool { return d.what == wireStatus }

// follows reports whether a difference comes with one of the status.
func follows(d difference) bool {
	return slices.Contains([]string{wireAction, wireServiceUp}, d.what)
}

func isUpOrOut(s status) bool { return s == "UP" || s == "OUT_OF_SERVICE" }

// dirty returns the timestamp of a listed instance; made up ones are later than
// all others.
func (f fields) dirty() int64 {
	ms, err := strconv.ParseInt(f.value(wireDirty), 10, 64)
	if err != nil {
		return 1 << 62
	}
	return ms
}

// override returns the override of a listed instance as the status it is shown
// by, with its type; "" if there is none.
func (f fields) override() string {
	if o := f[wireOverridden]; o != textUnknown {
		return o
	}
	return ""
}

func (w *world) slashesInIDs(d difference) bool {
	return w.step.tags["slash"] && w.step.kind != register && (d.what == codes && d.reference == "400" || d.key == w.step.key)
}

func (w *world) knownInstancesAreModified(d difference) bool {
	again := w.seen[d.key] && (w.step.kind == register || w.step.kind == annotate)
	return d.what == wireAction && d.reference == textAdded && d.kureka == textModified && (again || w.lasting[d.key])
}

func (w *world) registrationReplaces(d difference) bool {
	before, known := w.before[d.key]
	return w.step.kind == register && known && w.step.sent && w.step.ms < before.dirty()
}

func (w *world) outOfServiceIsAClientStatus(d difference) bool {
	before := w.before[d.key]
	if w.step.kind != register || !isUpOrOut(w.step.says) || before[wireStatus] == "text "+string(w.step.says) {
		return false
	}
	return isStatus(d) && (d.reference == before[wireStatus] || d.reference == before.override()) && d.kureka == "text "+string(w.step.says) || follows(d)
}

func (w *world) unknownHidesNoOverride(d difference) bool {
	return w.step.kind == register && isStatus(d) && d.reference == textUnknown && d.kureka == w.before[d.key].override()
}

func (w *world) heartbeatHeals(d difference) bool {
	s := w.step
	if s.kind != heartbeat || !s.sent || s.ms < w.before[d.key].dirty() {
		return false
	}
	return isStatus(d) && d.kureka == "text "+string(s.says) || follows(d)
}

func (w *world) overrideOfTheSameStatus(d difference) bool {
	if w.step.kind != pin || w.before[d.key][wireStatus] != "text "+string(w.step.says) {
		return false
	}
	return d.what == wireOverridden && d.kureka == "text "+string(w.step.says) || follows(d)
}

func (w *world) overrideUnknownClears(d difference) bool {
	return w.step.kind == pin && w.step.says == "UNKNOWN" && (isStatus(d) && d.reference == textUnknown || d.what == wireOverridden || follows(d))
}

func (w *world) clearingShowsTheClientStatus(d difference) bool {
	reference := textUnknown
	if w.step.says != "" {
		reference = "text " + string(w.step.says)
	}
	return w.step.kind == unpin && (isStatus(d) && d.reference == reference || follows(d))
}

func (w *world) timestampIsTheClients(d difference) bool {
	return (w.step.kind == pin || w.step.kind == unpin) && d.what == wireDirty &&
		d.reference == "text "+strconv.FormatInt(w.step.ms, 10) && d.kureka == w.before[d.key][d.what]
}

func (w *world) deletedEntriesAreShortAndUp(d difference) bool {
	if w.step.kind != readDelta || w.got.doc.instances[d.key].action() != deleted {
		return false
	}
	return isStatus(d) && d.kureka == textUp || strings.HasPrefix(strings.TrimPrefix(d.what, "dataCenterInfo."), wireMetadata)
}
