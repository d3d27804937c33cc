package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/kureka/kureka/test/rig/instance/child"
)

// lane is one client at work.
type lane struct {
	client   *Client
	settings settings
	tap      *tap
	process  *child.Process
	launch   func() (*child.Process, error) // starts the program again; nil if it hosts other lanes
	logPath  string
	control  *http.Client

	self     identity
	returned bool // it has registered again after the registry had forgotten it
}

// identity is what a lane says of itself.
type identity struct {
	Client  string `json:"client"`
	Version string `json:"version"`
	App     string `json:"app"`
	ID      string `json:"id"`
	// Serves is the base URL of the application around the client, if it serves anything.
	Serves string `json:"serves"`
}

// errUnsupported means that the client has no means for what it was asked.
var errUnsupported = errors.New("the client has no means for this")

// ask sends a request to the lane's control server and decodes the answer into
// out unless that is nil.
func (l *lane) ask(ctx context.Context, method, path string, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+l.settings["LANE_CONTROL"]+path, nil)
	if err != nil {
		return fmt.Errorf("building a request: %w", err)
	}
	res, err := l.control.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 16<<20))
	switch {
	case err != nil:
		return fmt.Errorf("reading the lane's answer: %w", err)
	case res.StatusCode == http.StatusNotImplemented:
		return fatal(fmt.Errorf("%s %s: %w", method, path, errUnsupported))
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf("%s %s was answered %s: %s", method, path, res.Status, body)
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("decoding the lane's answer to %s: %w", path, err)
	}
	return nil
}

// ready waits until the client has started and keeps what it says of itself.
func (l *lane) ready(ctx context.Context) error {
	err := within(ctx, startPatience, "the client to start", func(ctx context.Context) error {
		select {
		case <-l.process.Done():
			return fatal(fmt.Errorf("it ended with code %d", l.process.ExitCode()))
		default:
			return l.ask(ctx, http.MethodGet, "/ready", nil)
		}
	})
	if err != nil {
		return err
	}
	if err := l.ask(ctx, http.MethodGet, "/whoami", &l.self); err != nil {
		return err
	}
	if l.client.Packaged {
		l.client.ran = l.self.Version
	} else if l.self.Version != l.client.Version {
		return fmt.Errorf("the lane runs version %q, not %q", l.self.Version, l.client.Version)
	}
	return nil
}

// holds is what the client holds now.
func (l *lane) holds(ctx context.Context) ([]Instance, error) {
	var v view
	if err := l.ask(ctx, http.MethodGet, "/registry", &v); err != nil {
		return nil, err
	}
	return v.instances(), nil
}

// own is what the registry should list of this lane.
func (l *lane) own() (Instance, error) {
	in, err := l.settings.instance()
	if err != nil {
		return in, err
	}
	in.ID = l.self.ID
	return l.client.listing(in, l.returned), nil
}

// stop shuts the client down gracefully and waits for the program's end, unless
// it hosts other lanes.
func (l *lane) stop(ctx context.Context) error {
	if err := l.ask(ctx, http.MethodPost, "/stop", nil); err != nil {
		return err
	}
	if l.client.Program.Hosts {
		return nil
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-l.process.Done():
		if code := l.process.ExitCode(); code != 0 {
			return fmt.Errorf("the program ended with code %d", code)
		}
		return nil
	case <-timer.C:
		return errors.New("the program did not end after its client had stopped")
	case <-ctx.Done():
		return ctx.Err()
	}
}
