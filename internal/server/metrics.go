package server

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kureka/kureka/internal/eureka"
)

// Reasons for which a request is refused before its operation is reached.
const (
	refusedBusy    = "busy"    // too many at a time
	refusedClosed  = "closed"  // the start gate is closed
	refusedBrowser = "browser" // a write that a web page sent
	refusedURL     = "url"     // the URL is too long
	refusedPeer    = "peer"    // a batch from somebody who is no peer
)

// metrics measure the API. Labels are bounded: routes are resources, not paths,
// and methods and codes come from fixed sets.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	refused  *prometheus.CounterVec
	segments *prometheus.CounterVec

	counters  map[requestLabels]prometheus.Counter // of the usual answers
	durations [resourceCount]prometheus.Observer
}

type requestLabels struct {
	to     resource
	method string
	code   int
}

func newMetrics(endpoints *[resourceCount]endpoint) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kureka_http_requests_total",
			Help: "Requests to the Eureka API by route, method and status code.",
		}, []string{"route", "method", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "kureka_http_request_duration_seconds",
			Help:    "Time from a request's header to the end of its answer, by route.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 8, 30},
		}, []string{"route"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kureka_http_refused_total",
			Help: "Requests to the Eureka API refused before they reached the registry.",
		}, []string{"reason"}),
		segments: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kureka_http_segments_encoded_total",
			Help: "Segments of the registry, and of what has changed in it, encoded for full and delta fetches, by format and encoding.",
		}, []string{"format", "encoding"}),
		counters: map[requestLabels]prometheus.Counter{},
	}
	m.initialise(endpoints)
	return m
}

// initialise makes the usual series, so that alerts see them before the first
// event.
func (m *metrics) initialise(endpoints *[resourceCount]endpoint) {
	for to := range resourceCount {
		ep := &endpoints[to]
		m.durations[to] = m.duration.WithLabelValues(ep.name)
		for method, op := range ep.operations {
			for _, code := range op.codes {
				m.counters[requestLabels{to, method, code}] = m.requests.WithLabelValues(ep.name, method, strconv.Itoa(code))
			}
		}
	}
	for _, reason := range []string{refusedBusy, refusedClosed, refusedBrowser, refusedURL, refusedPeer} {
		m.refused.WithLabelValues(reason)
	}
	for f := range eureka.Format(eureka.Formats) {
		m.segments.WithLabelValues(f.String(), identityEncoding)
		m.segments.WithLabelValues(f.String(), gzipEncoding)
	}
}

func (m *metrics) register(reg prometheus.Registerer, classes map[string]*slots) error {
	all := make([]prometheus.Collector, 0, 4+len(classes))
	all = append(all, m.requests, m.duration, m.refused, m.segments)
	for name, s := range classes {
		all = append(all, inFlight(name, s))
	}
	for _, c := range all {
		if err := reg.Register(c); err != nil {
			return fmt.Errorf("registering a metric: %w", err)
		}
	}
	return nil
}

func inFlight(class string, s *slots) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "kureka_http_requests_in_flight",
		Help:        "Requests to the Eureka API being answered, by the class that has slots of its own.",
		ConstLabels: prometheus.Labels{"class": class},
	}, func() float64 { return float64(s.used.Load()) })
}

// observe counts one answered request.
func (m *metrics) observe(to resource, route, method string, code int, took time.Duration) {
	m.durations[to].Observe(took.Seconds())
	method = methodLabel(method)
	counter, ok := m.counters[requestLabels{to, method, code}]
	if !ok {
		counter = m.requests.WithLabelValues(route, method, strconv.Itoa(code))
	}
	counter.Inc()
}

// methodLabel keeps the label bounded: a method is whatever a client writes.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete:
		return method
	}
	return "other"
}
