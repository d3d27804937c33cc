package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kureka/kureka/test/conformance"
	"github.com/kureka/kureka/test/rig/instance/child"
	"github.com/kureka/kureka/test/rig/markdown"
	"github.com/kureka/kureka/test/rig/netns"
)

// languages are the sections of the page. Only Go is there wherever tests are run.
func languages() []string {
	if *withClients {
		return []string{"Spring", "Node", "Python", "Go"}
	}
	return []string{"Go"}
}

func page() (*markdown.Document, error) {
	return markdown.Read(filepath.Join(root, "docs", "quickstarts.md"))
}

// build writes the files of each language to a folder of its own and runs the
// commands that need a network.
func build(ctx context.Context, folder string) error {
	d, err := page()
	if err != nil {
		return err
	}
	shop, err := conformance.OpenWorkshop(filepath.Join(root, "test", "conformance"))
	if err != nil {
		return err
	}
	// What Maven downloads is kept with what it has downloaded for the lanes.
	repository := filepath.Join(filepath.Dir(shop.Cache), "maven")
	if err := os.Setenv("MAVEN_OPTS", "-Dmaven.repo.local="+repository); err != nil {
		return fmt.Errorf("choosing Maven's repository: %w", err)
	}
	for _, language := range languages() {
		dir := filepath.Join(folder, language)
		if err := write(d, language, dir); err != nil {
			return err
		}
		for _, b := range d.Below(language, "build") {
			if err := shop.Run(ctx, os.Stderr, "building the quickstart of "+language, dir, "bash", "-ec", b.Text); err != nil {
				return err
			}
		}
	}
	return nil
}

// write makes the files of a section.
func write(d *markdown.Document, heading, dir string) error {
	for _, b := range d.Blocks {
		name, isFile := strings.CutPrefix(b.Marker, "file ")
		if !isFile || b.Heading != heading {
			continue
		}
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, []byte(b.Text), 0o600)); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	return nil
}

func TestEachQuickstartRegistersRenewsFetchesAndDeregisters(t *testing.T) {
	netns.Require(t)
	d, err := page()
	if err != nil {
		t.Fatal(err)
	}
	serve(t)
	t.Run("all at once", func(t *testing.T) {
		for _, language := range languages() {
			t.Run(language, func(t *testing.T) {
				t.Parallel()
				blocks := d.Below(language, "run")
				if len(blocks) != 1 {
					t.Fatalf("%s has %d blocks that run it", language, len(blocks))
				}
				quickstart{t: t, app: "ORDERS-" + strings.ToUpper(language)}.play(filepath.Join(os.Getenv(quickstartsEnv), language), blocks[0].Text)
			})
		}
	})
}

// serve runs a registry on the addresses that documents name.
func serve(t *testing.T) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "kureka.log"))
	if err != nil {
		t.Fatal(err)
	}
	kureka := exec.CommandContext(t.Context(), os.Getenv("KUREKA_PROGRAM"), "standalone", "--start-gate", "Off")
	kureka.Stdout, kureka.Stderr = log, log
	process, err := child.Start(kureka)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		process.Kill()
		_ = log.Close() // it is only for people
	})
	until(t, "the registry is ready", func(ctx context.Context) error {
		_, err := get(ctx, "http://localhost:8081/readyz")
		return err
	})
}

// quickstart is a program of the page that runs.
type quickstart struct {
	t   *testing.T
	app string
}

func (q quickstart) play(dir, command string) {
	q.t.Helper()
	logPath := filepath.Join(q.t.TempDir(), "log")
	log, err := os.Create(logPath)
	if err != nil {
		q.t.Fatal(err)
	}
	defer func() { _ = log.Close() }()                         // it is read again
	program := exec.Command("bash", "-c", "exec env "+command) //nolint:noctx // it is ended as a user would
	program.Dir, program.Stdout, program.Stderr = dir, log, log
	process, err := child.Start(program)
	if err != nil {
		q.t.Fatal(err)
	}
	defer process.Kill()
	q.t.Cleanup(func() {
		if content, err := os.ReadFile(logPath); q.t.Failed() {
			q.t.Logf("what it printed: %v\n%s", err, content)
		}
	})
	until(q.t, "it is listed and has renewed", q.renewed)
	until(q.t, "it prints what it has fetched", func(context.Context) error {
		content, err := os.ReadFile(logPath)
		if err == nil && !strings.Contains(string(content), ":8090") {
			err = errors.New("it does not print its own address")
		}
		return err
	})
	process.Signal(syscall.SIGTERM)
	until(q.t, "it has ended", func(context.Context) error {
		select {
		case <-process.Done():
			return nil
		default:
			return errors.New("it still runs")
		}
	})
	if code, err := get(q.t.Context(), q.url()); code != http.StatusNotFound {
		q.t.Errorf("after its end the registry answers %d %v", code, err)
	}
}

func (q quickstart) url() string { return "http://localhost:8761/eureka/apps/" + q.app }

// renewed expects one instance that is UP and has sent a heartbeat.
func (q quickstart) renewed(ctx context.Context) error {
	var answer struct {
		Application struct {
			Instance []struct {
				Status    string
				LeaseInfo struct{ RegistrationTimestamp, LastRenewalTimestamp int64 }
			}
		}
	}
	if err := decode(ctx, q.url(), &answer); err != nil {
		return err
	}
	instances := answer.Application.Instance
	if len(instances) != 1 || instances[0].Status != "UP" {
		return fmt.Errorf("it is listed as %+v", instances)
	}
	if lease := instances[0].LeaseInfo; lease.LastRenewalTimestamp <= lease.RegistrationTimestamp {
		return errors.New("it has sent no heartbeat")
	}
	return nil
}

func decode(ctx context.Context, url string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the registry answers %s", resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(into)
}

// get returns the status code, and an error unless it is 200.
func get(ctx context.Context, url string) (int, error) {
	return ask(ctx, http.MethodGet, url)
}

func ask(ctx context.Context, method, url string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, http.NoBody)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	err = errors.Join(err, resp.Body.Close())
	if resp.StatusCode != http.StatusOK {
		err = errors.Join(err, fmt.Errorf("%s answers %s", url, resp.Status))
	}
	return resp.StatusCode, err
}

// until asks again and again until there is no error.
func until(t *testing.T, what string, holds func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), probeEvery, patience, true, func(ctx context.Context) (bool, error) {
		last = holds(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("%s: never: %v", what, last)
	}
}
