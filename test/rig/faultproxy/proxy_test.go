package faultproxy

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// backend answers every request with its path; a watch gets a line and stays open.
func backend(t *testing.T) *rest.Config {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, r.URL.Path+"\n") //nolint:gosec // nobody shows this in a browser
		if r.URL.Query().Get("watch") == "" {
			return
		}
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	return &rest.Config{Host: s.URL}
}

func start(t *testing.T) *Proxy {
	t.Helper()
	p, err := Start(t.Context(), Options{Upstream: backend(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

// answer is what came of a request; its code is 0 if nothing did.
type answer struct {
	code       int
	body       string
	retryAfter string
}

// ask reads an answer up to the end of its first line, so that streams are answers.
func ask(ctx context.Context, p *Proxy, path string) (a answer) {
	_ = stream(ctx, p, path, func(res *http.Response) {
		line, _ := bufio.NewReader(res.Body).ReadString('\n')
		a = answer{res.StatusCode, line, res.Header.Get("Retry-After")}
	})
	return a
}

// stream hands an answer on as it comes.
func stream(ctx context.Context, p *Proxy, path string, read func(*http.Response)) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.Config().Host+path, nil)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	read(res)
	return nil
}

func set(t *testing.T, p *Proxy, mode Mode) {
	t.Helper()
	if err := p.Set(t.Context(), mode); err != nil {
		t.Fatal(err)
	}
}

func TestProxy_answersAsItsModeSays(t *testing.T) {
	const (
		list, watch, resumed = "/pods", "/pods?watch=true", "/pods?watch=true&resourceVersion=7"
		streamed             = "/pods?watch=true&sendInitialEvents=true"
	)
	tests := map[string]struct {
		mode Mode
		want map[string]int
	}{
		"pass":     {Pass, map[string]int{list: 200, watch: 200, resumed: 200, streamed: 200}},
		"refuse":   {Refuse, map[string]int{list: 0, watch: 0}},
		"too many": {TooMany, map[string]int{list: 429, watch: 429, resumed: 429}},
		"expired":  {Expired, map[string]int{list: 200, watch: 200, resumed: 410, streamed: 200}},
		"stale":    {Stale, map[string]int{list: 200, resumed: 200, streamed: 200}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := start(t)
			set(t, p, tc.mode)
			for path, want := range tc.want {
				got := ask(t.Context(), p, path)
				if got.code != want {
					t.Errorf("%s: code %d, want %d", path, got.code, want)
				}
				if got.code == http.StatusTooManyRequests && got.retryAfter == "" {
					t.Errorf("%s: no Retry-After", path)
				}
			}
			set(t, p, Pass)
			if got := ask(t.Context(), p, list); got.code != 200 {
				t.Errorf("afterwards: code %d", got.code)
			}
		})
	}
}

func TestProxy_endsStreamsWhenCut(t *testing.T) {
	for name, cut := range map[string]func(*Proxy) error{
		"cut":      func(p *Proxy) error { return p.Cut(t.Context()) },
		"refuse":   func(p *Proxy) error { return p.Set(t.Context(), Refuse) },
		"too many": func(p *Proxy) error { return p.Set(t.Context(), TooMany) },
		"stop":     func(p *Proxy) error { p.Stop(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t)
			err := stream(t.Context(), p, "/pods?watch=true", func(res *http.Response) {
				body := bufio.NewReader(res.Body)
				if line, err := body.ReadString('\n'); err != nil {
					t.Errorf("the stream began with %q: %v", line, err)
				}
				if err := cut(p); err != nil {
					t.Error(err)
				}
				if rest, _ := io.ReadAll(body); len(rest) > 0 {
					t.Errorf("the stream went on with %q", rest)
				}
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestProxy_holdsUpEverythingInABlackHole(t *testing.T) {
	p := start(t)
	set(t, p, BlackHole)
	answered := make(chan int, 1)
	go func() { answered <- ask(t.Context(), p, "/pods").code }()
	select {
	case code := <-answered:
		t.Fatalf("code %d came through", code)
	case <-time.After(100 * time.Millisecond):
	}
	if err := p.Cut(t.Context()); err != nil {
		t.Fatal(err)
	}
	set(t, p, Pass)
	if code := <-answered; code != 200 {
		t.Errorf("code %d afterwards, want 200", code)
	}
}

func TestProxy_answersListsFromThePast(t *testing.T) {
	p := start(t)
	if err := p.Record(t.Context(), "/pods"); err != nil {
		t.Fatal(err)
	}
	p.recorded["/pods"] = []byte("recorded")
	set(t, p, Stale)
	const resumed = "/pods?watch=true&resourceVersion=7"
	for path, want := range map[string]int{resumed: 410, "/pods?watch=true&sendInitialEvents=true": 422} {
		if got := ask(t.Context(), p, path); got.code != want {
			t.Errorf("%s: code %d, want %d", path, got.code, want)
		}
	}
	for path, want := range map[string]string{"/pods": "recorded", "/pods/a": "/pods/a\n", "/nodes": "/nodes\n"} {
		if got := ask(t.Context(), p, path); got.body != want {
			t.Errorf("%s: %q, want %q", path, got.body, want)
		}
	}
	if p.Replayed("/pods") != 1 {
		t.Errorf("replayed %d times, want once", p.Replayed("/pods"))
	}
	if got := ask(t.Context(), p, resumed); got.code != 200 {
		t.Errorf("a watch that goes on from the list: code %d", got.code)
	}
}

// A client that does not read what it is answered from the past.
func TestProxy_isNotHeldUpByASlowReader(t *testing.T) {
	p := start(t)
	if err := p.Record(t.Context(), "/pods"); err != nil {
		t.Fatal(err)
	}
	p.recorded["/pods"] = make([]byte, 64<<20) // more than buffers take
	set(t, p, Stale)
	err := stream(t.Context(), p, "/pods", func(*http.Response) {
		done := make(chan error, 1)
		go func() { done <- p.Set(t.Context(), Pass) }()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Error("its mode cannot be set")
		}
	})
	if err != nil {
		t.Error(err)
	}
}
