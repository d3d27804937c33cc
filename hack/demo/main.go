// Command demo replays the incident that Kureka is for, on a real API server with
// real processes, and prints what the registry and a gateway see. It exits
// non-zero when anything is not as it should be and leaves nothing running.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/kureka/kureka/test/rig/instance"
	"github.com/kureka/kureka/test/rig/netns"
	"github.com/kureka/kureka/test/rig/stage"
)

func main() {
	instance.RunIfChosen()
	klog.SetLogger(logr.Discard()) // requests that end with a scene are no news
	var d demo
	flag.BoolVar(&d.compare, "compare", os.Getenv("COMPARE") != "", "play the incident beside it with leases only and stock timers, for five minutes")
	flag.IntVar(&d.runs, "runs", 10, "how often four instances are killed for the measurement")
	flag.Parse()
	if err := run(&d); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(d *demo) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := stage.Prepare(ctx, os.Stdout); err != nil {
		return err
	}
	if _, err := netns.Enter(); err != nil {
		fmt.Println(err)
	}
	defer func() { err = errors.Join(err, stage.Discard()) }()
	return d.play(ctx)
}
