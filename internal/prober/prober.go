package prober

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"github.com/kureka/kureka/internal/evidence"
)

// The bounds where Options leave them unset.
const (
	// DefaultTimeout leaves room for one repetition of the first packet after a
	// second, and ends before the kernel gives up looking for a neighbour.
	DefaultTimeout = 2 * time.Second
	DefaultLimit   = 96
	DefaultRate    = 48
)

// Options configure a Prober.
type Options struct {
	// Tell is told of every answer. It is called by several goroutines and must not
	// block for long, because that uses up the bounds.
	Tell func(evidence.Probed)
	// Timeout is how long an attempt takes at most.
	Timeout time.Duration
	// Limit is how many attempts are under way at most, Rate how many begin in a
	// second, on average and at once.
	Limit, Rate int
	// Registerer takes the metrics, if there is one.
	Registerer prometheus.Registerer
}

// Prober makes attempts to connect. Its methods may be called concurrently.
type Prober struct {
	opts    Options
	slots   chan struct{}
	pace    *rate.Limiter
	running sync.WaitGroup
	asked   *prometheus.CounterVec
}

const dropped = "dropped"

// New returns a prober that does nothing before it is asked.
func New(opts Options) *Prober {
	if opts.Timeout <= 0 {
		opts.Timeout = DefaultTimeout
	}
	if opts.Limit <= 0 {
		opts.Limit = DefaultLimit
	}
	if opts.Rate <= 0 {
		opts.Rate = DefaultRate
	}
	p := &Prober{
		opts: opts, slots: make(chan struct{}, opts.Limit), pace: rate.NewLimiter(rate.Limit(opts.Rate), opts.Rate),
		asked: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kureka_probes_total",
			Help: "Attempts to connect to kubelets and pods of nodes that may be silent, by what came of them; dropped ones were too many.",
		}, []string{"result"}),
	}
	for _, r := range []evidence.Reach{evidence.Unsure, evidence.Answered, evidence.Refused, evidence.Unanswered} {
		p.asked.WithLabelValues(r.String())
	}
	p.asked.WithLabelValues(dropped)
	if opts.Registerer != nil {
		opts.Registerer.MustRegister(p.asked)
	}
	return p
}

// Ask begins an attempt for every address and returns at once. What is beyond the
// bounds is dropped and never answered. Attempts end with the context, without an
// answer.
func (p *Prober) Ask(ctx context.Context, probes []evidence.Probe) {
	for _, probe := range probes {
		if !p.begin() {
			p.asked.WithLabelValues(dropped).Inc()
			continue
		}
		p.running.Go(func() {
			defer func() { <-p.slots }()
			r := p.attempt(ctx, probe)
			if ctx.Err() != nil {
				return
			}
			p.asked.WithLabelValues(r.Reach.String()).Inc()
			p.opts.Tell(r)
		})
	}
}

// begin takes a slot, if there is one and the pace allows it.
func (p *Prober) begin() bool {
	select {
	case p.slots <- struct{}{}:
	default:
		return false
	}
	if p.pace.Allow() {
		return true
	}
	<-p.slots
	return false
}

// Wait returns when no attempt is under way.
func (p *Prober) Wait() { p.running.Wait() }

func (p *Prober) attempt(ctx context.Context, probe evidence.Probe) evidence.Probed {
	ctx, cancel := context.WithTimeout(ctx, p.opts.Timeout)
	defer cancel()
	began := time.Now()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", probe.Addr.String())
	r := evidence.Probed{Probe: probe, Reach: reachOf(err)}
	if err != nil {
		if r.Reach == evidence.Unanswered && time.Since(began) > 2*p.opts.Timeout {
			r.Reach = evidence.Unsure // this process was stopped meanwhile, and the answer may have been there
		}
		return r
	}
	if a, err := netip.ParseAddrPort(conn.LocalAddr().String()); err == nil {
		r.Local = a.Addr().Unmap()
	}
	_ = conn.Close() // nothing was sent
	return r
}

// reachOf says what an attempt's error means. That the network knows no way, as many
// routers and firewalls say in the name of a host that lives, is no silence.
func reachOf(err error) evidence.Reach {
	switch {
	case err == nil:
		return evidence.Answered
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ECONNRESET):
		return evidence.Refused
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), errors.Is(err, syscall.ETIMEDOUT):
		return evidence.Unanswered
	}
	return evidence.Unsure
}
