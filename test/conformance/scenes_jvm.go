package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"syscall"
	"time"
)

// servedApp is an application whose instances answer calls.
const servedApp = "SERVED"

// playReconcile: clients that reconcile deltas never found that what they hold is
// not what the registry has.
func playReconcile(ctx context.Context, s *stage) (map[string]error, error) {
	return each(ctx, s.those(reconciles), func(ctx context.Context, l *lane) error {
		return until(ctx, "the client's hash to be the registry's", func(ctx context.Context) error {
			var stats struct {
				Mismatches *int   `json:"mismatches"`
				Hash       string `json:"hash"`
			}
			if err := l.ask(ctx, http.MethodGet, "/stats", &stats); err != nil {
				return err
			}
			hash, err := s.registry.hash(ctx)
			switch {
			case err != nil:
				return err
			case stats.Mismatches == nil:
				return fatal(errors.New("the client does not tell how often its hash did not match"))
			case *stats.Mismatches != 0:
				return fatal(fmt.Errorf("the client's hash did not match %d times", *stats.Mismatches))
			case stats.Hash != hash:
				return fmt.Errorf("the client's hash is %q, the registry's %q", stats.Hash, hash)
			}
			return nil
		})
	}), nil
}

// hash is the one that clients compare theirs with.
func (r *registryClient) hash(ctx context.Context) (string, error) {
	body, err := r.do(ctx, http.MethodGet, "/apps", nil, http.StatusOK)
	if err != nil {
		return "", err
	}
	var doc wireApplications
	if err := json.Unmarshal(body, &doc); err != nil {
		return "", fmt.Errorf("decoding the registry: %w", err)
	}
	return doc.Applications.Hash, nil
}

// restartable are the clients whose preStop hook takes them out of service.
func restartable(c *Client) bool { return c.Does.Actuator && !c.Lacks.Stop && !c.Program.Hosts }

// playContainer is what a preStop hook and a restart of the container do: the hook
// posts OUT_OF_SERVICE to the actuator, the process gets SIGTERM, and the same
// instance comes up again. It must be UP.
func playContainer(ctx context.Context, s *stage) (map[string]error, error) {
	lanes := s.those(restartable)
	failed := each(ctx, lanes, func(ctx context.Context, l *lane) error {
		if err := l.ask(ctx, http.MethodPost, "/override/OUT_OF_SERVICE", nil); err != nil {
			return err
		}
		if err := s.listed(ctx, l, "OUT_OF_SERVICE"); err != nil {
			return err
		}
		l.process.Signal(syscall.SIGTERM)
		if err := l.ends(ctx); err != nil {
			return err
		}
		if err := s.unlisted(ctx, l); err != nil {
			return err
		}
		process, err := l.launch()
		if err != nil {
			return err
		}
		l.process = process
		if err := l.ready(ctx); err != nil {
			return err
		}
		return s.listed(ctx, l, "UP")
	})
	return both(failed, s.everybodyAgrees(ctx)), nil
}

// ends waits for the end of the program, whatever its exit code.
func (l *lane) ends(ctx context.Context) error {
	return until(ctx, "the program to end", func(context.Context) error {
		select {
		case <-l.process.Done():
			return nil
		default:
			return errors.New("it still runs")
		}
	})
}

// backend is an instance that answers every call with its own id.
type backend struct {
	Instance
	server *httptest.Server
}

func newBackend(number int) (*backend, error) {
	in := puppet(servedApp, number, "UP")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/health" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"status":"UP"}`)
			return
		}
		_, _ = io.WriteString(w, in.ID)
	}))
	host, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		return nil, fmt.Errorf("reading the address of a backend: %w", err)
	}
	in.HostName, in.IPAddr, in.VIP = host, host, "served"
	if in.Port, err = strconv.Atoi(port); err != nil {
		return nil, fmt.Errorf("reading the port of a backend: %w", err)
	}
	in.HealthCheckURL = server.URL + "/health"
	return &backend{Instance: in, server: server}, nil
}

// withBackends registers two backends and has them answer while play runs.
func withBackends(ctx context.Context, s *stage, play func(a, b *backend) error) error {
	a, err := newBackend(41)
	if err != nil {
		return err
	}
	defer a.server.Close()
	b, err := newBackend(42)
	if err != nil {
		return err
	}
	defer b.server.Close()
	for _, in := range []Instance{a.Instance, b.Instance} {
		if err := s.registry.register(ctx, in); err != nil {
			return err
		}
	}
	return play(a, b)
}

