package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/kureka/kureka/test/rig/controlplane"
)

const (
	logFile     = "cluster.log"
	pollEvery   = 100 * time.Millisecond
	stopTimeout = 20 * time.Second
)

// up runs this command again as "run", in the background, and returns once its
// control plane is ready.
func up(ctx context.Context, s settings) error {
	s, err := s.absolute()
	if err != nil {
		return err
	}
	if st, ok, err := s.running(); err != nil || ok {
		return errors.Join(err, alreadyRunning(st, ok))
	}
	// Here, where its progress can be seen.
	if _, err := controlplane.Ensure(ctx, os.Stderr); err != nil {
		return err
	}
	cmd, err := background(s)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if err := s.waitReady(ctx, cmd.Process.Pid, ended); err != nil {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
		return err
	}
	fmt.Printf("export KUBECONFIG=%s\n", s.path)
	return nil
}

func alreadyRunning(st state, ok bool) error {
	if !ok {
		return nil
	}
	return fmt.Errorf("a control plane runs already (process %d, KUBECONFIG=%s); 'cluster down' ends it", st.PID, st.Kubeconfig)
}

func background(s settings) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the folder: %w", err)
	}
	log, err := os.Create(s.file(logFile))
	if err != nil {
		return nil, fmt.Errorf("creating the log: %w", err)
	}
	//nolint:noctx // it is meant to outlive this command
	cmd := exec.Command(self, "run", "--dir", s.dir, "--kubeconfig", s.path,
		"--nodes", strconv.Itoa(s.nodes), "--stock-timers="+strconv.FormatBool(s.stock))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := errors.Join(cmd.Start(), log.Close()); err != nil {
		return nil, fmt.Errorf("starting in the background: %w", err)
	}
	return cmd, nil
}

// waitReady waits until the background process has written its state.
func (s settings) waitReady(ctx context.Context, pid int, ended <-chan error) error {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		if st, ok, err := s.running(); err == nil && ok && st.PID == pid {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-ended:
			return fmt.Errorf("the control plane did not come up, see %s: %w", s.file(logFile), err)
		case <-ticker.C:
		}
	}
}

// down ends the process that up started, and no other, and removes its files.
func down(ctx context.Context, s settings) error {
	s, err := s.absolute()
	if err != nil {
		return err
	}
	st, ok, err := s.running()
	if err != nil {
		return err
	}
	if !ok {
		fmt.Fprintln(os.Stderr, "cluster: no control plane runs")
		return s.removeFiles(st.Kubeconfig)
	}
	if err := syscall.Kill(st.PID, syscall.SIGTERM); err != nil {
		return fmt.Errorf("ending process %d: %w", st.PID, err)
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	if err := s.waitEnded(ctx, st); err != nil {
		return err
	}
	return s.removeFiles(st.Kubeconfig)
}

func (s settings) waitEnded(ctx context.Context, st state) error {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		if started, err := startTime(st.PID); err != nil || started != st.Started {
			return nil
		}
		select {
		case <-ctx.Done():
			// Its children end with it.
			return errors.Join(fmt.Errorf("process %d did not end, killing it", st.PID), syscall.Kill(st.PID, syscall.SIGKILL))
		case <-ticker.C:
		}
	}
}

// removeFiles also removes what a control plane that was killed has left.
func (s settings) removeFiles(kubeconfig string) error {
	paths := []string{s.file(dataDir), s.file(stateFile), s.file(logFile)}
	if kubeconfig != "" {
		paths = append(paths, kubeconfig)
	}
	return removeAll(paths...)
}

func removeAll(paths ...string) error {
	var errs []error
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil {
			errs = append(errs, fmt.Errorf("removing what is left: %w", err))
		}
	}
	return errors.Join(errs...)
}
