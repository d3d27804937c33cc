package netns

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/vishvananda/netlink"
)

const (
	// gateway is the address given to the loopback device; its prefix makes the
	// whole network local.
	gateway = "10.99.0.1/16"

	// The inner program reports on this descriptor, the first one that exec passes
	// on besides the standard three.
	reportDescriptor = 3
	reportReady      = "ready"
)

// reexec runs the program inside and returns its exit code. An error means that
// nothing of it has run beyond the setup.
func reexec() (int, error) {
	// The kernel ends the inner program when the thread that made it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	report, reportWriter, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("making the report pipe: %w", err)
	}
	defer func() { _ = report.Close() }() // it was only read
	cmd := innerCommand(reportWriter)
	if err := errors.Join(cmd.Start(), reportWriter.Close()); err != nil {
		return 0, fmt.Errorf("making a user and network namespace: %w", err)
	}
	stop := forwardSignals(cmd.Process)
	defer stop()
	answer, readErr := io.ReadAll(report)
	waitErr := cmd.Wait()
	if string(answer) != reportReady {
		return 0, errors.Join(errors.New("setting up the namespace: "+string(answer)), readErr, waitErr)
	}
	return exitCode(cmd.ProcessState), nil
}

func innerCommand(report *os.File) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...) //nolint:noctx // it is this program and ends when it likes
	cmd.Args[0] = os.Args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{report}
	cmd.Env = append(os.Environ(), insideEnv+"="+stageSetup)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		// Its own group, so that Ctrl-C reaches it once, through us.
		Setpgid:   true,
		Pdeathsig: syscall.SIGKILL,
	}
	return cmd
}

func forwardSignals(to *os.Process) (stop func()) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	go func() {
		for s := range signals {
			_ = to.Signal(s) // fails only when it has ended already
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
	}
}

// exitCode is what a shell would report: 128 + n after signal n.
func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// settle gives the fresh namespace its addresses and reports. If that fails the
// outer program goes on without a namespace, so this one ends.
func settle() {
	report := os.NewFile(reportDescriptor, "report")
	if err := errors.Join(addAddresses(), os.Setenv(insideEnv, stageReady)); err != nil {
		_, _ = report.WriteString(err.Error()) // an empty report says failure, too
		os.Exit(1)
	}
	_, err := report.WriteString(reportReady)
	if err := errors.Join(err, report.Close()); err != nil {
		os.Exit(1)
	}
}

func addAddresses() error {
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("finding the loopback device: %w", err)
	}
	if err := netlink.LinkSetUp(loopback); err != nil {
		return fmt.Errorf("bringing the loopback device up: %w", err)
	}
	address, err := netlink.ParseAddr(gateway)
	if err != nil {
		return fmt.Errorf("parsing %s: %w", gateway, err)
	}
	if err := netlink.AddrAdd(loopback, address); err != nil {
		return fmt.Errorf("adding %s: %w", gateway, err)
	}
	return nil
}
