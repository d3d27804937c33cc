package instance

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMain(m *testing.M) {
	RunIfChosen()
	os.Exit(m.Run())
}

// request is what the registry was asked.
type request struct {
	Method, Path, Status string
	From                 string
	Body                 string
}

// registry answers with the given codes in turn, then with 200.
func registry(t *testing.T, codes ...int) (url string, asked <-chan request) {
	t.Helper()
	answers := make(chan int, len(codes))
	for _, code := range codes {
		answers <- code
	}
	requests := make(chan request, 1000)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		from, _, _ := net.SplitHostPort(r.RemoteAddr)
		requests <- request{r.Method, r.URL.EscapedPath(), r.URL.Query().Get("status"), from, string(body)}
		select {
		case code := <-answers:
			w.WriteHeader(code)
		default:
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, requests
}

// start runs an instance whose events can be read from the channel.
func start(t *testing.T, config Config) (*Process, <-chan Event) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config.Address = netip.MustParseAddrPort(l.Addr().String())
	l.Close()
	events := make(chan Event, 1000)
	p, err := Start(config, func(e Event) { events <- e })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p, events
}

// next returns the next event of one of the kinds.
func next(t *testing.T, events <-chan Event, kinds ...Op) Event {
	t.Helper()
	for {
		select {
		case e := <-events:
			if slices.Contains(kinds, e.Op) {
				return e
			}
		case <-t.Context().Done():
			t.Fatalf("no %v", kinds)
		}
	}
}

func TestInstance_registersRenewsAndRegistersAgainWhenUnknown(t *testing.T) {
	url, asked := registry(t, http.StatusNoContent, http.StatusOK, http.StatusNotFound, http.StatusNoContent)
	p, _ := start(t, Config{App: "orders", HostName: "orders-1", Registry: url, RenewalInterval: 10 * time.Millisecond})
	path := "/apps/ORDERS/" + p.Config.ID()
	from := p.Config.Address.Addr().String()
	want := []request{
		{Method: "POST", Path: "/apps/ORDERS", From: from},
		{Method: "PUT", Path: path, Status: "UP", From: from},
		{Method: "PUT", Path: path, Status: "UP", From: from},
		{Method: "POST", Path: "/apps/ORDERS", From: from},
		{Method: "PUT", Path: path, Status: "UP", From: from},
	}
	for i, w := range want {
		got := <-asked
		body := got.Body
		got.Body = ""
		if diff := cmp.Diff(w, got); diff != "" {
			t.Errorf("request %d differs (-want +got):\n%s", i, diff)
		}
		if got.Method == http.MethodPost {
			checkRecord(t, p.Config, body)
		}
	}
}

func checkRecord(t *testing.T, c Config, body string) {
	t.Helper()
	var got struct {
		Instance struct {
			InstanceID, App, IPAddr, Status string
			Port                            struct {
				Number uint16 `json:"$"`
			}
			LeaseInfo struct{ DurationInSecs int }
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	in := got.Instance
	if in.InstanceID != c.ID() || in.App != "ORDERS" || in.IPAddr != c.Address.Addr().String() || in.Status != "UP" ||
		in.Port.Number != c.Address.Port() || in.LeaseInfo.DurationInSecs != 90 {
		t.Errorf("record = %+v", in)
	}
}

func TestInstance_saysWhoItIsUntilItIsAskedToEnd(t *testing.T) {
	tests := map[string]struct {
		farewell Farewell
		cancels  bool
	}{
		"in order":       {farewell: Cancel, cancels: true},
		"without a word": {farewell: Vanish},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			url, asked := registry(t)
			p, events := start(t, Config{App: "orders", HostName: "orders-1", Registry: url, OnTerm: tc.farewell})
			next(t, events, Registered)
			if got, want := who(t, p), (Identity{App: "orders", ID: p.Config.ID()}); got != want {
				t.Errorf("identity = %v, want %v", got, want)
			}
			p.Signal(syscall.SIGTERM)
			next(t, events, Closed)
			if _, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.Config.Address.String()); err == nil {
				t.Error("it still listens")
			}
			<-p.Done()
			if p.ExitCode() != 0 {
				t.Errorf("exit code = %d", p.ExitCode())
			}
			<-asked
			if cancelled := len(asked) == 1; cancelled != tc.cancels {
				t.Errorf("cancelled = %v, want %v", cancelled, tc.cancels)
			}
		})
	}
}

func TestInstance_ignoresWhatItIsToldTo(t *testing.T) {
	url, asked := registry(t)
	p, events := start(t, Config{
		App: "orders", HostName: "orders-1", Registry: url, OnTerm: Ignore, RenewalInterval: 10 * time.Millisecond, RegisterEvery: 2,
	})
	next(t, events, Registered)
	p.Signal(syscall.SIGTERM)
	next(t, events, Registered)
	next(t, events, Registered)
	if !p.Serving() {
		t.Error("it does not serve")
	}
	p.Kill()
	if p.ExitCode() != 137 {
		t.Errorf("exit code = %d, want 137", p.ExitCode())
	}
	if len(asked) == 0 {
		t.Error("the registry was not asked")
	}
}

func TestClient_pausesLongerWhileNobodyAnswers(t *testing.T) {
	c := newClient(Config{RenewalInterval: time.Second, MaxBackoff: 5 * time.Second}, nil)
	pauses := make([]time.Duration, 1, 7)
	pauses[0] = time.Second
	for _, answered := range []bool{false, false, false, false, true, false} {
		pauses = append(pauses, c.pause(pauses[len(pauses)-1], answered))
	}
	want := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second, time.Second, 2 * time.Second}
	if diff := cmp.Diff(want, pauses); diff != "" {
		t.Errorf("pauses differ (-want +got):\n%s", diff)
	}
	c.config.MaxBackoff = 0
	if got := c.pause(time.Second, false); got != time.Second {
		t.Errorf("a client that does not back off pauses %s", got)
	}
}

func TestInstance_reportsThatNobodyAnswers(t *testing.T) {
	_, events := start(t, Config{App: "orders", HostName: "orders-1", Registry: "http://127.0.0.1:1"})
	e := next(t, events, Registered)
	if e.Code != 0 || e.Error == "" || e.Accepted() {
		t.Errorf("event = %+v", e)
	}
}

func who(t *testing.T, p *Process) Identity {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.Config.Address.String()+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var got Identity
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	return got
}
