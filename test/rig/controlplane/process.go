package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

const (
	readyTimeout = 90 * time.Second
	readyPoll    = 50 * time.Millisecond
)

// process is one running program in a process group of its own. It dies with
// this process, whatever kills this process.
type process struct {
	name    string
	pid     int
	logPath string
	done    chan struct{} // closed when the program has ended
	exit    error         // valid once done is closed
}

// startProcess runs path and appends its output to <dir>/<name>.log.
func startProcess(name, path string, args []string, dir string) (*process, error) {
	logPath := filepath.Join(dir, name+".log")
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", name, err)
	}
	cmd := exec.Command(path, args...) //nolint:noctx // it lives until kill, not until some context ends
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = childAttributes()
	p := &process{name: name, logPath: logPath, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel ends the child when the thread that made it ends, so this
		// thread must live as long as the child.
		runtime.LockOSThread()
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		started <- err
		if err == nil {
			p.exit = cmd.Wait()
			close(p.done)
		}
	}()
	if err := errors.Join(<-started, log.Close()); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	return p, nil
}

// waitReady polls check until it succeeds. It fails when the program ends, ctx
// ends or readyTimeout passes, and then shows the end of the log.
func (p *process) waitReady(ctx context.Context, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	ticker := time.NewTicker(readyPoll)
	defer ticker.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			err = fmt.Errorf("it ended: %w", errors.Join(p.exit, err))
		case <-ctx.Done():
			err = errors.Join(ctx.Err(), err)
		case <-ticker.C:
			continue
		}
		return fmt.Errorf("waiting for %s: %w\n%s", p.name, err, p.logTail())
	}
}

// kill ends the process group at once and waits until it is gone. Killing twice
// or killing nothing is fine.
func (p *process) kill() {
	if p == nil {
		return
	}
	p.signal(syscall.SIGKILL)
	<-p.done
}

// signal is dropped when the program has ended: its number may belong to
// somebody else by then.
func (p *process) signal(sig syscall.Signal) {
	select {
	case <-p.done:
	default:
		_ = syscall.Kill(-p.pid, sig)
	}
}

func (p *process) running() bool {
	if p == nil {
		return false
	}
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

func (p *process) logTail() string {
	content, err := os.ReadFile(p.logPath)
	if err != nil {
		return "its log cannot be read: " + err.Error()
	}
	return "end of " + p.logPath + ":\n" + lastLines(string(content))
}
