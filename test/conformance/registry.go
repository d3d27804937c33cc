package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// registryClient is the runner's own plain view of the registry, and its hand.
type registryClient struct {
	base   string // without the slash at the end
	client *http.Client
}

func newRegistryClient(address string) *registryClient {
	return &registryClient{base: "http://" + address + "/eureka", client: &http.Client{Timeout: 10 * time.Second}}
}

// do sends a request and fails unless the answer has the wanted status.
func (r *registryClient) do(ctx context.Context, method, path string, body []byte, want int) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("building a request: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := r.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	content, err := io.ReadAll(io.LimitReader(res.Body, 16<<20))
	if err != nil {
		return nil, fmt.Errorf("reading the answer to %s %s: %w", method, path, err)
	}
	if res.StatusCode != want {
		return nil, fmt.Errorf("%s %s was answered %s, not %d", method, path, res.Status, want)
	}
	return content, nil
}

type wirePort struct {
	Number  int    `json:"$"`
	Enabled string `json:"@enabled"`
}

type wireInstance struct {
	InstanceID string            `json:"instanceId"`
	App        string            `json:"app"`
	HostName   string            `json:"hostName"`
	IPAddr     string            `json:"ipAddr"`
	Status     string            `json:"status"`
	Port       wirePort          `json:"port"`
	SecurePort wirePort          `json:"securePort"`
	VIP        string            `json:"vipAddress"`
	Metadata   map[string]string `json:"metadata"`
	DataCenter map[string]any    `json:"dataCenterInfo"`
	Lease      map[string]int64  `json:"leaseInfo"`
	HealthURL  string            `json:"healthCheckUrl,omitempty"`
}

type wireApplications struct {
	Applications struct {
		Hash        string `json:"apps__hashcode"`
		Application []struct {
			Name     string         `json:"name"`
			Instance []wireInstance `json:"instance"`
		} `json:"application"`
	} `json:"applications"`
}

// instances is the whole registry, sorted.
func (r *registryClient) instances(ctx context.Context) ([]Instance, error) {
	body, err := r.do(ctx, http.MethodGet, "/apps", nil, http.StatusOK)
	if err != nil {
		return nil, fmt.Errorf("reading the registry: %w", err)
	}
	var doc wireApplications
	if err := json.Unmarshal(body, &doc); err != nil {
		return nil, fmt.Errorf("decoding the registry: %w", err)
	}
	var all []Instance
	for _, app := range doc.Applications.Application {
		for _, in := range app.Instance {
			delete(in.Metadata, "@class") // stands for no metadata
			if len(in.Metadata) == 0 {
				in.Metadata = nil
			}
			all = append(all, Instance{
				App: app.Name, ID: in.InstanceID, Status: in.Status, IPAddr: in.IPAddr, HostName: in.HostName,
				Port: in.Port.Number, SecurePort: in.SecurePort.Number, VIP: in.VIP, Metadata: in.Metadata,
			})
		}
	}
	sortInstances(all)
	return all, nil
}

// register lists an instance under a lease so long that nobody needs to renew it.
func (r *registryClient) register(ctx context.Context, in Instance) error {
	return r.registerIn(ctx, in, map[string]any{"@class": "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo", "name": "MyOwn"})
}

// registerIn is register for an instance in a data center.
func (r *registryClient) registerIn(ctx context.Context, in Instance, dataCenter map[string]any) error {
	body, err := json.Marshal(map[string]wireInstance{"instance": {
		InstanceID: in.ID, App: in.App, HostName: in.HostName, IPAddr: in.IPAddr, Status: in.Status,
		Port: wirePort{in.Port, "true"}, SecurePort: wirePort{in.SecurePort, "false"}, VIP: in.VIP, Metadata: in.Metadata,
		HealthURL:  in.HealthCheckURL,
		DataCenter: dataCenter,
		Lease:      map[string]int64{"renewalIntervalInSecs": 1200, "durationInSecs": 3600},
	}})
	if err != nil {
		return fmt.Errorf("encoding an instance: %w", err)
	}
	_, err = r.do(ctx, http.MethodPost, "/apps/"+in.App, body, http.StatusNoContent)
	return err
}

func (r *registryClient) cancel(ctx context.Context, in Instance) error {
	_, err := r.do(ctx, http.MethodDelete, instancePath(in), nil, http.StatusOK)
	return err
}

// override sets an override from outside, as an operator does.
func (r *registryClient) override(ctx context.Context, in Instance, status string) error {
	_, err := r.do(ctx, http.MethodPut, instancePath(in)+"/status?value="+status, nil, http.StatusOK)
	return err
}

func (r *registryClient) clearOverride(ctx context.Context, in Instance) error {
	_, err := r.do(ctx, http.MethodDelete, instancePath(in)+"/status", nil, http.StatusOK)
	return err
}

func instancePath(in Instance) string {
	return "/apps/" + url.PathEscape(in.App) + "/" + url.PathEscape(in.ID)
}

// puppet is an instance that the runner registers itself.
func puppet(app string, number int, status string) Instance {
	const firstPort = 9000
	n := strconv.Itoa(number)
	return Instance{
		App: app, ID: "puppet-" + n + ":" + app, Status: status,
		HostName: "puppet-" + n + ".lanes.example", IPAddr: "198.51.100." + n,
		Port: firstPort + number, SecurePort: firstPort + 500 + number, VIP: "puppets",
		Metadata: map[string]string{"puppet": n, "zone": "zone-2"},
	}
}
