package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	stateFile = "cluster.json"
	dataDir   = "data" // of the control plane
)

// state names the process that holds a running control plane, with the moment it
// started, so that a later process with the same number is never taken for it.
type state struct {
	PID        int    `json:"pid"`
	Started    string `json:"started"`
	Kubeconfig string `json:"kubeconfig"`
}

// withDefaults places files beside the binaries when no flag says otherwise. Where
// there is no cache folder the commands fail with a reason of their own.
func (s settings) withDefaults() settings {
	if s.dir == "" {
		base := os.Getenv("KUREKA_CACHE")
		if base == "" {
			cache, err := os.UserCacheDir()
			if err != nil {
				cache = os.TempDir()
			}
			base = filepath.Join(cache, "kureka")
		}
		s.dir = filepath.Join(base, "cluster")
	}
	if s.path == "" {
		s.path = filepath.Join(s.dir, "kubeconfig")
	}
	return s
}

func (s settings) file(name string) string { return filepath.Join(s.dir, name) }

// absolute makes the paths independent of the working directory.
func (s settings) absolute() (settings, error) {
	var err error
	if s.dir, err = filepath.Abs(s.dir); err != nil {
		return s, fmt.Errorf("resolving the folder: %w", err)
	}
	if s.path, err = filepath.Abs(s.path); err != nil {
		return s, fmt.Errorf("resolving the kubeconfig: %w", err)
	}
	return s, nil
}

// running reads the state of the last control plane; ok is false when there is
// none or it is not alive.
func (s settings) running() (st state, ok bool, err error) {
	content, err := os.ReadFile(s.file(stateFile))
	if errors.Is(err, os.ErrNotExist) {
		return state{}, false, nil
	}
	if err != nil {
		return state{}, false, fmt.Errorf("reading the state: %w", err)
	}
	if err := json.Unmarshal(content, &st); err != nil {
		return state{}, false, fmt.Errorf("decoding %s (remove it if no control plane runs): %w", s.file(stateFile), err)
	}
	started, err := startTime(st.PID)
	return st, err == nil && started == st.Started, nil
}

func (s settings) saveState() error {
	started, err := startTime(os.Getpid())
	if err != nil {
		return err
	}
	content, err := json.Marshal(state{PID: os.Getpid(), Started: started, Kubeconfig: s.path})
	if err != nil {
		return fmt.Errorf("encoding the state: %w", err)
	}
	tmp := s.file(stateFile + ".tmp")
	if err := os.WriteFile(tmp, content, 0o600); err != nil {
		return fmt.Errorf("writing the state: %w", err)
	}
	if err := os.Rename(tmp, s.file(stateFile)); err != nil {
		return fmt.Errorf("writing the state: %w", err)
	}
	return nil
}

// startTime is when a process started, in clock ticks after boot. With the number
// it identifies a process for as long as the machine runs.
func startTime(pid int) (string, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", fmt.Errorf("reading the start time of process %d: %w", pid, err)
	}
	// The second field, the name in parentheses, may contain spaces.
	const startField = 22 - 3 // counted after the name
	line := string(content)
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) <= startField {
		return "", fmt.Errorf("reading the start time of process %d: %d fields", pid, len(fields))
	}
	// A zombie has ended; only its parent has not noticed yet.
	if fields[0] == "Z" {
		return "", fmt.Errorf("reading the start time of process %d: %w", pid, os.ErrProcessDone)
	}
	return fields[startField], nil
}
