package stage

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kureka/kureka/test/rig/controlplane"
	"github.com/kureka/kureka/test/rig/instance/child"
)

// SystemNamespace is where the operators keep their own Leases, each under its
// name.
const SystemNamespace = "kureka-system"

// Operator is the program under test as a process, on addresses of its own. Its
// methods may be called from several goroutines.
type Operator struct {
	rig     *Rig
	name    string
	address string
	args    []string // all but the start gate
	logPath string
	client  *http.Client

	mu      sync.Mutex
	process *child.Process
}

// OperatorOptions describe an operator.
type OperatorOptions struct {
	// Name is its own among the operators of a rig.
	Name string
	// Address is where it listens; one of its own is chosen if it is empty.
	Address string
	// Gate is its --start-gate.
	Gate string
	// Config says how it reaches the API server and as whom; nil means directly, as
	// an administrator.
	Config *rest.Config
	// Args are further flags.
	Args []string
}

// StartManager runs the program as an operator of the rig's cluster and returns
// once it takes registrations.
func (r *Rig) StartManager(ctx context.Context, options OperatorOptions) (*Operator, error) {
	if options.Config == nil {
		options.Config = r.Plane.Config()
	}
	kubeconfig := filepath.Join(r.dir, options.Name+".kubeconfig")
	if err := controlplane.WriteKubeconfig(options.Config, kubeconfig); err != nil {
		return nil, fmt.Errorf("starting %s: %w", options.Name, err)
	}
	args := append([]string{"--kubeconfig", kubeconfig, "--namespace", SystemNamespace, "--canary-lease", options.Name}, options.Args...)
	if options.Address == "" {
		options.Address = r.ServerAddress()
	}
	return r.startOperator(ctx, options, "manager", args...)
}

// StartStandalone runs the program as a registry that sees no cluster.
func (r *Rig) StartStandalone(ctx context.Context, name string) (*Operator, error) {
	return r.startOperator(ctx, OperatorOptions{Name: name, Address: r.ServerAddress(), Gate: "Off"}, "standalone")
}

func (r *Rig) startOperator(ctx context.Context, options OperatorOptions, command string, args ...string) (*Operator, error) {
	o := &Operator{
		rig:     r,
		name:    options.Name,
		address: options.Address,
		logPath: filepath.Join(r.dir, options.Name+".log"),
		client:  &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{}},
	}
	o.args = append([]string{
		command,
		"--registry-bind-address", o.address + ":8761",
		"--metrics-bind-address", o.address + ":8080",
		"--health-probe-bind-address", o.address + ":8081",
	}, args...)
	r.keep(func() error { o.Kill(); return nil })
	if err := o.Start(ctx, options.Gate); err != nil {
		return nil, err
	}
	return o, nil
}

// URL is the base URL of the Eureka API.
func (o *Operator) URL() string { return o.Base() + "/eureka" }

// Base is the URL of everything on the address of the Eureka API.
func (o *Operator) Base() string { return "http://" + o.address + ":8761" }

// Start runs the process, again after Kill, and returns once it is ready.
func (o *Operator) Start(ctx context.Context, gate string) error {
	log, err := os.OpenFile(o.logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening the log of %s: %w", o.name, err)
	}
	defer func() { _ = log.Close() }() // the process has a copy of its own
	//nolint:noctx // it lives until it is killed
	cmd := exec.Command(o.rig.program, slices.Concat(o.args, []string{"--start-gate", gate})...)
	cmd.Stdout, cmd.Stderr = log, log
	p, err := child.Start(cmd)
	if err != nil {
		return fmt.Errorf("starting %s: %w", o.name, err)
	}
	o.mu.Lock()
	o.process = p
	o.mu.Unlock()
	err = Until(ctx, "operator "+o.name+" to be ready", func(ctx context.Context) (bool, error) {
		select {
		case <-p.Done():
			return false, fmt.Errorf("it ended with code %d\n%s", p.ExitCode(), o.logTail())
		default:
			return o.get(ctx, ":8081/readyz", func(io.Reader) error { return nil }) == nil, nil
		}
	})
	if err != nil {
		return fmt.Errorf("starting %s: %w", o.name, err)
	}
	return nil
}

// Kill ends the process at once, as kill -9 does, and returns when it is gone.
func (o *Operator) Kill() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.process != nil {
		o.process.Kill()
	}
}

// Stop asks the process to end, as SIGTERM does, and returns when it has ended or
// with ctx.
func (o *Operator) Stop(ctx context.Context) error {
	o.mu.Lock()
	p := o.process
	o.mu.Unlock()
	p.Signal(syscall.SIGTERM)
	select {
	case <-p.Done():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stopping %s: %w", o.name, ctx.Err())
	}
}

// Pause stops the process without ending it, as a machine does that is frozen;
// Resume lets it go on.
func (o *Operator) Pause() { o.signal(syscall.SIGSTOP) }

// Resume ends Pause.
func (o *Operator) Resume() { o.signal(syscall.SIGCONT) }

func (o *Operator) signal(s syscall.Signal) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.process.Signal(s)
}

// Log is the program's log so far.
func (o *Operator) Log() string {
	content, err := os.ReadFile(o.logPath)
	if err != nil {
		return "its log cannot be read: " + err.Error()
	}
	return string(content)
}

// logTail is the end of the program's log.
func (o *Operator) logTail() string {
	const lines = 30
	all := strings.Split(strings.TrimSpace(o.Log()), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// Engaged reports whether self-preservation holds leases of a namespace.
func (o *Operator) Engaged(ctx context.Context, namespace string) (bool, error) {
	value, err := o.metric(ctx, fmt.Sprintf("kureka_self_preservation_engaged{namespace=%q}", namespace))
	return value == 1, err
}

// Renewals returns how many renewals a minute self-preservation expects in a
// namespace and how many it receives.
func (o *Operator) Renewals(ctx context.Context, namespace string) (expected, received float64, err error) {
	expected, err = o.metric(ctx, fmt.Sprintf("kureka_renewals_expected_per_minute{namespace=%q}", namespace))
	if err != nil {
		return 0, 0, err
	}
	received, err = o.metric(ctx, fmt.Sprintf("kureka_renewals_received_per_minute{namespace=%q}", namespace))
	return expected, received, err
}

// metric returns the value of a series, 0 if there is none.
func (o *Operator) metric(ctx context.Context, series string) (value float64, err error) {
	err = o.get(ctx, ":8080/metrics", func(body io.Reader) error {
		lines := bufio.NewScanner(body)
		for lines.Scan() {
			if text, found := strings.CutPrefix(lines.Text(), series+" "); found {
				value, err = strconv.ParseFloat(text, 64)
				return err
			}
		}
		return lines.Err()
	})
	if err != nil {
		return 0, fmt.Errorf("reading metric %s: %w", series, err)
	}
	return value, nil
}

func (o *Operator) get(ctx context.Context, path string, read func(io.Reader) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+o.address+path, nil)
	if err != nil {
		return fmt.Errorf("building the request: %w", err)
	}
	res, err := o.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", path, res.Status)
	}
	return read(io.LimitReader(res.Body, 1<<20))
}
