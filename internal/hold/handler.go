package hold

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/registry"
)

// Prefix is the path under which preStop requests are answered.
const Prefix = "/kureka/v1/drain/"

const (
	// maxHeld bounds the requests that are held at once; each is a connection and two
	// goroutines.
	maxHeld = 2048
	// maxToken bounds a token, in bytes.
	maxToken = 64
	// maxLimit and maxGrace bound what a request may say, in seconds; usualLimit and
	// usualGrace count where it says nothing.
	maxLimit, maxGrace     = 600, 86400
	usualLimit, usualGrace = 90, 30
	// answerWithin is for the answer itself.
	answerWithin = 5 * time.Second
)

// Path is what the preStop hook of a pod asks for: the pod is known by the token, is
// held for so many seconds at most, and needs so many for itself after that.
func Path(token string, seconds, graceSeconds int64) string {
	return Prefix + url.PathEscape(token) + fmt.Sprintf("?seconds=%d&grace=%d", seconds, graceSeconds)
}

// Pods knows the pods that end.
type Pods interface {
	Endings(token string) []cluster.Ending
	// HeardSince reports whether it is known what had happened by a moment.
	HeardSince(at time.Time) bool
}

// Registry shows what is in service.
type Registry interface {
	Snapshot() *registry.Snapshot
}

// Consumers knows who has learned of what.
type Consumers interface {
	Learned(now time.Time, keys []registry.Key, seen time.Time, version int64) (since time.Time, ok bool)
}

// Options configure a Handler. All are required.
type Options struct {
	Pods      Pods
	Registry  Registry
	Consumers Consumers
	// CacheLifetime is how long load balancers of a namespace's pods use a list after
	// they could have had a newer one.
	CacheLifetime func(namespace string) time.Duration
	Clock         func() time.Time
	// Stopping is closed when everybody who is held is to be let go.
	Stopping <-chan struct{}
	// Done is told how a request ended and how long it was held. It must not block.
	Done func(out Outcome, held time.Duration)
}

// Handler answers preStop requests. Whoever knows a token can make it hold a
// connection, within bounds, and learn the name of its pod; nothing else.
type Handler struct {
	opts Options
	held atomic.Int64
}

// New returns the handler of everything under Prefix.
func New(opts Options) *Handler { return &Handler{opts: opts} }

// Held is how many requests are being held.
func (h *Handler) Held() int { return int(h.held.Load()) }

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.URL.Path, Prefix)
	if token == "" || len(token) > maxToken || strings.Contains(token, "/") {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "want GET", http.StatusMethodNotAllowed)
		return
	}
	q := h.request(token, r.URL.Query())
	out := Busy
	if h.held.Add(1) <= maxHeld {
		allow(w, q.limit+answerWithin)
		out = q.wait(r.Context())
	}
	h.held.Add(-1)
	took := h.opts.Clock().Sub(q.begun)
	h.opts.Done(out, took)
	answer(w, out, took)
}

func (h *Handler) request(token string, query url.Values) *request {
	return &request{
		Handler: h, token: token, begun: h.opts.Clock(), out: map[string]*absence{},
		limit: seconds(query.Get("seconds"), usualLimit, maxLimit), own: seconds(query.Get("grace"), usualGrace, maxGrace),
	}
}

func seconds(text string, usual, most int) time.Duration {
	n, err := strconv.Atoi(text)
	if err != nil {
		n = usual
	}
	return time.Duration(min(max(n, 0), most)) * time.Second
}

// allow lifts the limits that suit short requests: a read that times out would look
// like a client that has hung up.
func allow(w http.ResponseWriter, d time.Duration) {
	c := http.NewResponseController(w)
	// Where a deadline cannot be set there is none.
	_ = c.SetReadDeadline(time.Time{})
	_ = c.SetWriteDeadline(time.Now().Add(d))
}

// answer says what happened to whoever tries it by hand. A kubelet does not look, and
// does not ask again over this connection.
func answer(w http.ResponseWriter, out Outcome, took time.Duration) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Connection", "close")
	w.WriteHeader(status(out))
	said := struct {
		Outcome     Outcome `json:"outcome"`
		HeldSeconds int     `json:"heldSeconds"`
	}{out, int(took.Seconds())}
	if err := json.NewEncoder(w).Encode(said); err != nil {
		return // whoever hung up does not matter
	}
}

func status(out Outcome) int {
	switch out {
	case Unknown:
		return http.StatusNotFound
	case Busy, Stopping:
		return http.StatusServiceUnavailable
	case Learned, Limit, Ended, NotEnding, HungUp:
	}
	return http.StatusOK
}
