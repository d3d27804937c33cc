package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"
)

// options are the command's flags.
type options struct {
	jar, program string
	seed         uint64
	count, steps int
	budget       time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.jar, "reference", "", "jar of the reference server")
	flag.StringVar(&o.program, "kureka", "bin/kureka", "Kureka's program")
	flag.Uint64Var(&o.seed, "seed", 1, "first seed; each sequence has one")
	flag.IntVar(&o.count, "count", 2000, "number of sequences")
	flag.IntVar(&o.steps, "steps", 16, "longest sequence")
	flag.DurationVar(&o.budget, "budget", 10*time.Minute, "time after which the comparison counts as failed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, o.budget)
	defer cancel()
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to be cleaned up: children end with their context, which is over
	}
}

// run compares and tells the result.
func run(ctx context.Context, o options, out io.Writer) error {
	reference, err := startReference(ctx, o.jar)
	if err != nil {
		return err
	}
	defer reference.stop()
	p := newPlayer(reference, o.program)
	p.prepare(ctx)
	defer func() {
		if last := <-p.next; last.server != nil {
			last.server.stop()
		}
	}()
	played, failed := 0, 0
	for ; played < o.count && failed < 5; played++ {
		seed := o.seed + uint64(played)
		steps := newGenerator(seed).sequence(o.steps)
		problem, err := p.play(ctx, steps)
		if err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
		if problem == nil {
			continue
		}
		if steps, problem, err = p.minimise(ctx, steps, problem); err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
		report(out, seed, steps, problem)
		failed++
	}
	return p.conclude(out, o.seed, played, failed)
}

// report prints a difference with the sequence that shows it.
func report(out io.Writer, seed uint64, steps []step, problem *problem) {
	fmt.Fprintf(out, "\nseed %d: no rule explains a difference after the last of these requests (BASE is the URL that ends in /eureka):\n", seed)
	for _, st := range steps {
		fmt.Fprintln(out, " ", st.String())
	}
	fmt.Fprintln(out, problem)
}

// enough is the number of sequences among which every rule is needed.
const enough = 1000

// conclude prints how often each rule was needed. A rule that never was is wrong
// or stale.
func (p *player) conclude(out io.Writer, seed uint64, played, failed int) error {
	fmt.Fprintf(out, "\n%d sequences from seed %d, %d requests to each server. Differences explained, by rule:\n", played, seed, p.steps)
	unused := 0
	for _, r := range p.rules {
		fmt.Fprintf(out, "  %6d  %s\n", p.fired[r.name], r.name)
		if p.fired[r.name] == 0 {
			unused++
		}
	}
	fmt.Fprintf(out, "%d passed, %d failed\n", played-failed, failed)
	switch {
	case failed > 0:
		return fmt.Errorf("%d sequences differ", failed)
	case unused > 0 && played >= enough:
		return fmt.Errorf("%d rules explain nothing: they are wrong or no longer needed", unused)
	}
	return nil
}
