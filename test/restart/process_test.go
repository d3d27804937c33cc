package restart

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kureka/kureka/test/rig/instance/child"
)

// program builds the program once.
var program = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(tempDir, "bin")
	out, err := exec.Command("go", "build", "-o", dir+"/", "github.com/kureka/kureka/cmd/kureka").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building the program: %w\n%s", err, out)
	}
	return filepath.Join(dir, "kureka"), nil
})

// process is the program as a process, on free ports.
type process struct {
	*child.Process
	t    *testing.T
	open chan struct{} // closed when all its listeners are open

	mu    sync.Mutex
	addrs map[string]string // by what they are for
	log   bytes.Buffer
	read  int // how much of the log was looked at: whole lines
}

// run starts the program and returns when all its listeners are open.
func run(t *testing.T, args ...string) *process {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"registry-bind-address", "metrics-bind-address", "health-probe-bind-address"} {
		args = append(args, "--"+flag, "127.0.0.1:0")
	}
	//nolint:noctx // it lives until it is ended or killed
	cmd := exec.Command(path, args...)
	p := &process{t: t, open: make(chan struct{}), addrs: map[string]string{}}
	cmd.Stdout, cmd.Stderr = (*output)(p), (*output)(p)
	if p.Process, err = child.Start(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("its log:\n%s", p.text())
		}
	})
	select {
	case <-p.open:
	case <-p.Done():
		t.Fatalf("it ended with code %d", p.ExitCode())
	case <-time.After(time.Minute):
		t.Fatal("it does not listen")
	}
	return p
}

// output keeps the log of a process and learns its addresses from it.
type output process

func (o *output) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.log.Write(data)
	for {
		line, _, found := bytes.Cut(o.log.Bytes()[o.read:], []byte("\n"))
		if !found {
			return len(data), nil
		}
		o.read += len(line) + 1
		var l struct{ Msg, For, Address string }
		if json.Unmarshal(line, &l) == nil && l.Msg == "Listening" {
			if o.addrs[l.For] = l.Address; len(o.addrs) == 3 {
				close(o.open)
			}
		}
	}
}

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

func (p *process) addr(what string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.addrs[what]
}

// wait returns the code with which it ended by itself.
func (p *process) wait() int {
	p.t.Helper()
	select {
	case <-p.Done():
	case <-time.After(2 * time.Minute):
		p.t.Fatal("it does not end")
	}
	return p.ExitCode()
}

// ask sends a request to the API and returns status and body.
func (p *process) ask(method, path, body string) (code int, text string, err error) {
	return send(p.t.Context(), method, "http://"+p.addr("Eureka API")+"/eureka"+path, body)
}

// web bounds every request: a server that does not answer fails the test.
var web = &http.Client{Timeout: time.Minute}

func send(ctx context.Context, method, url, body string) (code int, text string, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := web.Do(req)
	if err != nil {
		return 0, "", err
	}
	content, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(content), errors.Join(err, resp.Body.Close())
}

// want asks and expects a code.
func (p *process) want(code int, method, path, body string) string {
	p.t.Helper()
	got, text, err := p.ask(method, path, body)
	if err != nil || got != code {
		p.t.Fatalf("%s %s: %d %v %.300s, want %d", method, path, got, err, text, code)
	}
	return text
}

// awaitSaved waits until a snapshot is on the disk that was begun after now.
func (p *process) awaitSaved() {
	p.t.Helper()
	now := time.Now()
	err := wait.PollUntilContextTimeout(p.t.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		_, text, err := send(ctx, http.MethodGet, "http://"+p.addr("metrics")+"/metrics", "")
		if err != nil {
			return false, err
		}
		var saved float64
		_, after, _ := strings.Cut(text, "\nkureka_snapshot_saved_timestamp_seconds ")
		if _, err := fmt.Sscan(after, &saved); err != nil {
			return false, err
		}
		return int64(saved*1000) > now.UnixMilli(), nil
	})
	if err != nil {
		p.t.Fatalf("never saved: %v", err)
	}
}
