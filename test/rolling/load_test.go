package rolling

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// outcome is what became of a call.
type outcome string

// The outcomes, as the caller of the gateway sees them; why the gateway failed it
// says itself.
const (
	answered outcome = "answered"
	refused  outcome = "refused"        // the gateway was refused a connection
	broken   outcome = "broken off"     // the gateway had a connection and got no answer
	nobody   outcome = "no instance"    // the gateway knew nobody to call
	late     outcome = "timeout"        // the gateway, or its caller, got no answer in time
	failed   outcome = "other failures" // anything else
)

// failures are all outcomes but one, in the order of the report.
func failures() []outcome { return []outcome{refused, broken, nobody, late, failed} }

// patience is for how long a caller waits for an answer.
const patience = 20 * time.Second

// load calls a page at a fixed rate, whatever becomes of the calls. What it counted
// is read when it has ended.
type load struct {
	page   string
	client *http.Client

	mu    sync.Mutex
	count map[outcome]int
	first time.Time // call that failed
	last  time.Time
	seen  map[string]int // other failures, by what was said
}

func newLoad(page string) *load {
	transport := &http.Transport{MaxIdleConnsPerHost: 100}
	return &load{page: page, client: &http.Client{Timeout: patience, Transport: transport}, count: map[outcome]int{}, seen: map[string]int{}}
}

// run calls until ctx ends and returns when all calls have ended.
func (l *load) run(ctx context.Context, perSecond int) {
	ticker := time.NewTicker(time.Second / time.Duration(perSecond))
	defer ticker.Stop()
	var calls sync.WaitGroup
	defer calls.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			calls.Go(func() { l.add(time.Now(), l.call(context.WithoutCancel(ctx))) })
		}
	}
}

// result is what came of one call: the outcome, and what the gateway said of a failure.
type result struct {
	outcome outcome
	said    string
}

func (l *load) call(ctx context.Context) result {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.page, nil)
	if err != nil {
		return result{failed, err.Error()}
	}
	res, err := l.client.Do(req)
	if err != nil {
		return result{classifyError(err), err.Error()}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if err != nil {
		return result{classifyError(err), err.Error()}
	}
	return classify(res.StatusCode, body)
}

func classifyError(err error) outcome {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return late
	}
	return failed
}

// classify reads what the gateway answered.
func classify(code int, body []byte) result {
	if code == http.StatusOK {
		return result{outcome: answered}
	}
	var answer struct{ Message string }
	if err := json.Unmarshal(body, &answer); err != nil {
		answer.Message = string(body)
	}
	said := fmt.Sprintf("%d %s", code, answer.Message)
	for _, known := range []struct {
		part    string
		outcome outcome
	}{
		{"Connection refused", refused},
		{"prematurely closed", broken},
		{"reset by peer", broken},
		{"Unable to find instance", nobody},
		{"timed out", late},
	} {
		if strings.Contains(answer.Message, known.part) {
			return result{known.outcome, said}
		}
	}
	if code == http.StatusGatewayTimeout {
		return result{late, said}
	}
	return result{failed, said}
}

func (l *load) add(at time.Time, r result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count[r.outcome]++
	if r.outcome == answered {
		return
	}
	if l.first.IsZero() {
		l.first = at
	}
	l.last = at
	if r.outcome == failed && len(l.seen) < 20 {
		l.seen[r.said]++
	}
}

// tally is what a load has counted.
type tally map[outcome]int

func (c tally) calls() int { return c[answered] + c.failed() }

func (c tally) failed() (n int) {
	for _, o := range failures() {
		n += c[o]
	}
	return n
}

func TestTheGatewaySaysWhyACallFailed(t *testing.T) {
	for name, tc := range map[string]struct {
		code int
		body string
		want outcome
	}{
		"an answer":               {200, "orders-1", answered},
		"nobody listens":          {500, `{"message":"Connection refused: /10.99.20.3:8080"}`, refused},
		"it ended in the call":    {500, `{"message":"Connection prematurely closed BEFORE response"}`, broken},
		"nobody is known":         {503, `{"message":"503 SERVICE_UNAVAILABLE \"Unable to find instance for orders\""}`, nobody},
		"no answer to a SYN":      {500, `{"message":"connection timed out after 45000 ms: /10.99.20.3:8080"}`, late},
		"a gateway's own timeout": {504, `{"message":null}`, late},
		"no document":             {500, `oops`, failed},
	} {
		if got := classify(tc.code, []byte(tc.body)); got.outcome != tc.want {
			t.Errorf("%s: %s, want %s", name, got.outcome, tc.want)
		}
	}
}
