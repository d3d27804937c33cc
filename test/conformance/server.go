package conformance

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"

	"github.com/kureka/kureka/test/rig/instance/child"
)

// server is the Kureka process under test. It may be killed and started again on
// the same address.
type server struct {
	program string
	address string
	logPath string
	probe   string
	process *child.Process
}

func newServer(program, address, probe, dir string) *server {
	return &server{program: program, address: address, probe: probe, logPath: filepath.Join(dir, "kureka.log")}
}

// start runs the process and returns once it takes registrations.
func (s *server) start(ctx context.Context, gate string) error {
	argv := []string{
		s.program, "standalone", "--registry-bind-address", s.address, "--start-gate", gate,
		"--metrics-bind-address", "0", "--health-probe-bind-address", s.probe,
	}
	var err error
	if s.process, err = startProgram(argv, nil, filepath.Dir(s.logPath), s.logPath); err != nil {
		return fmt.Errorf("starting kureka: %w", err)
	}
	return until(ctx, "kureka to be ready", func(ctx context.Context) error {
		select {
		case <-s.process.Done():
			return fatal(fmt.Errorf("it ended with code %d\n%s", s.process.ExitCode(), logTail(s.logPath)))
		default:
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.probe+"/readyz", nil)
		if err != nil {
			return fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("it answers %s", res.Status)
		}
		return nil
	})
}

// kill ends the process as kill -9 does.
func (s *server) kill() {
	if s.process != nil {
		s.process.Kill()
	}
}

// alive reports whether the process is still the one that was started.
func (s *server) alive() error {
	select {
	case <-s.process.Done():
		return fmt.Errorf("kureka ended with code %d\n%s", s.process.ExitCode(), logTail(s.logPath))
	default:
		return nil
	}
}
