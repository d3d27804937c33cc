package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
)

// The exit codes.
const (
	exitOK = 0
	// exitFound is for commands that look for something, such as differences.
	exitFound = 1
	exitError = 2
)

// errFound says that a command has printed what it looked for, and that it is
// nothing to be glad about. It ends the process with exitFound and without a word.
var errFound = errors.New("something was found")

// errEnough says that an interruption is how a command is meant to end.
var errEnough = errors.New("somebody has seen enough")

// Environment is what a command has of the process it runs in. All fields are
// required.
type Environment struct {
	Out, Err io.Writer
	Now      func() time.Time
	Getenv   func(name string) string
}

// Main runs a command line until it is done or the context ends, and returns the
// exit code: 0 if all is well, 1 if what was looked for was found, such as a
// difference, and 2 if there is no answer. An interrupted command has none, whatever it
// printed: parts that it could not read may be missing.
func Main(ctx context.Context, args []string, env Environment) int {
	klog.LogToStderr(false) // what a forwarded port cannot do, a request says in better words
	klog.SetOutput(io.Discard)
	root := newRoot(env)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	switch {
	case errors.Is(err, errEnough):
		return exitOK
	case ctx.Err() != nil:
		err = errors.New("interrupted, so this is no answer")
	case err == nil:
		return exitOK
	case errors.Is(err, errFound):
		return exitFound
	}
	fmt.Fprintln(env.Err, "error:", err)
	return exitError
}

func newRoot(env Environment) *cobra.Command {
	o := newOptions(env)
	root := &cobra.Command{
		Use:   "kubectl-kureka",
		Short: "Ask a Kureka registry what it sees and why",
		Long: `Ask a Kureka registry what it sees and why.

The registry is found in the cluster by its labels and reached through the API
server; --server goes to one directly. Exit codes: 0 is fine, 1 means that what was
looked for was found, such as a difference, and 2 that there is no answer.`,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl kureka"},
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	o.addFlags(root.PersistentFlags())
	for _, newCommand := range commands() {
		root.AddCommand(newCommand(o))
	}
	return root
}

// commands are all commands; a new one is a line here.
func commands() []func(*options) *cobra.Command {
	return []func(*options) *cobra.Command{
		newAudit,
		newStatus,
		newInstances,
		newWhy,
		newConsumers,
		newBudget,
		newPolicy,
		newObserveReport,
		newOverride,
		newDiff,
		newVersion,
	}
}
