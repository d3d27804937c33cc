// Package child starts programs that cannot outlive this one, whatever ends it.
// It owns their process ids and nothing else, and must not import anything of
// the product.
package child

import (
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// Process is a running or ended program in a process group of its own. Its
// methods may be called from several goroutines.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{}

	mu    sync.Mutex // guards ended: no signal goes to a number that is free again
	ended bool
}

// Start starts cmd, whose SysProcAttr it sets.
func Start(cmd *exec.Cmd) (*Process, error) {
	cmd.SysProcAttr = attributes()
	p := &Process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel ends the child when the thread that made it ends, so this
		// thread is kept until the child has ended.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	return p, nil
}

func (p *Process) wait() {
	_ = p.cmd.Wait() // ProcessState says how it ended
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	close(p.done)
}

// Done is closed when the program has ended and all its output was written.
func (p *Process) Done() <-chan struct{} { return p.done }

// Signal is dropped when the program has ended.
func (p *Process) Signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		_ = p.cmd.Process.Signal(sig) // fails only when it has just ended
	}
}

// Kill ends the program at once and returns when it is gone. Killing twice is
// fine.
func (p *Process) Kill() {
	p.Signal(syscall.SIGKILL)
	<-p.done
}

// ExitCode is what a shell would report, 128 + n after signal n. It is valid
// once Done is closed.
func (p *Process) ExitCode() int {
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return p.cmd.ProcessState.ExitCode()
}