// playRoutes sends real calls through a gateway, and ends one instance after the
// other.
func playRoutes(ctx context.Context, s *stage) (map[string]error, error) {
	return each(ctx, s.those(routes), func(ctx context.Context, l *lane) error {
		return withBackends(ctx, s, func(a, b *backend) error {
			if err := l.routesTo(ctx, a.ID, b.ID); err != nil {
				return err
			}
			if err := s.registry.override(ctx, a.Instance, "OUT_OF_SERVICE"); err != nil {
				return err
			}
			if err := l.routesTo(ctx, b.ID); err != nil {
				return err
			}
			if err := s.registry.clearOverride(ctx, a.Instance); err != nil {
				return err
			}
			if err := s.registry.cancel(ctx, b.Instance); err != nil {
				return err
			}
			if err := l.routesTo(ctx, a.ID); err != nil {
				return err
			}
			if err := s.registry.cancel(ctx, a.Instance); err != nil {
				return err
			}
			return l.routesTo(ctx)
		})
	}), nil
}

// routesTo waits until a series of calls is answered by all of these instances and
// by no other, and by none at all if there are none.
func (l *lane) routesTo(ctx context.Context, ids ...string) error {
	const calls = 12
	return until(ctx, fmt.Sprintf("the gateway to call %v", ids), func(ctx context.Context) error {
		answered := map[string]int{}
		for range calls {
			code, body, err := get(ctx, l.self.Serves+"/served/whoami")
			switch {
			case err != nil:
				return err
			case code == http.StatusOK:
				answered[body]++
			case len(ids) > 0 || code != http.StatusServiceUnavailable && code != http.StatusNotFound:
				return fmt.Errorf("a call was answered %d", code)
			}
		}
		for _, id := range ids {
			if answered[id] == 0 {
				return fmt.Errorf("%s got none of %d calls: %v", id, calls, answered)
			}
			delete(answered, id)
		}
		if len(answered) > 0 {
			return fmt.Errorf("others got calls: %v", answered)
		}
		return nil
	})
}

// playWatches reads in Spring Boot Admin what it makes of the registry.
func playWatches(ctx context.Context, s *stage) (map[string]error, error) {
	return each(ctx, s.those(watches), func(ctx context.Context, l *lane) error {
		return withBackends(ctx, s, func(a, b *backend) error {
			if err := l.watches(ctx, map[string]string{a.HealthCheckURL: "UP", b.HealthCheckURL: "UP"}); err != nil {
				return err
			}
			if err := s.registry.cancel(ctx, a.Instance); err != nil {
				return err
			}
			if err := l.watches(ctx, map[string]string{b.HealthCheckURL: "UP"}); err != nil {
				return err
			}
			if err := s.registry.cancel(ctx, b.Instance); err != nil {
				return err
			}
			return l.watches(ctx, nil)
		})
	}), nil
}

// watches waits until Spring Boot Admin shows these instances of the served
// application, by the URL of their health, and their state.
func (l *lane) watches(ctx context.Context, want map[string]string) error {
	return until(ctx, "Spring Boot Admin to show what is registered", func(ctx context.Context) error {
		_, body, err := get(ctx, l.self.Serves+"/instances")
		if err != nil {
			return err
		}
		var instances []struct {
			Registration struct {
				Name      string `json:"name"`
				HealthURL string `json:"healthUrl"`
			} `json:"registration"`
			StatusInfo struct {
				Status string `json:"status"`
			} `json:"statusInfo"`
		}
		if err := json.Unmarshal([]byte(body), &instances); err != nil {
			return fmt.Errorf("decoding its instances: %w", err)
		}
		shown := 0
		for _, in := range instances {
			if in.Registration.Name != servedApp {
				continue
			}
			shown++
			if status, wanted := want[in.Registration.HealthURL]; !wanted || status != in.StatusInfo.Status {
				return fmt.Errorf("it shows %s as %s", in.Registration.HealthURL, in.StatusInfo.Status)
			}
		}
		if shown != len(want) {
			return fmt.Errorf("it shows %d instances of %s, not %d", shown, servedApp, len(want))
		}
		return nil
	})
}

// get reads a page as a browser does that asks for JSON.
func get(ctx context.Context, url string) (code int, body string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", fmt.Errorf("building a request: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	content, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return 0, "", fmt.Errorf("reading the answer of %s: %w", url, err)
	}
	return res.StatusCode, string(content), nil
}
