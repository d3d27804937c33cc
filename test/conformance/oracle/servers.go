package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// startTimeout bounds how long a server may take to listen. The reference is a
// Java program on a machine that may be busy.
const startTimeout = 3 * time.Minute

// server is one of the two, running as a child process.
type server struct {
	base string // without a slash at its end
	http *http.Client
	stop func()
}

// answer is what a server said to a step.
type answer struct {
	code        int
	contentType string
	body        []byte
	doc         *document // of a 200 with a body
	err         error     // of reading it
}

// start runs a program until it writes a line that the pattern finds an address
// in. The program ends with the context.
func start(ctx context.Context, pattern *regexp.Regexp, base, name string, args ...string) (*server, error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGKILL) }
	out, err := cmd.StdoutPipe()
	if err == nil {
		cmd.Stderr = cmd.Stdout
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	address, ended := make(chan string, 1), make(chan struct{})
	var log strings.Builder
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if m := pattern.FindStringSubmatch(lines.Text()); m != nil {
				select {
				case address <- m[1]:
				default:
				}
			} else if log.Len() < 4096 {
				log.WriteString(lines.Text() + "\n")
			}
		}
		_ = cmd.Wait() // it was killed, or has said why it ended
	}()
	s := &server{http: &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableCompression: true}}, stop: func() {
		cancel()
		<-ended
	}}
	select {
	case a := <-address:
		s.base = base + a
		return s, nil
	case <-ended:
		cancel()
		return nil, fmt.Errorf("%s ended: %s", name, log.String())
	case <-time.After(startTimeout):
		s.stop()
		return nil, fmt.Errorf("%s did not listen within %s", name, startTimeout)
	}
}

// startReference starts the reference server from its jar.
func startReference(ctx context.Context, jar string) (*server, error) {
	return start(ctx, regexp.MustCompile(`Tomcat started on port (\d+)`), "http://127.0.0.1:", "java",
		"-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-jar", jar)
}

// startKureka starts an empty Kureka.
func startKureka(ctx context.Context, program string) (*server, error) {
	return start(ctx, regexp.MustCompile(`"for":"Eureka API","address":"([^"]+)"`), "http://", program, "standalone",
		"--registry-bind-address", "127.0.0.1:0", "--metrics-bind-address", "0", "--health-probe-bind-address", "0", "--start-gate", "Off", "--replication-peers", "127.0.0.1")
}

// ask plays a step. Since is the time from which a timestamp counts as made up.
func (s *server) ask(ctx context.Context, st *step, since int64) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, st.method, s.base+"/eureka"+st.target, strings.NewReader(st.body))
	if err != nil {
		return answer{}, fmt.Errorf("making a request: %w", err)
	}
	req.Header = st.header.Clone()
	if st.accept != "" {
		req.Header.Set("Accept", st.accept)
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return answer{}, fmt.Errorf("asking: %w", err)
	}
	body, err := read(resp)
	if err != nil {
		return answer{}, fmt.Errorf("reading an answer: %w", err)
	}
	a := answer{code: resp.StatusCode, contentType: resp.Header.Get("Content-Type"), body: body}
	if a.code == http.StatusOK && len(body) > 0 {
		a.doc, a.err = parse(a.contentType, body, since)
	}
	return a, nil
}

func read(resp *http.Response) ([]byte, error) {
	var from io.Reader = resp.Body
	if resp.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(resp.Body)
		if err != nil {
			return nil, errors.Join(err, resp.Body.Close())
		}
		from = unpacked
	}
	body, err := io.ReadAll(from)
	return body, errors.Join(err, resp.Body.Close())
}

// reset empties the reference.
func (s *server) reset(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+"/reset", http.NoBody)
	if err != nil {
		return fmt.Errorf("making a request: %w", err)
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return fmt.Errorf("emptying the reference: %w", err)
	}
	if resp.StatusCode != http.StatusNoContent {
		err = fmt.Errorf("emptying the reference: %s", resp.Status)
	}
	return errors.Join(err, resp.Body.Close())
}

// errorText returns what a refusal says to people, however it is wrapped.
func (a answer) errorText() string {
	var wrapped struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(a.body, &wrapped) == nil && wrapped.Error != "" {
		return wrapped.Error
	}
	return string(a.body)
}
