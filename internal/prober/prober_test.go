package prober

import (
	"context"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/test/rig/netns"
)

func TestMain(m *testing.M) { os.Exit(netns.Run(m)) }

// ask asks one address and returns the answer.
func ask(t *testing.T, addr netip.AddrPort) evidence.Probed {
	t.Helper()
	answers := make(chan evidence.Probed, 1)
	p := New(Options{Tell: func(r evidence.Probed) { answers <- r }, Timeout: 300 * time.Millisecond})
	probe := evidence.Probe{Addr: addr, Asked: time.Unix(1_700_000_000, 0)}
	p.Ask(t.Context(), []evidence.Probe{probe})
	r := <-answers
	if r.Probe != probe {
		t.Errorf("answer to %+v", r.Probe)
	}
	return r
}

// listen opens a port on an address; nobody need accept what the kernel has.
func listen(t *testing.T, ip string) netip.AddrPort {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort(ip, "0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return netip.MustParseAddrPort(l.Addr().String())
}

func blackHole(t *testing.T, addr string) {
	t.Helper()
	restore, err := netns.BlackHole(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := restore(); err != nil {
			t.Error(err)
		}
	})
}

func TestAListenerAnswers(t *testing.T) {
	addr := listen(t, "127.0.0.1")
	if r := ask(t, addr); r.Reach != evidence.Answered || r.Local != netip.MustParseAddr("127.0.0.1") {
		t.Errorf("got %v from %v", r.Reach, r.Local)
	}
}

func TestAClosedPortRefuses(t *testing.T) {
	if r := ask(t, netip.MustParseAddrPort("127.0.0.1:1")); r.Reach != evidence.Refused {
		t.Errorf("got %v", r.Reach)
	}
}

func TestAHostThatIsGoneDoesNotAnswerUntilItIsBack(t *testing.T) {
	netns.Require(t)
	addr := listen(t, "10.99.7.1")
	restore, err := netns.BlackHole("10.99.7.1")
	if err != nil {
		t.Fatal(err)
	}
	if r := ask(t, addr); r.Reach != evidence.Unanswered {
		t.Errorf("got %v", r.Reach)
	}
	if err := restore(); err != nil {
		t.Fatal(err)
	}
	if r := ask(t, addr); r.Reach != evidence.Answered {
		t.Errorf("back, got %v", r.Reach)
	}
}

func TestANetworkWithoutAWayIsNoSilence(t *testing.T) {
	netns.Require(t)
	if r := ask(t, netip.MustParseAddrPort("203.0.113.1:80")); r.Reach != evidence.Unsure {
		t.Errorf("got %v", r.Reach)
	}
}

func TestWhatIsBeyondTheBoundsIsDropped(t *testing.T) {
	netns.Require(t)
	blackHole(t, "10.99.7.2")
	tests := map[string]struct {
		opts Options
		want float64 // dropped of 100
	}{
		"under way": {Options{Limit: 8, Rate: 1000}, 92},
		"at once":   {Options{Limit: 1000, Rate: 10}, 90},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			metrics := prometheus.NewRegistry()
			tc.opts.Timeout, tc.opts.Registerer = time.Hour, metrics
			tc.opts.Tell = func(r evidence.Probed) { t.Errorf("answered %v", r.Reach) }
			p := New(tc.opts)
			ctx, cancel := context.WithCancel(t.Context())
			probes := make([]evidence.Probe, 100)
			for i := range probes {
				probes[i].Addr = netip.MustParseAddrPort("10.99.7.2:80")
			}
			p.Ask(ctx, probes)
			if got := counted(t, metrics, dropped); got != tc.want {
				t.Errorf("%v dropped, want %v", got, tc.want)
			}
			cancel()
			p.Wait() // nothing goes on, and nobody is told
		})
	}
}

// counted returns how often something came of a probe.
func counted(t *testing.T, metrics prometheus.Gatherer, result string) float64 {
	t.Helper()
	families, err := metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if m.GetLabel()[0].GetValue() == result {
				return m.GetCounter().GetValue()
			}
		}
	}
	t.Fatalf("nothing counts %s", result)
	return 0
}
