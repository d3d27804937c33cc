package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// player plays sequences to both servers.
type player struct {
	reference *server
	program   string // Kureka's
	since     int64  // Unix ms from which a timestamp counts as made up
	rules     []rule
	fired     map[string]int // by rule
	steps     int

	next chan spawned // a Kureka that is being started
}

type spawned struct {
	server *server
	err    error
}

func newPlayer(reference *server, program string) *player {
	return &player{
		reference: reference, program: program, since: time.Now().Add(-time.Hour).UnixMilli(),
		rules: rules(), fired: map[string]int{}, next: make(chan spawned, 1),
	}
}

// prepare starts the Kureka of the next sequence, so that nobody waits for it.
func (p *player) prepare(ctx context.Context) {
	go func() {
		s, err := startKureka(ctx, p.program)
		p.next <- spawned{s, err}
	}()
}

// problem is a difference that no rule explains.
type problem struct {
	at     int // the step after which it showed
	detail []string
}

func (pr *problem) String() string { return strings.Join(pr.detail, "\n") }

// play plays one sequence from an empty start.
func (p *player) play(ctx context.Context, steps []step) (*problem, error) {
	ready := <-p.next
	p.prepare(ctx)
	if ready.err != nil {
		return nil, ready.err
	}
	defer ready.server.stop()
	if err := p.reference.reset(ctx); err != nil {
		return nil, err
	}
	g := &game{player: p, kureka: ready.server, listing: &document{}, abandoned: map[key]bool{}, seen: map[key]bool{}, lasting: map[key]bool{}, deltas: map[string]*document{}}
	for i := range steps {
		if g.over {
			break
		}
		p.steps++
		detail, err := g.step(ctx, &steps[i])
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i, err)
		}
		if len(detail) > 0 {
			return &problem{i, detail}, nil
		}
	}
	return nil, nil
}

// game is one sequence being played.
type game struct {
	*player

	kureka    *server
	listing   *document // what both listed last
	abandoned map[key]bool
	seen      map[key]bool         // instances that Kureka has listed
	lasting   map[key]bool         // explained by a lasting rule
	over      bool                 // the servers differ for good, as a rule allows
	deltas    map[string]*document // Kureka's last, by form
}

// both asks both servers.
func (g *game) both(ctx context.Context, st *step) (ref, got answer, err error) {
	if ref, err = g.reference.ask(ctx, st, g.since); err != nil {
		return ref, got, fmt.Errorf("asking the reference: %w", err)
	}
	if got, err = g.kureka.ask(ctx, st, g.since); err != nil {
		return ref, got, fmt.Errorf("asking the other server: %w", err)
	}
	return ref, got, nil
}

// step plays one step and returns what no rule explains.
func (g *game) step(ctx context.Context, st *step) ([]string, error) {
	ref, got, err := g.both(ctx, st)
	if err != nil {
		return nil, err
	}
	w := &world{step: st, ref: ref, got: got, before: g.listing.instances, seen: g.seen, lasting: g.lasting}
	detail := faults(st, got, g.listing)
	if st.kind == readDelta {
		ref.doc, got.doc = ref.doc.without(g.abandoned), got.doc.without(g.abandoned)
	}
	detail = append(detail, g.versionFault(st, got)...)
	left, _ := g.unexplained(w, compareAnswers(ref, got))
	detail = append(detail, left...)
	if !st.writes() || len(detail) > 0 {
		return detail, nil
	}
	return g.settle(ctx, w)
}

// settle compares what both list after a write, and removes from both what a
// rule lets differ, so that nothing can hide behind it.
func (g *game) settle(ctx context.Context, w *world) ([]string, error) {
	list := &step{kind: readAll, method: http.MethodGet, target: "/apps", accept: mediaJSON, header: http.Header{}}
	for range 2 {
		ref, got, err := g.both(ctx, list)
		if err != nil {
			return nil, err
		}
		if ref.doc == nil || got.doc == nil {
			return []string{"a server lists nothing"}, nil
		}
		for _, k := range ref.doc.order {
			delete(g.abandoned, k)
		}
		left, apart := g.unexplained(w, compareInstances(ref.doc, got.doc))
		detail := append(faults(list, got, got.doc), left...)
		for _, k := range got.doc.order {
			g.seen[k] = true
		}
		if len(detail) > 0 || len(apart) == 0 {
			g.listing = ref.doc
			return detail, nil
		}
		for k := range apart {
			g.abandoned[k] = true // also from the delta, in which they stay as deleted
			gone := &step{kind: cancel, method: http.MethodDelete, target: instancePath(k, ""), header: http.Header{}}
			if strings.Contains(k.id, "/") { // the reference has no path for it
				g.over = true
				return nil, nil
			}
			if _, _, err := g.both(ctx, gone); err != nil {
				return nil, err
			}
		}
	}
	return []string{"what a rule let differ could not be removed"}, nil
}

// unexplained returns the differences that no rule explains, counts the rules that
// explained the others, and returns the instances that are apart now.
func (g *game) unexplained(w *world, diffs []difference) (left []string, apart map[key]bool) {
	apart = map[key]bool{}
next:
	for _, d := range diffs {
		for _, r := range g.rules {
			if !r.explains(w, d) {
				continue
			}
			g.fired[r.name]++
			if r.lasting {
				g.lasting[d.key] = true
			} else {
				apart[d.key] = true
			}
			continue next
		}
		left = append(left, d.String())
	}
	return left, apart
}

// versionFault checks that the version of Kureka's delta changes with its
// content: one client skips a delta whose version it has seen.
func (g *game) versionFault(st *step, got answer) []string {
	if st.kind != readDelta || got.doc == nil {
		return nil
	}
	form := got.contentType + " " + st.header.Get("X-Eureka-Accept")
	before := g.deltas[form]
	g.deltas[form] = got.doc
	if before != nil && before.version == got.doc.version && len(compareInstances(before, got.doc)) > 0 {
		return []string{"the delta changed and its version " + got.doc.value() + " did not"}
	}
	return nil
}

func (d *document) value() string { return strings.TrimPrefix(d.version, "text ") }
