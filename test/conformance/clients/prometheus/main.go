// Command prometheus is one lane of test/conformance around a Prometheus server
// that discovers its targets in the registry; the package comment of
// test/conformance has the contract. Its argument is the program. It registers
// nothing, and the targets are never scraped.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/kureka/kureka/test/rig/instance/child"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("usage: prometheus PROGRAM")
	}
	version, err := programVersion(os.Args[1])
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "kureka-prometheus-")
	if err != nil {
		return fmt.Errorf("creating a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left is in the system's folder for it
	p, err := start(os.Args[1], dir)
	if err != nil {
		return err
	}
	defer p.process.Kill()
	stopped := make(chan struct{})
	server := &http.Server{Addr: os.Getenv("LANE_CONTROL"), Handler: p.control(version, func() { close(stopped) }), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-stopped
		_ = server.Shutdown(context.Background()) // ends after the answer
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	p.process.Signal(syscall.SIGTERM)
	<-p.process.Done()
	return nil
}

// programVersion is the third word the program says of itself.
func programVersion(program string) (string, error) {
	output, err := exec.Command(program, "--version").CombinedOutput() //nolint:noctx // it ends by itself
	words := strings.Fields(string(output))
	if err != nil || len(words) < 3 {
		return "", fmt.Errorf("asking for the version: %q: %w", output, cmp.Or(err, errors.ErrUnsupported))
	}
	return words[2], nil
}

const config = `
global:
  scrape_interval: 1h
scrape_configs:
  - job_name: eureka
    eureka_sd_configs:
      - server: %s
        refresh_interval: %ss
    relabel_configs:
      - source_labels: [__meta_eureka_app_name, __meta_eureka_app_instance_id]
        target_label: instance
      - target_label: __address__
        replacement: 127.0.0.1:9
`

type prometheus struct {
	address string
	process *child.Process
}

func start(program, dir string) (*prometheus, error) {
	path := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf(config, strings.TrimSuffix(os.Getenv("KUREKA_URL"), "/"), os.Getenv("LANE_FETCH_SECONDS"))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("writing the configuration: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it neither waits nor resolves
	if err != nil {
		return nil, fmt.Errorf("finding a port: %w", err)
	}
	address := listener.Addr().String()
	listener.Close()
	//nolint:noctx // it lives until it is stopped
	command := exec.Command(program, "--config.file", path, "--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", address)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	process, err := child.Start(command)
	return &prometheus{address: address, process: process}, err
}

func (p *prometheus) control(version string, stop func()) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, r *http.Request) {
		answer(w, nil, p.get(r.Context(), "/-/ready", nil))
	})
	mux.HandleFunc("GET /whoami", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]string{"client": "prometheus", "version": version}, nil)
	})
	mux.HandleFunc("GET /registry", func(w http.ResponseWriter, r *http.Request) {
		shown, err := p.registry(r.Context())
		answer(w, shown, err)
	})
	mux.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"full": nil, "delta": nil, "mismatches": nil}, nil)
	})
	mux.HandleFunc("POST /stop", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, nil, nil)
		stop()
	})
	mux.HandleFunc("POST /", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotImplemented) })
	return mux
}

func answer(w http.ResponseWriter, value any, err error) {
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case value != nil:
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(value); err != nil {
			log.Print("answering: ", err)
		}
	}
}

func (p *prometheus) get(ctx context.Context, path string, out any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address+path, nil) //nolint:gosec // the address is the child's
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req) //nolint:gosec // the address is the child's
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return fmt.Errorf("reading the answer to %s: %w", path, err)
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s was answered %s", path, res.Status)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(body, out)
}

type instance struct {
	Status     string            `json:"status"`
	IPAddr     string            `json:"ipAddr"`
	HostName   string            `json:"hostName"`
	Port       int               `json:"port"`
	SecurePort int               `json:"securePort"`
	VIP        string            `json:"vipAddress"`
	Metadata   map[string]string `json:"metadata"`
}

// registry is the targets, as their labels before relabelling describe them.
func (p *prometheus) registry(ctx context.Context) (map[string]map[string]instance, error) {
	var doc struct {
		Data struct {
			ActiveTargets []struct {
				DiscoveredLabels map[string]string `json:"discoveredLabels"`
			} `json:"activeTargets"`
		} `json:"data"`
	}
	if err := p.get(ctx, "/api/v1/targets?state=active", &doc); err != nil {
		return nil, err
	}
	shown := map[string]map[string]instance{}
	for _, target := range doc.Data.ActiveTargets {
		labels := target.DiscoveredLabels
		const prefix = "__meta_eureka_app_instance_"
		port, err := strconv.Atoi(labels[prefix+"port"])
		if err != nil {
			return nil, fmt.Errorf("reading a port: %w", err)
		}
		secure, err := strconv.Atoi(labels[prefix+"secure_port"])
		if err != nil {
			return nil, fmt.Errorf("reading a secure port: %w", err)
		}
		in := instance{
			Status: labels[prefix+"status"], IPAddr: labels[prefix+"ip_addr"], HostName: labels[prefix+"hostname"],
			Port: port, SecurePort: secure, VIP: labels[prefix+"vip_address"], Metadata: map[string]string{},
		}
		for name, value := range labels {
			if key, ok := strings.CutPrefix(name, prefix+"metadata_"); ok {
				in.Metadata[key] = value
			}
		}
		app := labels["__meta_eureka_app_name"]
		if shown[app] == nil {
			shown[app] = map[string]instance{}
		}
		shown[app][labels[prefix+"id"]] = in
	}
	return shown, nil
}
