package faultproxy

import (
	"encoding/json"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind is what a request asks for, as far as modes tell.
type kind int

const (
	other kind = iota
	list
	streamedList // a watch that begins with a list
	resumption   // a watch that goes on from a resource version
)

func kindOf(r *http.Request) kind {
	query := r.URL.Query()
	version := query.Get("resourceVersion")
	switch {
	case r.Method != http.MethodGet:
		return other
	case query.Get("watch") == "":
		return list
	case query.Get("sendInitialEvents") == "true" && version == "":
		return streamedList
	case version != "" && version != "0":
		return resumption
	}
	return other
}

// ServeHTTP answers as the mode says.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	mode := p.mode
	p.mu.Unlock()
	switch {
	case mode == TooMany:
		w.Header().Set("Retry-After", "1")
		fail(w, apierrors.NewTooManyRequests("the proxy is told to say so", 1))
	case mode == Expired && kindOf(r) == resumption:
		fail(w, apierrors.NewResourceExpired("the proxy is told to say so"))
	case mode == Stale && p.answerFromThePast(w, r):
	default:
		p.forward.ServeHTTP(w, r)
	}
}

// answerFromThePast makes a client list what was recorded, once, and reports
// whether that was an answer.
func (p *Proxy) answerFromThePast(w http.ResponseWriter, r *http.Request) bool {
	k := kindOf(r)
	body, recorded, replayed := p.recall(r.URL.Path, k)
	switch {
	case !recorded:
		return false
	case k == list:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body) // the caller's loss if it is gone
	case k == streamedList:
		fail(w, apierrors.NewInvalid(schema.GroupKind{}, "sendInitialEvents", nil))
	case k == resumption && replayed == 0:
		fail(w, apierrors.NewResourceExpired("the proxy is told to say so"))
	default:
		return false
	}
	return true
}

// recall returns what was recorded of a path and how often that was the answer,
// the one to a list that is being asked for included. Nothing is written to a client
// meanwhile: one that does not read must not hold up who sets the mode.
func (p *Proxy) recall(path string, k kind) (body []byte, recorded bool, replayed int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	body, recorded = p.recorded[path]
	if recorded && k == list {
		p.replayed[path]++
	}
	return body, recorded, p.replayed[path]
}

// fail answers as an API server does.
func fail(w http.ResponseWriter, err *apierrors.StatusError) {
	status := err.Status()
	status.Kind, status.APIVersion = "Status", "v1"
	body, encodeErr := json.Marshal(status)
	if encodeErr != nil {
		panic(encodeErr) // a Status can always be encoded
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status.Code))
	_, _ = w.Write(body) // the caller's loss if it is gone
}
