// Command kubectl-kureka asks a Kureka in a cluster what it sees and why. On the
// PATH it is `kubectl kureka`.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/kureka/kureka/internal/cli"
)

func main() {
	os.Exit(run())
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	return cli.Main(ctx, os.Args[1:], cli.Environment{Out: os.Stdout, Err: os.Stderr, Now: time.Now, Getenv: os.Getenv})
}
