package restart

import (
	"bufio"
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
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
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
	t     *testing.T
	cmd   *exec.Cmd
	ended chan struct{}
	err   error             // how it ended
	addrs map[string]string // by what they are for
	mu    sync.Mutex
	log   strings.Builder
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
	p := &process{t: t, cmd: cmd, ended: make(chan struct{}), addrs: map[string]string{}}
	out, in := io.Pipe()
	p.cmd.Stdout, p.cmd.Stderr = in, in
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		_ = in.Close() // closing a pipe in memory does not fail
		close(p.ended)
	}()
	open := make(chan struct{})
	go p.read(out, open)
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("its log:\n%s", p.text())
		}
	})
	select {
	case <-open:
	case <-time.After(time.Minute):
		t.Fatalf("it does not listen:\n%s", p.text())
	}
	return p
}

// read keeps the log and learns the addresses from it.
func (p *process) read(out io.Reader, open chan<- struct{}) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var l struct{ Msg, For, Address string }
		isJSON := json.Unmarshal(lines.Bytes(), &l) == nil
		p.mu.Lock()
		p.log.WriteString(lines.Text() + "\n")
		if isJSON && l.Msg == "Listening" {
			if p.addrs[l.For] = l.Address; len(p.addrs) == 3 {
				close(open)
			}
		}
		p.mu.Unlock()
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

// kill is kill -9.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// terminate asks it to end, as the kubelet does.
func (p *process) terminate() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
}

// wait returns how it ended.
func (p *process) wait() error {
	p.t.Helper()
	select {
	case <-p.ended:
		return p.err
	case <-time.After(2 * time.Minute):
		p.t.Fatal("it does not end")
		return nil
	}
}

// ask sends a request to the API and returns status and body.
func (p *process) ask(method, path, body string) (code int, text string, err error) {
	return send(p.t.Context(), method, "http://"+p.addr("Eureka API")+"/eureka"+path, body)
}

func send(ctx context.Context, method, url, body string) (code int, text string, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := http.DefaultClient.Do(req)
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
