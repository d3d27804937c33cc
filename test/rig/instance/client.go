package instance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// requestTimeout is the read timeout of the stock clients.
const requestTimeout = 8 * time.Second

// client is the Eureka client of one instance.
type client struct {
	config Config
	http   *http.Client
	report func(Event)
	dirty  int64 // lastDirtyTimestamp: when the record last changed, Unix milliseconds
}

func newClient(config Config, report func(Event)) *client {
	dialer := &net.Dialer{
		Timeout:   5 * time.Second,
		LocalAddr: &net.TCPAddr{IP: config.Address.Addr().AsSlice()},
	}
	return &client{
		config: config,
		http: &http.Client{
			Timeout:   requestTimeout,
			Transport: &http.Transport{DialContext: dialer.DialContext},
		},
		report: report,
	}
}

// run registers and then renews until ctx ends. As with the stock clients, a
// registration that got no answer is made up for by the next heartbeat, which
// will be answered 404.
func (c *client) run(ctx context.Context) {
	c.register(ctx)
	interval := c.config.RenewalInterval
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		again := c.config.RegisterEvery > 0 && n%c.config.RegisterEvery == 0
		code := c.renew(ctx)
		if code == http.StatusNotFound || again {
			c.register(ctx)
		}
		if next := c.pause(interval, code != 0); next != interval {
			interval = next
			ticker.Reset(interval)
		}
	}
}

// pause is the interval after a heartbeat.
func (c *client) pause(last time.Duration, answered bool) time.Duration {
	if answered || c.config.MaxBackoff == 0 {
		return c.config.RenewalInterval
	}
	return max(c.config.RenewalInterval, min(2*last, c.config.MaxBackoff))
}

func (c *client) register(ctx context.Context) {
	c.dirty = time.Now().UnixMilli()
	body, err := json.Marshal(c.record())
	if err != nil {
		c.report(Event{At: time.Now(), Op: Registered, Error: err.Error()})
		return
	}
	c.do(ctx, Registered, http.MethodPost, c.config.Registry+"/apps/"+c.app(), body)
}

func (c *client) renew(ctx context.Context) int {
	query := url.Values{"status": {"UP"}, "lastDirtyTimestamp": {strconv.FormatInt(c.dirty, 10)}}
	return c.do(ctx, Renewed, http.MethodPut, c.url()+"?"+query.Encode(), nil)
}

func (c *client) cancel(ctx context.Context) {
	c.do(ctx, Cancelled, http.MethodDelete, c.url(), nil)
}

func (c *client) app() string { return strings.ToUpper(c.config.App) }

func (c *client) url() string {
	return c.config.Registry + "/apps/" + c.app() + "/" + url.PathEscape(c.config.ID())
}

// do sends a request, reports the answer and returns its code, 0 if there is
// none.
func (c *client) do(ctx context.Context, op Op, method, target string, body []byte) int {
	code, err := c.send(ctx, method, target, body)
	e := Event{At: time.Now(), Op: op, Code: code}
	if err != nil {
		e.Error = err.Error()
	}
	c.report(e)
	return code
}

func (c *client) send(ctx context.Context, method, target string, body []byte) (int, error) {
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("building the request: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20)) // so that the connection is used again
	return res.StatusCode, nil
}

// record is the registration body of a Spring client.
func (c *client) record() map[string]any {
	port := c.config.Address.Port()
	base := "http://" + c.config.Address.String()
	name := strings.ToLower(c.config.App)
	return map[string]any{"instance": map[string]any{
		"instanceId":       c.config.ID(),
		"app":              c.app(),
		"hostName":         c.config.HostName,
		"ipAddr":           c.config.Address.Addr().String(),
		"vipAddress":       name,
		"secureVipAddress": name,
		"status":           "UP",
		"overriddenStatus": "UNKNOWN",
		"port":             map[string]any{"$": port, "@enabled": "true"},
		"securePort":       map[string]any{"$": 443, "@enabled": "false"},
		"countryId":        1,
		"dataCenterInfo": map[string]any{
			"@class": "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo",
			"name":   "MyOwn",
		},
		"leaseInfo": map[string]any{
			"renewalIntervalInSecs": int(c.config.RenewalInterval.Seconds()),
			"durationInSecs":        int(c.config.LeaseDuration.Seconds()),
		},
		"metadata":                      map[string]string{"management.port": strconv.Itoa(int(port))},
		"homePageUrl":                   base + "/",
		"statusPageUrl":                 base + "/actuator/info",
		"healthCheckUrl":                base + "/actuator/health",
		"isCoordinatingDiscoveryServer": "false",
		"lastUpdatedTimestamp":          strconv.FormatInt(c.dirty, 10),
		"lastDirtyTimestamp":            strconv.FormatInt(c.dirty, 10),
	}}
}
