package instance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"

	"github.com/kureka/kureka/test/rig/instance/child"
)

const (
	// maxEvents bounds what is remembered of an instance, the oldest are dropped.
	maxEvents = 1000
	// maxLine bounds one line of output in bytes; more is dropped.
	maxLine = 4 << 10
)

// Process is an instance as its parent sees it. It dies with its parent. Its
// methods may be called from several goroutines.
type Process struct {
	*child.Process
	// Config is what the instance runs with.
	Config Config

	observe func(Event)
	rest    []byte // of output without a line end; only the copying goroutine uses it

	mu     sync.Mutex
	events []Event
}

// Start runs this program again as an instance. observe, which may be nil, is
// called with everything the instance does, in order, and must not block.
func Start(config Config, observe func(Event)) (*Process, error) {
	config = config.withDefaults()
	encoded, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("encoding the configuration of an instance: %w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding the own program: %w", err)
	}
	p := &Process{Config: config, observe: observe}
	cmd := exec.Command(program, chosen, string(encoded)) //nolint:noctx // it lives until it is told or killed
	cmd.Stdout = (*output)(p)
	cmd.Stderr = os.Stderr
	if p.Process, err = child.Start(cmd); err != nil {
		return nil, fmt.Errorf("starting an instance of %s: %w", config.App, err)
	}
	return p, nil
}

// Events returns what the instance did, oldest first, at most the last 1000.
func (p *Process) Events() []Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Event(nil), p.events...)
}

// Serving reports whether the instance listens, by its own account.
func (p *Process) Serving() bool {
	serving := false
	for _, e := range p.Events() {
		if e.Op == Listening || e.Op == Closed {
			serving = e.Op == Listening
		}
	}
	return serving
}

func (p *Process) add(e Event) {
	p.mu.Lock()
	if len(p.events) == maxEvents {
		p.events = append(p.events[:1], p.events[2:]...) // the first tells that it listens
	}
	p.events = append(p.events, e)
	p.mu.Unlock()
	if p.observe != nil {
		p.observe(e)
	}
}

// output reads the events from the instance's standard output.
type output Process

func (o *output) Write(data []byte) (int, error) {
	o.rest = append(o.rest, data...)
	for {
		line, rest, found := bytes.Cut(o.rest, []byte("\n"))
		if !found {
			break
		}
		o.rest = rest
		var e Event
		if err := json.Unmarshal(line, &e); err == nil { // anything else is no event
			(*Process)(o).add(e)
		}
	}
	if len(o.rest) > maxLine {
		o.rest = nil
	}
	return len(data), nil
}
