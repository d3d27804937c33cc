package alerts

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kureka/kureka/internal/app"
	"github.com/kureka/kureka/test/rig/controlplane"
)

// scraped is a Prometheus that reads the metrics of a registry on a real API server,
// and evaluates the alerts.
type scraped struct {
	t       *testing.T
	address string
}

func scrape(t *testing.T, programs string) *scraped {
	t.Helper()
	dir := t.TempDir()
	metrics := startKureka(t, dir)
	alerts, err := filepath.Abs(rules)
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf(`{global: {scrape_interval: 1s, evaluation_interval: 1s}, rule_files: [%q],
scrape_configs: [{job_name: kureka, honor_labels: true, static_configs: [{targets: [%q]}]}]}`, alerts, metrics)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &scraped{t: t, address: freeAddress(t)}
	cmd := exec.CommandContext(t.Context(), filepath.Join(programs, "prometheus"),
		"--config.file", config, "--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", p.address)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // it was told to end
	return p
}

// startKureka runs a registry with one instance, and returns where its metrics are.
func startKureka(t *testing.T, dir string) (metrics string) {
	t.Helper()
	plane := controlplane.StartFor(t, controlplane.Options{NoControllerManager: true})
	o := app.DefaultOptions()
	o.Mode, o.StartGate, o.Namespace = app.Manager, app.GateOff, metav1.NamespaceDefault
	o.RegistryAddr, o.ProbeAddr, o.WebhookAddr, o.MetricsAddr = "127.0.0.1:0", "0", "127.0.0.1:0", freeAddress(t)
	o.Kubeconfig, o.SnapshotFile = filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "registry.snapshot")
	if err := plane.Kubeconfig(o.Kubeconfig); err != nil {
		t.Fatal(err)
	}
	a, err := app.New(t.Context(), o, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	const body = `{"instance":{"instanceId":"a","hostName":"a","app":"DEMO","ipAddr":"192.0.2.10","status":"UP","port":{"$":8080,"@enabled":"true"},
		"dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"}}}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+a.Addr().String()+"/eureka/apps/DEMO", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusNoContent {
		t.Fatalf("registering: %s, %v", resp.Status, err)
	}
	return o.MetricsAddr
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // it was never used
	return l.Addr().String()
}

// ask asks Prometheus' API and decodes its data.
func (p *scraped) ask(path string, query url.Values, into any) error {
	ctx, cancel := context.WithTimeout(p.t.Context(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address+path+"?"+query.Encode(), http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	var answer struct {
		Status, Error string
		Data          json.RawMessage
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return err
	}
	if answer.Status != "success" {
		return fmt.Errorf("%s: %s", answer.Status, answer.Error)
	}
	return json.Unmarshal(answer.Data, into)
}

// samples is how many samples a query has.
func (p *scraped) samples(expr string) (int, error) {
	var data struct{ Result []json.RawMessage }
	err := p.ask("/api/v1/query", url.Values{"query": {expr}}, &data)
	return len(data.Result), err
}

func (p *scraped) eventually(what string, condition func() bool) {
	p.t.Helper()
	err := wait.PollUntilContextTimeout(p.t.Context(), 200*time.Millisecond, 2*time.Minute, true,
		func(context.Context) (bool, error) { return condition(), nil })
	if err != nil {
		p.t.Fatalf("waited in vain until %s", what)
	}
}

// Of what somebody looks at on a quiet day everything has values.
func (p *scraped) answersEveryQuery() {
	p.t.Helper()
	for name, expr := range queries(p.t) {
		var n int
		p.eventually(name+" is answered", func() bool {
			var err error
			if n, err = p.samples(expr); err != nil {
				p.t.Fatalf("%s: %v", name, err)
			}
			return n > 0 || strings.Contains(expr, "> 0")
		})
	}
}

func (p *scraped) evaluatesEveryAlert() {
	p.t.Helper()
	var data struct {
		Groups []struct {
			Rules []struct{ Name, Health, LastError, State string }
		}
	}
	p.eventually("the alerts are evaluated", func() bool {
		if p.ask("/api/v1/rules", nil, &data) != nil {
			return false
		}
		for _, g := range data.Groups {
			for _, r := range g.Rules {
				if r.Health == "unknown" {
					return false
				}
			}
		}
		return len(data.Groups) > 0
	})
	for _, g := range data.Groups {
		for _, r := range g.Rules {
			if r.Health != "ok" || r.State == "firing" {
				p.t.Errorf("%s is %s and %s: %s", r.Name, r.Health, r.State, r.LastError)
			}
		}
	}
}
