package conformance

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"

	"github.com/kureka/kureka/test/rig/instance/child"
)

// startProgram runs a program whose output is appended to a log file.
func startProgram(argv, env []string, dir, logPath string) (*child.Process, error) {
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	defer func() { _ = log.Close() }()        // the program has a copy of its own
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // it lives until it is stopped or killed
	cmd.Env = append(os.Environ(), env...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	return child.Start(cmd)
}

// logTail is the end of a program's log.
func logTail(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return "its log cannot be read: " + err.Error()
	}
	return lastLines(string(content))
}

// ports hands out loopback addresses whose ports are free and below the range the
// kernel gives to outgoing connections, so that nobody takes one while a server is
// down, and no client that redials ends up talking to itself.
type ports struct {
	mu    sync.Mutex
	taken map[int]bool
}

func (p *ports) free() (string, error) {
	const first, count = 20000, 12000
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken == nil {
		p.taken = map[int]bool{}
	}
	for range 200 {
		port := first + rand.IntN(count)
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		if p.taken[port] {
			continue
		}
		listener, err := net.Listen("tcp", address) //nolint:noctx // it neither waits nor resolves
		if err != nil {
			continue
		}
		p.taken[port] = true
		return address, listener.Close()
	}
	return "", errors.New("finding a free port: 200 tries found none")
}
