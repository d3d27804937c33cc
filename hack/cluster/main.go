// Command cluster finds or builds the control plane binaries and runs a control
// plane of your own:
//
//	cluster ensure    find, download or build the binaries
//	cluster up        start a control plane in the background
//	cluster down      stop it and remove what it left
//	cluster run       run one in the foreground until interrupted
//
// It owns the commands; everything else is in test/rig/controlplane.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/kureka/kureka/test/rig/controlplane"
)

const usage = `usage: cluster <command> [flags]

  ensure   find, download or build the binaries of the control plane
  up       start a control plane in the background
  down     stop it and remove its files
  run      run a control plane until interrupted

flags:
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

// settings are the flags of all commands.
type settings struct {
	dir   string // state, logs and the default kubeconfig
	path  string // of the kubeconfig
	stock bool   // timers
	nodes int
}

func run(ctx context.Context, args []string) error {
	s, flags, err := parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if flags.NArg() != 1 {
		flags.Usage()
		return errors.New("want one command")
	}
	switch command := flags.Arg(0); command {
	case "ensure":
		return ensure(ctx)
	case "up":
		return up(ctx, s)
	case "down":
		return down(ctx, s)
	case "run":
		return serve(ctx, s)
	default:
		flags.Usage()
		return fmt.Errorf("unknown command %q", command)
	}
}

func parse(args []string) (settings, *pflag.FlagSet, error) {
	var s settings
	flags := pflag.NewFlagSet("cluster", pflag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(os.Stderr, usage+flags.FlagUsages()) }
	flags.StringVar(&s.dir, "dir", "", "folder for state and logs (default <cache folder>/kureka/cluster)")
	flags.StringVar(&s.path, "kubeconfig", "", "where to write the kubeconfig (default <dir>/kubeconfig)")
	flags.BoolVar(&s.stock, "stock-timers", false, "keep the default timers of Kubernetes: a silent node is Unknown after 50 s instead of 4 s")
	flags.IntVar(&s.nodes, "nodes", 2, "number of fake nodes, whose pods run nothing")
	if err := flags.Parse(args); err != nil {
		return settings{}, flags, err
	}
	if s.nodes < 0 || s.nodes > maxNodes {
		return settings{}, flags, fmt.Errorf("--nodes must be between 0 and %d", maxNodes)
	}
	return s.withDefaults(), flags, nil
}

func ensure(ctx context.Context) error {
	binaries, err := controlplane.Ensure(ctx, os.Stderr)
	if err != nil {
		return err
	}
	for _, path := range []string{binaries.Etcd, binaries.APIServer, binaries.ControllerManager} {
		fmt.Println(path)
	}
	return nil
}
