package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"
	"time"
)

// settings are what the runner told the lane.
type settings map[string]string

var errUnsupported = errors.New("the client has no means for this")

// emulator is one client at work.
type emulator struct {
	p      profile
	s      settings
	client *http.Client
	funcs  template.FuncMap
	dirty  string // when the record was last changed, in ms

	writing sync.Mutex // one writer at a time, as in the originals
	status  string
	stopped bool

	mu         sync.Mutex // guards what is read
	held       registry
	full       int
	deltas     int
	mismatches int
	failure    error // of the last decoding; nothing is shown while there is one
}

func newEmulator(p profile, s settings) (*emulator, error) {
	e := &emulator{
		p: p, s: s, status: "UP", held: registry{}, dirty: strconv.FormatInt(time.Now().UnixMilli(), 10),
		// No redirects, which most of them would not follow.
		client: &http.Client{
			Timeout:       10 * time.Second,
			Transport:     &http.Transport{DisableCompression: !p.gzip},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	if p.initial != "" {
		e.status = p.initial
	}
	e.funcs = template.FuncMap{
		"upper": strings.ToUpper, "form": url.QueryEscape, "path": url.PathEscape, "quote": quote,
		"strict": func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") },
		"xml":    elements,
	}
	_, err := e.expand(p.id)
	return e, err
}

// quote is a JSON string.
func quote(s string) (string, error) {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(s)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// elements writes a JSON object of strings as XML elements.
func elements(object string) (string, error) {
	var pairs map[string]string
	if err := json.Unmarshal([]byte(object), &pairs); err != nil {
		return "", err
	}
	var b strings.Builder
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		fmt.Fprintf(&b, "<%s>%s</%s>", key, escape.Replace(pairs[key]), key)
	}
	return b.String(), nil
}

// expand fills a template with the settings, the status and the dirty timestamp.
func (e *emulator) expand(text string, more ...string) (string, error) {
	t, err := template.New("").Option("missingkey=error").Funcs(e.funcs).Parse(text)
	if err != nil {
		return "", fmt.Errorf("reading a template: %w", err)
	}
	data := maps.Clone(e.s)
	data["STATUS"], data["DIRTY"] = e.status, e.dirty
	for i := 0; i+1 < len(more); i += 2 {
		data[more[i]] = more[i+1]
	}
	var b strings.Builder
	if err := t.Execute(&b, data); err != nil {
		return "", fmt.Errorf("filling a template: %w", err)
	}
	return b.String(), nil
}

// send sends a request and returns the status and the body of the answer.
func (e *emulator) send(ctx context.Context, r request, more ...string) (status int, body []byte, err error) {
	path, err := e.expand(r.path, more...)
	if err != nil {
		return 0, nil, err
	}
	content, err := e.expand(r.body, more...)
	if err != nil {
		return 0, nil, err
	}
	var reader io.Reader
	if r.body != "" {
		reader = strings.NewReader(content)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, e.s["KUREKA_URL"]+path, reader)
	if err != nil {
		return 0, nil, fmt.Errorf("building a request: %w", err)
	}
	req.Header["User-Agent"] = nil
	for _, header := range []map[string]string{e.p.header, r.header} {
		for name, value := range header {
			req.Header.Set(name, value)
		}
	}
	res, err := e.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	body, err = io.ReadAll(res.Body)
	if err != nil {
		return 0, nil, fmt.Errorf("reading an answer: %w", err)
	}
	if e.p.answersAreJSON && !strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
		return 0, nil, fmt.Errorf("the answer to %s %s is of type %q, which the client refuses", r.method, path, res.Header.Get("Content-Type"))
	}
	return res.StatusCode, body, nil
}

// want sends a request that has to be answered as the client expects.
func (e *emulator) want(ctx context.Context, r request, more ...string) error {
	status, body, err := e.send(ctx, r, more...)
	if err != nil {
		return err
	}
	if !r.takes(status) {
		return fmt.Errorf("%s %s was answered %d, which the client takes for a failure", r.method, r.path, status)
	}
	if len(bytes.TrimSpace(body)) > 0 {
		return fmt.Errorf("%s %s was answered with a body: %q", r.method, r.path, body)
	}
	return nil
}

func (e *emulator) all(ctx context.Context, requests []request, more ...string) error {
	for _, r := range requests {
		if err := e.want(ctx, r, more...); err != nil {
			return err
		}
	}
	return nil
}

// start registers, reads for the first time and goes on doing both.
func (e *emulator) start(ctx context.Context) error {
	if err := e.all(ctx, e.p.register); err != nil {
		return fmt.Errorf("registering: %w", err)
	}
	if e.p.heartbeat.method != "" {
		go every(ctx, e.s["LANE_RENEW_SECONDS"], e.renew)
	}
	if e.p.reads != nil {
		go every(ctx, e.s["LANE_FETCH_SECONDS"], e.fetch)
	}
	return nil
}

func every(ctx context.Context, seconds string, do func(context.Context)) {
	n, err := strconv.Atoi(seconds)
	if err != nil || n <= 0 {
		n = 1
	}
	ticker := time.NewTicker(time.Duration(n) * time.Second)
	defer ticker.Stop()
	for {
		do(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// renew sends a heartbeat. What a client does when its instance is unknown is what
// tells many of them apart.
func (e *emulator) renew(ctx context.Context) {
	e.writing.Lock()
	defer e.writing.Unlock()
	if e.stopped {
		return
	}
	status, _, err := e.send(ctx, e.p.heartbeat)
	if err == nil && status == http.StatusNotFound && e.p.rejoins {
		err = e.all(ctx, e.p.register)
	} else if err == nil && !e.p.heartbeat.takes(status) {
		err = fmt.Errorf("it was answered %d", status)
	}
	if err != nil {
		log.Printf("%s: renewing: %v", e.s["LANE_CLIENT"], err)
	}
}

func (e *emulator) report(ctx context.Context, status string) error {
	if len(e.p.report) == 0 {
		return errUnsupported
	}
	e.writing.Lock()
	defer e.writing.Unlock()
	e.status, e.dirty = status, strconv.FormatInt(time.Now().UnixMilli(), 10)
	return e.all(ctx, e.p.report)
}

func (e *emulator) override(ctx context.Context, status string) error {
	if len(e.p.override) == 0 {
		return errUnsupported
	}
	e.writing.Lock()
	defer e.writing.Unlock()
	if status == "clear" {
		return e.all(ctx, e.p.clear)
	}
	return e.all(ctx, e.p.override, "OVERRIDE", status)
}

func (e *emulator) stop(ctx context.Context) error {
	e.writing.Lock()
	defer e.writing.Unlock()
	e.stopped = true
	return e.all(ctx, e.p.stop)
}

func (e *emulator) stats() map[string]any {
	e.mu.Lock()
	defer e.mu.Unlock()
	return map[string]any{"full": e.full, "delta": e.deltas, "mismatches": e.mismatches, "hash": e.held.hash()}
}

// registry is what the client holds; nothing if its decoder has failed, which for
// the originals is the end of all discovery.
func (e *emulator) registry() registry {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.failure != nil {
		return registry{}
	}
	return e.held.clone()
}
