package main

import (
	"slices"
	"strings"
)

// unparsable is what the reference says of every body it cannot read.
const unparsable = "cannot parse request body"

// lenient are the bodies that the reference refuses and Kureka takes.
var lenient = []string{
	"data center without class", "data center of an unknown class", "metadata in a plain data center", "Amazon without metadata",
	"port is a number", "no root",
}

// bodyRules explain registrations that only one server takes, or that both read
// differently.
func bodyRules() []rule {
	return []rule{
		{name: "bodies-of-real-clients", explains: (*world).bodiesOfRealClients},
		{name: "port-numbers-are-checked", explains: (*world).portNumbersAreChecked},
		{name: "text-after-the-end", explains: (*world).textAfterTheEnd},
		{name: "refusals-say-more", explains: (*world).refusalsSayMore},
		{name: "every-instance-has-an-id", explains: (*world).everyInstanceHasAnID},
		{name: "overrides-are-set-by-their-own-call", explains: (*world).overridesAreSetByTheirOwnCall},
		{name: "metadata-is-flat-and-textual", explains: (*world).metadataIsFlatAndTextual},
		{name: "country-zero-is-the-default", explains: (*world).countryZeroIsTheDefault},
		{name: "groups-are-upper-case", explains: (*world).groupsAreUpperCase},
		{name: "unreadable-timestamps-are-ignored", explains: (*world).unreadableTimestampsAreIgnored},
		{name: "status-in-any-case", explains: (*world).statusInAnyCase},
	}
}

// anyOf reports whether the step is odd in one of these ways.
func (s *step) anyOf(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return s.tags[name] })
}

func (w *world) bodiesOfRealClients(d difference) bool {
	return w.step.anyOf(lenient...) && (d.what == codes && d.reference == "400" && d.kureka == "204" || d.key != (key{}))
}

func (w *world) portNumbersAreChecked(d difference) bool {
	return w.step.anyOf("port out of range", "port that is a word") && (d.what == codes && d.reference == "204" && d.kureka == "400" || d.key != (key{}))
}

func (w *world) textAfterTheEnd(d difference) bool {
	return w.step.anyOf("text after the end") && (d.what == codes && d.reference == "204" && d.kureka == "400" || d.key != (key{}))
}

func (w *world) refusalsSayMore(d difference) bool {
	return w.step.kind == register && d.what == texts && d.reference == unparsable && (d.kureka == "Missing appName" || strings.HasPrefix(d.kureka, unparsable+": "))
}

func (w *world) everyInstanceHasAnID(d difference) bool {
	return w.step.anyOf("no id", "id is null") && (d.what == presence || d.what == wireID)
}

func (w *world) overridesAreSetByTheirOwnCall(d difference) bool {
	return w.step.anyOf("brings an override") && (isStatus(d) && d.reference == textOut || d.what == wireOverridden || follows(d))
}

func (w *world) metadataIsFlatAndTextual(d difference) bool {
	return w.step.anyOf("metadata with a null", "nested metadata") && strings.HasPrefix(d.what, "metadata.")
}

func (w *world) countryZeroIsTheDefault(d difference) bool {
	return d.what == "countryId" && strings.HasSuffix(d.reference, "0") && d.kureka == "number 1"
}

func (w *world) groupsAreUpperCase(d difference) bool {
	return d.what == "appGroupName" && strings.ToUpper(strings.TrimPrefix(d.reference, "text ")) == strings.TrimPrefix(d.kureka, "text ")
}

func (w *world) unreadableTimestampsAreIgnored(d difference) bool {
	return w.step.anyOf("timestamp is a word") && d.what == wireDirty && d.reference == "text 0" && d.kureka == "text set" ||
		w.step.anyOf("unreadable timestamp") && d.what == codes && d.reference == "500" && d.kureka == "200"
}

func (w *world) statusInAnyCase(d difference) bool {
	switch {
	case w.step.anyOf("lower case"):
		return d.what == codes && d.reference == "500" && (d.kureka == "200" || d.kureka == "404") || d.key == w.step.key
	case w.step.anyOf("status in lower case"):
		return isStatus(d) && d.reference == textUnknown && d.kureka == textUp || follows(d)
	}
	return false
}
