package dashboard

import (
	_ "embed" // for the description of the API
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-logr/logr"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/consumers"
	"github.com/kureka/kureka/internal/registry"
)

// Prefix is the path under which questions are answered with JSON.
const Prefix = "/kureka/v1/"

// maxChanges is how many changes one answer holds at most, defaultChanges how
// many if the question does not say.
const (
	maxChanges     = 10_000
	defaultChanges = 100
)

// maxAtOnce is how many questions are answered at once. Answers may be large, and
// clients of the registry use the same process.
const maxAtOnce = 8

//go:embed openapi.yaml
var openAPI []byte

// View is what the API asks the cluster view.
type View interface {
	Explain(now time.Time, key registry.Key) (cluster.Explanation, bool)
	Changes(limit int, match func(cluster.Change) bool) []cluster.Change
	Findings(since time.Time) []cluster.Finding
	ExplainPod(namespace, name string) (cluster.PodExplanation, bool)
	View() cluster.View
}

// Registry is what the API asks the registry.
type Registry interface {
	Snapshot() *registry.Snapshot
	Partitions() []registry.PartitionStats
	Latest() (registered, ended []registry.Moment)
}

// Consumers is what the API asks about who fetches the registry.
type Consumers interface {
	Fetching() consumers.Fetching
	Report() (active []consumers.Consumer, departures []consumers.Departure)
}

// Watch is how one watch of the API server is doing.
type Watch struct {
	Resource string `json:"resource"`
	Synced   bool   `json:"synced"`
	Problem  string `json:"problem,omitempty"`
}

// Options configure the API and the pages. View, Registry, Consumers and Clock are
// required.
type Options struct {
	View      View
	Registry  Registry
	Consumers Consumers
	// Watches returns the state of the watches; nil without a cluster.
	Watches func() []Watch
	Clock   func() time.Time
	// Started is when this process began.
	Started time.Time
	// ListsFrom is from when clients get lists; nil if they always do.
	ListsFrom func() time.Time
	// Stopping is closed when streams are to end; nil if never.
	Stopping <-chan struct{}
	Logger   logr.Logger
}

type api struct {
	Options
	slots chan struct{} // one for every answer that is being given
}

// ServeHTTP answers one question. Paths are split before they are decoded,
// because instance ids may contain anything.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case a.slots <- struct{}{}:
		defer func() { <-a.slots }()
	default:
		w.Header().Set("Retry-After", "1")
		a.fail(w, http.StatusServiceUnavailable, "too many questions at once: ask again in a second")
		return
	}
	if !isRead(r) {
		w.Header().Set("Allow", "GET, HEAD")
		a.fail(w, http.StatusMethodNotAllowed, "only GET and HEAD are answered here")
		return
	}
	a.answer(w, r)
}

func (a *api) answer(w http.ResponseWriter, r *http.Request) {
	path := strings.Trim(strings.TrimPrefix(r.URL.EscapedPath(), Prefix), "/")
	resource, rest, _ := strings.Cut(path, "/")
	switch {
	case path == "instances":
		a.instances(w, r.URL.Query())
	case resource == "instances":
		a.instance(w, rest)
	case resource == "pods" && rest != "":
		a.pod(w, rest)
	case path == "changes":
		a.changes(w, r.URL.Query())
	case path == "observe":
		a.observe(w, r.URL.Query())
	case path == "namespaces":
		a.write(w, http.StatusOK, namespaces{namespacesOf(a.Registry.Partitions())})
	case path == "consumers":
		a.write(w, http.StatusOK, consumersOf(a.Consumers))
	case path == "lastn":
		a.write(w, http.StatusOK, lastNOf(a.Registry.Latest()))
	case path == "view":
		a.view(w)
	case path == "openapi.yaml":
		w.Header().Set("Content-Type", "application/yaml")
		a.body(w, openAPI)
	default:
		a.fail(w, http.StatusNotFound, "there is instances, instances/{app}/{id}, pods/{namespace}/{name}, changes, observe, namespaces, consumers, lastn, view and openapi.yaml")
	}
}

func (a *api) instance(w http.ResponseWriter, path string) {
	rawApp, rawID, _ := strings.Cut(path, "/")
	app, err := url.PathUnescape(rawApp)
	if err != nil {
		a.fail(w, http.StatusBadRequest, "the application is not a valid path segment")
		return
	}
	id, err := url.PathUnescape(rawID)
	if err != nil || id == "" {
		a.fail(w, http.StatusBadRequest, "want instances/{app}/{id} with the id percent-encoded")
		return
	}
	e, ok := a.View.Explain(a.Clock(), registry.NewKey(app, id))
	if !ok {
		a.fail(w, http.StatusNotFound, "there is no such instance; changes?app="+url.QueryEscape(app)+" tells what left lately")
		return
	}
	a.write(w, http.StatusOK, explanationOf(e))
}

func (a *api) pod(w http.ResponseWriter, path string) {
	namespace, name, _ := strings.Cut(path, "/") // neither has anything to decode
	e, ok := a.View.ExplainPod(namespace, name)
	if !ok {
		a.fail(w, http.StatusNotFound, "no pod of this name is known; view tells whether pods can be read")
		return
	}
	a.write(w, http.StatusOK, podOf(e))
}

func (a *api) changes(w http.ResponseWriter, q url.Values) {
	limit, problem := limitOf(q)
	for key := range q {
		if key != "limit" && filters[key] == nil {
			problem = "filters are app, id, namespace, pod, node, reason and limit"
		}
	}
	if problem != "" {
		a.fail(w, http.StatusBadRequest, problem)
		return
	}
	list := a.View.Changes(limit, func(ch cluster.Change) bool {
		for key, field := range filters {
			if want := q.Get(key); want != "" && !strings.EqualFold(want, field(ch)) {
				return false
			}
		}
		return true
	})
	a.write(w, http.StatusOK, changes{changesOf(list)})
}

// filters are the fields of a change that a question can name.
var filters = map[string]func(cluster.Change) string{
	paramApp:       func(ch cluster.Change) string { return ch.Key.App },
	paramID:        func(ch cluster.Change) string { return ch.Key.ID },
	paramNamespace: func(ch cluster.Change) string { return ch.Namespace },
	"pod":          func(ch cluster.Change) string { return ch.Pod },
	"node":         func(ch cluster.Change) string { return ch.Node },
	paramReason:    func(ch cluster.Change) string { return ch.Reason },
}

func limitOf(q url.Values) (limit int, problem string) {
	text := q.Get("limit")
	if text == "" {
		return defaultChanges, ""
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxChanges {
		return 0, "limit is a number from 1 to " + strconv.Itoa(maxChanges)
	}
	return n, ""
}

func (a *api) view(w http.ResponseWriter) {
	out := viewOf(a.View.View())
	if a.Watches != nil {
		out.Watches = a.Watches()
	}
	a.write(w, http.StatusOK, out)
}

func (a *api) fail(w http.ResponseWriter, code int, text string) {
	a.write(w, code, map[string]string{"error": text})
}

func (a *api) write(w http.ResponseWriter, code int, v any) {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		a.Logger.Error(err, "Writing an answer")
		code, body = http.StatusInternalServerError, []byte(`{"error":"internal error"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	a.body(w, append(body, '\n'))
}

func (a *api) body(w http.ResponseWriter, body []byte) {
	if _, err := w.Write(body); err != nil {
		a.Logger.V(1).Info("The reader hung up", "cause", err.Error())
	}
}
