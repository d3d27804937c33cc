package netns

import (
	"errors"
	"fmt"
	"os"
	"testing"
)

// Network is the prefix whose addresses can be bound inside.
const Network = "10.99.0.0/16"

// insideEnv is set in the inner program: to stageSetup until the namespace is
// ready, then to stageReady, also for the programs it starts.
const (
	insideEnv  = "KUREKA_NETNS"
	stageSetup = "setup"
	stageReady = "ready"
)

// UnavailableError says why this machine gives no namespace. The caller can go
// on outside and leave out what needs addresses of its own.
type UnavailableError struct {
	Cause error
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("entering a network namespace: %v", e.Cause)
}

func (e *UnavailableError) Unwrap() error { return e.Cause }

// Inside reports whether this process, or a parent of it, entered a namespace.
func Inside() bool { return os.Getenv(insideEnv) == stageReady }

// Enter runs this program again, with the same arguments, inside a namespace.
// Inside, it returns true. Outside, it forwards signals to the inner program and
// ends with its exit code, so it does not return; only when the machine gives no
// namespace it returns an *UnavailableError. Call it first thing in main.
func Enter() (inside bool, err error) {
	switch os.Getenv(insideEnv) {
	case stageReady:
		return true, nil
	case stageSetup:
		settle()
		return true, nil
	}
	code, err := reexec()
	if err != nil {
		return false, &UnavailableError{Cause: err}
	}
	os.Exit(code)
	return false, nil
}

// Run is TestMain inside a namespace. Where there is none it says so and runs the
// tests outside; those that need addresses of their own call Require.
func Run(m *testing.M) int {
	if _, err := Enter(); err != nil {
		fmt.Fprintf(os.Stderr, "%v; tests that need addresses of their own are skipped\n", err)
	}
	return m.Run()
}

// BlackHole makes whatever is sent to an address of Network vanish without an answer,
// as with a machine that is switched off, until restore is called. Connections that
// are open get no answers either.
func BlackHole(addr string) (restore func() error, err error) {
	if !Inside() {
		return nil, errors.New("making a black hole: not inside a namespace")
	}
	return blackHole(addr)
}

// Require skips a test outside a namespace.
func Require(t *testing.T) {
	t.Helper()
	if !Inside() {
		t.Skip("needs a network namespace, which this machine does not give")
	}
}
