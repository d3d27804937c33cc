package main

import "strings"

// answerRules explain answers that differ although the servers list the same.
func answerRules() []rule {
	return []rule{
		{name: "unknown-is-a-status", explains: (*world).unknownIsAStatus},
		{name: "xml-tells-the-true-status", explains: (*world).xmlTellsTheTrueStatus},
		{name: "compact-without-extra-keys", explains: (*world).compactWithoutExtraKeys},
	}
}

func (w *world) unknownIsAStatus(d difference) bool {
	if w.step.tags[inBatch] && w.step.kind == heartbeat && w.before[w.step.key][wireStatus] == textUnknown {
		return d.what == "results" && d.reference == "number 404" && d.kureka != d.reference || d.what == presence && d.key == w.step.key
	}
	return w.step.kind == heartbeat && d.what == codes && d.reference == "404" && d.kureka == "200" && w.before[w.step.key][wireStatus] == textUnknown
}

func (w *world) xmlTellsTheTrueStatus(d difference) bool {
	return (w.step.kind == readOne || w.step.kind == readByID) && isStatus(d) && d.reference == "text DOWN" &&
		strings.HasPrefix(w.ref.contentType, "application/xml") && (d.kureka == textOut || d.kureka == textUnknown)
}

func (w *world) compactWithoutExtraKeys(d difference) bool {
	return w.step.header.Get("X-Eureka-Accept") == "compact" && d.what == extras && d.reference == "registeredApplicationsEmpty" && d.kureka == ""
}
