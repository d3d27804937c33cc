package controlplane

import (
	"context"
	"fmt"
	"os"
)

// Run starts a control plane without a controller manager for all tests of a package,
// hands it to ready and runs them; m is a *testing.M. It returns the exit code.
func Run(m interface{ Run() int }, ready func(context.Context, *ControlPlane) error) int {
	ctx := context.Background()
	plane, err := Start(ctx, Options{NoControllerManager: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := 1
	if err := ready(ctx, plane); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	if err := plane.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// test is what StartFor needs of a *testing.T or a *testing.B.
type test interface {
	Helper()
	Context() context.Context
	Fatal(args ...any)
	Error(args ...any)
	Cleanup(f func())
}

// StartFor starts a control plane for one test and stops it at its end.
func StartFor(t test, opts Options) *ControlPlane {
	t.Helper()
	plane, err := Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	return plane
}
