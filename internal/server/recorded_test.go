package server

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/kureka/kureka/test/conformance/recorded"
)

// recordedRequests are what real clients sent, by client.
func recordedRequests(tb testing.TB) map[string][]recorded.Request {
	tb.Helper()
	all, err := recorded.All()
	if err != nil {
		tb.Fatal(err)
	}
	byClient := map[string][]recorded.Request{}
	for _, r := range all {
		byClient[r.Client] = append(byClient[r.Client], r)
	}
	if len(byClient) == 0 {
		tb.Fatal("no request of any client is recorded")
	}
	return byClient
}

// replay sends a recorded request.
func (r *rig) replay(req recorded.Request) *httptest.ResponseRecorder {
	r.tb.Helper()
	again := httptest.NewRequestWithContext(r.tb.Context(), req.Method, req.URI, bytes.NewReader(req.Body))
	again.Header = req.Header.Clone()
	rec := httptest.NewRecorder()
	r.handler.ServeHTTP(rec, again)
	return rec
}

// Each request of each client is answered as it was when it was recorded, and in
// the form that the client decodes.
func TestRecorded_requestsAreAnsweredAsTheyWere(t *testing.T) {
	t.Parallel()
	for client, requests := range recordedRequests(t) {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			for _, req := range requests {
				if req.Status == http.StatusServiceUnavailable {
					continue // the registry had just started then
				}
				r := newRig(t)
				if req.Status != http.StatusNotFound && req.Kind != "register" {
					r.replayFirst(requests)
					r.fillApp(req)
				}
				if r.registeredSince(req) {
					continue
				}
				rec := r.replay(req)
				if rec.Code != req.Status {
					t.Errorf("%s %s = %d, recorded as %d", req.Method, req.URI, rec.Code, req.Status)
				}
				if err := readable(req, rec); err != nil {
					t.Errorf("%s %s: %v", req.Method, req.URI, err)
				}
			}
		})
	}
}

// replayFirst registers what the client registered first, if it did.
func (r *rig) replayFirst(requests []recorded.Request) {
	r.tb.Helper()
	for _, req := range requests {
		if req.Kind == "register" {
			if rec := r.replay(req); rec.Code != http.StatusNoContent {
				r.tb.Fatalf("registering = %d %s", rec.Code, rec.Body)
			}
			return
		}
	}
}

// registeredSince reports whether the client registered again between its first
// registration and this heartbeat: requests that look alike are recorded once.
func (r *rig) registeredSince(req recorded.Request) bool {
	r.tb.Helper()
	_, query, _ := strings.Cut(req.URI, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		r.tb.Fatalf("the query of %s: %v", req.URI, err)
	}
	dirty, err := strconv.ParseInt(values.Get("lastDirtyTimestamp"), 10, 64)
	if err != nil || req.Kind != "heartbeat" {
		return false
	}
	known := false
	for in := range r.engine.Snapshot().All() {
		known = known || in.Dirty >= dirty
	}
	return req.Status == http.StatusOK && !known
}

// fillApp registers somebody in an application that a client read.
func (r *rig) fillApp(req recorded.Request) {
	r.tb.Helper()
	path, _, _ := strings.Cut(req.URI, "?")
	if found := r.server.router.match(path); found.to == toApp {
		r.register(found.app, "somebody", "UP", 1)
	}
}

// readable checks that a body is there only where one was asked for, and in the
// format and encoding that the client's headers allow.
func readable(req recorded.Request, rec *httptest.ResponseRecorder) error {
	if req.Method != http.MethodGet || rec.Code != http.StatusOK {
		if rec.Body.Len() > 0 {
			return fmt.Errorf("an unexpected body: %q", rec.Body)
		}
		return nil
	}
	var body io.Reader = rec.Body
	if rec.Header().Get("Content-Encoding") == "gzip" {
		if !strings.Contains(req.Header.Get("Accept-Encoding"), "gzip") {
			return errors.New("a body that is compressed without having been asked for")
		}
		var err error
		if body, err = gzip.NewReader(body); err != nil {
			return err
		}
	}
	if strings.Contains(req.Header.Get("Accept"), "json") {
		return json.NewDecoder(body).Decode(new(any))
	}
	return xml.NewDecoder(body).Decode(new(struct{}))
}
