package java

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/kureka/kureka/test/rig/instance/child"
	"github.com/kureka/kureka/test/rig/kubelet"
)

// process is one container. It implements kubelet.Process, Prober and Executor.
type process struct {
	*child.Process
	env   []string
	done  chan kubelet.ExitState
	ready atomic.Bool
}

func (p *process) Terminate()                     { p.Signal(syscall.SIGTERM) }
func (p *process) Kill()                          { p.Signal(syscall.SIGKILL) }
func (p *process) Done() <-chan kubelet.ExitState { return p.done }
func (p *process) Ready() bool                    { return p.ready.Load() }

// Exec implements kubelet.Executor. The command ends with the container.
func (p *process) Exec(ctx context.Context, command []string) error {
	if len(command) == 0 {
		return errors.New("running a command in a container: there is none")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-p.Process.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env, cmd.WaitDelay = p.env, time.Second // what a shell started may hold its output open
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running a command in a container: %w: %s", err, out)
	}
	return nil
}

// probe asks the application for its readiness until ctx ends.
func (p *process) probe(ctx context.Context, page string, interval time.Duration) {
	client := &http.Client{Timeout: 5 * time.Second}
	defer client.CloseIdleConnections()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
		if err != nil {
			return
		}
		res, err := client.Do(req)
		if err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
		p.ready.Store(err == nil && res.StatusCode == http.StatusOK)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
