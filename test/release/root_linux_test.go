package release

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// rootfs unpacks the image for this machine.
func rootfs(t *testing.T) string {
	t.Helper()
	i, ok := images(t)["linux/"+runtime.GOARCH]
	if !ok {
		t.Fatalf("no image for %s", runtime.GOARCH)
	}
	root := t.TempDir()
	for name, f := range i.files {
		path := filepath.Join(root, name)
		if err := os.WriteFile(path, f.content, f.FileInfo().Mode()); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{root, filepath.Dir(root)} {
		if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the image's user has to come through
			t.Fatal(err)
		}
	}
	return root
}

func TestTheImage_tellsItsVersion(t *testing.T) {
	cmd, err := contained(rootfs(t), "version", "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var said struct{ Version, Commit, GoVersion, Platform string }
	decode(t, out, &said)
	if said.Version != version || said.Commit != commit || said.GoVersion != wantedGo(t, filepath.Join(release(t), top)) || said.Platform != "linux/"+runtime.GOARCH {
		t.Errorf("it says %s", out)
	}
}

func TestTheImage_servesWithItsOwnFilesAndNothingElse(t *testing.T) {
	registry := serve(t)
	registry.hasNoPower(t)
	base := "http://" + registry.addrs["Eureka API"] + "/eureka/apps"
	body := `{"instance": {"instanceId": "i-1", "app": "SHOP", "hostName": "shop", "ipAddr": "127.0.0.1", "status": "UP",
		"dataCenterInfo": {"@class": "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo", "name": "MyOwn"}}}`
	request(t, http.MethodPost, base+"/SHOP", body, http.StatusNoContent)
	if got := request(t, http.MethodGet, base, "", http.StatusOK); !strings.Contains(got, "i-1") {
		t.Errorf("the instance is not listed: %s", got)
	}
	request(t, http.MethodGet, "http://"+registry.addrs["probes"]+"/readyz", "", http.StatusOK)
	request(t, http.MethodGet, "http://"+registry.addrs["metrics"]+"/metrics", "", http.StatusOK)
	registry.end(t)
}

// server is the program of the image, serving.
type server struct {
	process *os.Process
	addrs   map[string]string // by what they are for
	ended   chan error
	log     *bytes.Buffer // complete when it has ended
}

// serve starts the registry and returns when it listens.
func serve(t *testing.T) *server {
	t.Helper()
	cmd, err := contained(rootfs(t), "standalone", "--start-gate", "Off", "--snapshot-file", "/data/registry",
		"--registry-bind-address", "127.0.0.1:0", "--metrics-bind-address", "127.0.0.1:0", "--health-probe-bind-address", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &server{process: cmd.Process, addrs: map[string]string{}, ended: make(chan error, 1), log: &bytes.Buffer{}}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // fails when it has ended
	lines := bufio.NewScanner(out)
	for len(s.addrs) < 3 && lines.Scan() {
		fmt.Fprintln(s.log, lines.Text())
		var l struct{ Msg, For, Address string }
		if json.Unmarshal(lines.Bytes(), &l) == nil && l.Msg == "Listening" {
			s.addrs[l.For] = l.Address
		}
	}
	if len(s.addrs) < 3 {
		t.Fatalf("it does not listen: %v\n%s", cmd.Wait(), s.log)
	}
	go func() {
		_, _ = io.Copy(s.log, out) // it ends with the process
		s.ended <- cmd.Wait()
	}()
	return s
}

// hasNoPower checks who the program is, seen from outside.
func (s *server) hasNoPower(t *testing.T) {
	t.Helper()
	status := string(read(t, fmt.Sprintf("/proc/%d/status", s.process.Pid)))
	want := []string{"CapPrm:\t0000000000000000", "CapEff:\t0000000000000000", "CapAmb:\t0000000000000000", "NoNewPrivs:\t1"}
	if os.Getuid() == 0 {
		want = append(want, "CapBnd:\t0000000000000000", "Uid:\t65532\t65532\t65532\t65532", "Gid:\t65532\t65532\t65532\t65532", "Groups:\t")
	}
	for _, line := range want {
		if !strings.Contains(status, "\n"+line) {
			t.Errorf("no %q in its status:\n%s", line, status)
		}
	}
	for line := range strings.Lines(string(read(t, fmt.Sprintf("/proc/%d/mountinfo", s.process.Pid)))) {
		fields := strings.Fields(line)
		if writable := strings.HasPrefix(fields[5], "rw"); writable != (fields[4] == "/data") {
			t.Errorf("%s is mounted %s", fields[4], fields[5])
		}
	}
}

// end ends it as a kubelet does.
func (s *server) end(t *testing.T) {
	t.Helper()
	if err := s.process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-s.ended:
		if err != nil {
			t.Errorf("it ended with %v:\n%s", err, s.log)
		}
		if strings.Contains(s.log.String(), `"level":"ERROR"`) {
			t.Errorf("it had errors:\n%s", s.log)
		}
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
}

// request sends a request and expects a code. It returns the body.
func request(t *testing.T, method, url, body string, code int) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Client{Timeout: time.Minute}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != code {
		t.Fatalf("%s %s: %d, want %d: %v %.300s", method, url, resp.StatusCode, code, err, text)
	}
	return string(text)
}
