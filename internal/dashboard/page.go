package dashboard

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxPagesAtOnce is how many pages are made and sent at once. The registry answers
// clients beside them.
const maxPagesAtOnce = 16

// pages answers people who use a browser. What is shown comes from the immutable
// snapshot and from short copies; a slow reader holds a slot and no lock.
type pages struct {
	Options
	slots   chan struct{} // one for every page that is being made
	streams chan struct{} // one for every open stream
	paint   painter
	files   map[string]asset
	routes  map[string]func(question) page
}

// question is one request for a page.
type question struct {
	now   time.Time
	query url.Values
}

// page is what a question is answered with.
type page struct {
	name  string // of the template
	title string
	code  int // of the answer, zero for 200
	body  any
}

func newPages(opts Options) *pages {
	p := &pages{
		Options: opts, slots: make(chan struct{}, maxPagesAtOnce), streams: make(chan struct{}, maxStreams), files: assets(),
	}
	p.paint = newPainter(p.files)
	p.routes = map[string]func(question) page{
		homePath:                 p.home,
		PagePrefix:               p.home,
		LastNPath:                p.lastN,
		PagePrefix + "lastn":     p.lastN,
		PagePrefix + "instance":  p.instance,
		PagePrefix + "changes":   p.changes,
		PagePrefix + "observe":   p.observe,
		PagePrefix + "consumers": p.consumers,
		PagePrefix + "cluster":   p.cluster,
	}
	return p
}

// ServeHTTP answers one request.
func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	if !isRead(r) {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD are answered here", http.StatusMethodNotAllowed)
		return
	}
	path := r.URL.EscapedPath()
	if path == StreamPath {
		p.stream(w, r)
		return
	}
	if name, ok := strings.CutPrefix(path, assetPrefix); ok {
		p.asset(w, name)
		return
	}
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	default:
		busy(w, "1")
		return
	}
	q := question{now: p.Clock(), query: r.URL.Query()}
	p.show(w, p.make(path, q), q.now)
}

func (p *pages) make(path string, q question) page {
	if route := p.routes[path]; route != nil {
		return route(q)
	}
	return page{name: "missing", title: "Not found", code: http.StatusNotFound}
}

// show sends a page. It is made whole first, so that a mistake in it is no page that
// ends early.
func (p *pages) show(w http.ResponseWriter, made page, now time.Time) {
	body, err := p.paint.page(made, p.frame(made, now))
	if err != nil {
		p.Logger.Error(err, "Making a page", "page", made.name)
		http.Error(w, "this page cannot be shown; the log says why", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept")
	if made.code != 0 {
		w.WriteHeader(made.code)
	}
	p.send(w, body)
}

func (p *pages) send(w http.ResponseWriter, body []byte) {
	if _, err := w.Write(body); err != nil {
		p.Logger.V(1).Info("The reader hung up", "cause", err.Error())
	}
}

// protect forbids what no page needs: a name that found its way into one as markup
// could still load, run and send nothing.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "+
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}

// busy turns away somebody for whom there is no slot.
func busy(w http.ResponseWriter, retryAfterSeconds string) {
	w.Header().Set("Retry-After", retryAfterSeconds)
	http.Error(w, "too many at once: ask again soon", http.StatusServiceUnavailable)
}
