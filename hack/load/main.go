// Command load plays the clients of a registry and tells what the registry takes
// for them: its memory, its processor time and the bytes it sends. Each client has a
// connection of its own, registers, renews and fetches with the defaults of Spring's,
// and each minute a part of them leaves and comes back. With a kubeconfig it first
// makes a pod for each, on nodes named node-1, node-2 and so on, and registers in
// their names. docs/sizing.md is written from it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/pflag"
)

// settings are the flags.
type settings struct {
	url        string
	pid        int
	clients    int
	duration   time.Duration
	kubeconfig string
	nodes      int
	churn      int
}

// interval is how often a client renews, and how often it fetches.
const interval = 30 * time.Second

// warmUp is when all have fetched a whole list and no delta tells of their
// registrations any more.
const warmUp = 3*time.Minute + interval

func main() {
	var s settings
	pflag.StringVar(&s.url, "url", "http://localhost:8761/eureka", "base URL of the registry")
	pflag.IntVar(&s.pid, "pid", 0, "process to measure")
	pflag.IntVar(&s.clients, "clients", 400, "how many clients to play")
	pflag.DurationVar(&s.duration, "duration", 2*time.Minute, "how long to measure once all have registered")
	pflag.StringVar(&s.kubeconfig, "kubeconfig", "", "cluster in which to make a pod for each client; none if empty")
	pflag.IntVar(&s.nodes, "nodes", 25, "nodes that pods are spread over")
	pflag.IntVar(&s.churn, "churn-percent", 5, "part of the clients that leaves and comes back each minute")
	pflag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, s)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings) error {
	hosts, err := hosts(ctx, s)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	traffic := &traffic{}
	fleet, err := startFleet(ctx, s, hosts, traffic)
	if err != nil {
		return err
	}
	defer fleet.wait()
	defer cancel()
	fmt.Fprintf(os.Stderr, "%d clients have registered\n", s.clients)
	if err := pass(ctx, warmUp); err != nil {
		return err
	}
	before, err := measure(s.pid, traffic)
	if err != nil {
		return err
	}
	if err := pass(ctx, s.duration); err != nil {
		return err
	}
	after, err := measure(s.pid, traffic)
	if err != nil {
		return err
	}
	fmt.Println(after.since(before))
	return nil
}

// pass lets time pass.
func pass(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
