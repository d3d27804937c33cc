package dashboard

import (
	"net/http"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/registry"
)

// told is what the page of an instance shows.
type told struct {
	App, ID string
	Known   bool
	explanation

	Record     *registry.Record
	Registered row
	// Changes of an instance that is not known any more, and when and why it ended last.
	Past []change
	Left *ended
}

func (p *pages) instance(q question) page {
	key := registry.NewKey(q.query.Get(paramApp), q.query.Get(paramID))
	out := told{App: key.App, ID: key.ID}
	made := page{name: "instance", title: key.String()}
	e, ok := p.View.Explain(q.now, key)
	if !ok {
		out.Past, out.Left = p.departed(key)
		made.code, made.body = http.StatusNotFound, out
		return made
	}
	out.Known, out.explanation = true, explanationOf(e)
	if e.Shown != nil {
		out.Record, out.Registered = e.Shown.Record, rowOf(e.Shown)
	}
	made.body = out
	return made
}

// departed tells what is remembered of an instance that is not there.
func (p *pages) departed(key registry.Key) (past []change, last *ended) {
	past = changesOf(p.View.Changes(changesEach, func(ch cluster.Change) bool { return ch.Key == key }))
	_, left := p.Registry.Latest()
	for _, m := range left {
		if m.Key == key {
			return past, &ended{registeredOf(m), m.Reason}
		}
	}
	return past, nil
}
